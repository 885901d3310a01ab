/* The operation `add`: z + c. */
static number_complex operation_add(number_complex z, number_complex c) {
  return number_complex_add(z, c);
}

static number_far operation_add_far(number_far z, number_far c) {
  return number_far_add(z, c);
}

#ifdef HAS_DERIVATIVES
static derivative_point operation_add_point(derivative_point z, derivative_point c) {
  return derivative_point_sum(z, c);
}

static derivative_complex operation_add_derivative(derivative_complex derivative, derivative_complex move) {
  return derivative_add(derivative, move);
}
#endif
