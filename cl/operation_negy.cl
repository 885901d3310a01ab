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
/* Mask of the lanes in which the sign of the part is turned: all. */
static int_lanes operation_negy_turned(derivative_point z) {
  return (int_lanes)(-1);
}

static derivative_point operation_negy_point(derivative_point z) {
  return derivative_point_turn_im(z, (int_lanes)(-1));
}

static derivative_complex operation_negy_derivative(derivative_complex derivative) {
  return derivative_turn_im(derivative, (int_lanes)(-1));
}
#endif

#ifdef HAS_SCALED
/* What it makes of a value of the reference and of a difference from it. */
static scaled_beside operation_negy_delta(scaled_beside z) {
  scaled_beside next = z;
  next.by.z.im = -z.by.z.im;
  next.from.z.im = -z.from.z.im;
  return next;
}
#endif
