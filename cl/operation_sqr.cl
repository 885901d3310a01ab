/* The operation `sqr`: z². With an `add` behind it, it is one operation of the number. */
static number_complex operation_sqr(number_complex z) {
  return number_complex_square(z);
}

static number_complex operation_sqr_add(number_complex z, number_complex c) {
  return number_square_add(z, c);
}

static number_far operation_sqr_far(number_far z) {
  return number_far_square(z);
}

static number_far operation_sqr_add_far(number_far z, number_far c) {
  return number_far_square_add(z, c);
}

/* What a change of z makes to first order: 2z times it. */
static number_far operation_sqr_tangent(number_far z, number_far change) {
  const number_far next = {2 * (z.re * change.re - z.im * change.im), 2 * (z.re * change.im + z.im * change.re)};
  return next;
}

static operation_bound operation_sqr_bound(operation_bound z) {
  const number_far_real whole = z.change + z.beyond;
  const operation_bound next = {z.size * z.size, 2 * z.size * z.change, 2 * z.size * z.beyond + whole * whole};
  return next;
}

#ifdef HAS_DERIVATIVES
static derivative_point operation_sqr_point(derivative_point z) {
  return derivative_point_square(z);
}
#endif

#ifdef HAS_SCALED
/* What it makes of a value of the reference and of a difference from it: (Z + z)² − Z² is z·(2Z + z). */
static scaled_beside operation_sqr_delta(scaled_beside z) {
  const scaled twice = {z.from.z, z.from.e + 1}, both = scaled_sum(twice, z.by);
  const scaled_beside next = {
      scaled_from(scaled_product(z.from.z, z.from.z), scaled_exponent(z.from.e + z.from.e)),
      {scaled_cut(scaled_product(z.by.z, scaled_cut(both.z))), scaled_exponent(z.by.e + both.e)}};
  return next;
}
#endif
