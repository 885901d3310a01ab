/* The operation `negx`: the real part changes its sign. */
static number_complex operation_negx(number_complex z) {
  const number_complex next = {number_negate(z.re), z.im};
  return next;
}

static number_far operation_negx_far(number_far z) {
  const number_far next = {-z.re, z.im};
  return next;
}

#ifdef HAS_DERIVATIVES
/* Mask of the lanes in which the sign of the part is turned: all. */
static int_lanes operation_negx_turned(derivative_point z) {
  return (int_lanes)(-1);
}

static derivative_point operation_negx_point(derivative_point z) {
  return derivative_point_turn_re(z, (int_lanes)(-1));
}

static derivative_complex operation_negx_derivative(derivative_complex derivative) {
  return derivative_turn_re(derivative, (int_lanes)(-1));
}
#endif

#ifdef HAS_SCALED
/* What it makes of a value of the reference and of a difference from it. */
static scaled_beside operation_negx_delta(scaled_beside z) {
  scaled_beside next = z;
  next.by.z.re = -z.by.z.re;
  next.from.z.re = -z.from.z.re;
  return next;
}
#endif
