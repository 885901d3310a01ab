/* The operation `negy`: the imaginary part changes its sign. */
static number_complex operation_negy(number_complex z) {
  const number_complex next = {z.re, number_negate(z.im)};
  return next;
}

static number_far operation_negy_far(number_far z) {
  const number_far next = {z.re, -z.im};
  return next;
}

#ifdef HAS_DERIVATIVES
static derivative_point operation_negy_point(derivative_point z) {
  return derivative_point_turn_im(z, (int_lanes)(-1));
}

static derivative_complex operation_negy_derivative(derivative_complex derivative) {
  return derivative_turn_im(derivative, (int_lanes)(-1));
}
#endif
