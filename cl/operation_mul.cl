/* The operation `mul`: z times the stored z. With an `add` behind it, it is one operation of the number. */
static number_complex operation_mul(number_complex z, number_complex stored) {
  return number_complex_multiply(z, stored);
}

static number_complex operation_mul_add(number_complex z, number_complex stored, number_complex c) {
  return number_complex_multiply_add(z, stored, c);
}

static number_far operation_mul_far(number_far z, number_far stored) {
  return number_far_multiply(z, stored);
}

static number_far operation_mul_add_far(number_far z, number_far stored, number_far c) {
  return number_far_multiply_add(z, stored, c);
}

/* What changes of both make to first order. */
static number_far operation_mul_tangent(number_far z, number_far change, number_far stored, number_far with_it) {
  const number_far by_z = {stored.re * change.re - stored.im * change.im,
                           stored.re * change.im + stored.im * change.re};
  const number_far by_stored = {z.re * with_it.re - z.im * with_it.im, z.re * with_it.im + z.im * with_it.re};
  const number_far next = {by_z.re + by_stored.re, by_z.im + by_stored.im};
  return next;
}

static operation_bound operation_mul_bound(operation_bound z, operation_bound stored) {
  const number_far_real whole = (z.change + z.beyond) * (stored.change + stored.beyond);
  const operation_bound next = {z.size * stored.size, z.size * stored.change + stored.size * z.change,
                                z.size * stored.beyond + stored.size * z.beyond + whole};
  return next;
}

#ifdef HAS_DERIVATIVES
static derivative_point operation_mul_point(derivative_point z, derivative_point stored) {
  return derivative_point_product(z, stored);
}

static derivative_complex operation_mul_derivative(derivative_point z, derivative_complex derivative,
                                                   derivative_point stored, derivative_complex with_it) {
  return derivative_add(derivative_times(stored, derivative), derivative_times(z, with_it));
}
#endif

#ifdef HAS_SCALED
/* What it makes of values of the reference and of differences from them. */
static scaled_beside operation_mul_delta(scaled_beside z, scaled_beside stored) {
  const scaled_beside next = {
      scaled_from(scaled_product(z.from.z, stored.from.z), scaled_exponent(z.from.e + stored.from.e)),
      scaled_product_delta(z, stored)};
  return next;
}
#endif
