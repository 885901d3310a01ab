/* The operation `rot`: z times a number of modulus 1, the cosine and sine of an angle. With an `add` behind it, it is
 * one operation of the number. */
static number_complex operation_rot(number_complex z, number_complex turn) {
  return number_complex_multiply(z, turn);
}

static number_complex operation_rot_add(number_complex z, number_complex turn, number_complex c) {
  return number_complex_multiply_add(z, turn, c);
}

static number_far operation_rot_far(number_far z, number_far turn) {
  return number_far_multiply(z, turn);
}

static number_far operation_rot_add_far(number_far z, number_far turn, number_far c) {
  return number_far_multiply_add(z, turn, c);
}

#ifdef HAS_DERIVATIVES
static derivative_point operation_rot_point(derivative_point z, derivative_point turn) {
  return derivative_point_product(z, turn);
}

static derivative_complex operation_rot_derivative(derivative_complex derivative, derivative_point turn) {
  return derivative_times(turn, derivative);
}
#endif

#ifdef HAS_SCALED
/* What it makes of a value of the reference and of a difference from it. */
static scaled_beside operation_rot_delta(scaled_beside z, number_complex turn) {
  const scaled_beside next = {{scaled_cut(scaled_product(z.from.z, turn)), z.from.e},
                              {scaled_cut(scaled_product(z.by.z, turn)), z.by.e}};
  return next;
}
#endif
