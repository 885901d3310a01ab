/* The operation `absx`: the real part becomes its absolute value. What a change of z makes turns with the part that
 * is turned; on an axis it has no derivative, and 0 counts as positive. */
static number_complex operation_absx(number_complex z) {
  const number_complex next = {number_absolute(z.re), z.im};
  return next;
}

static number_far operation_absx_far(number_far z) {
  const number_far next = {fabs(z.re), z.im};
  return next;
}

#ifdef HAS_DERIVATIVES
/* Mask of the lanes in which the sign of the part is turned. */
static int_lanes operation_absx_turned(derivative_point z) {
  return lanes_mask(z.re < 0);
}

static derivative_point operation_absx_point(derivative_point z) {
  return derivative_point_turn_re(z, operation_absx_turned(z));
}

static derivative_complex operation_absx_derivative(derivative_point z, derivative_complex derivative) {
  return derivative_turn_re(derivative, operation_absx_turned(z));
}
#endif

#ifdef HAS_SCALED
/* What it makes of a value of the reference, of which the part that is turned is given, and of a difference from it. */
static scaled_beside operation_absx_delta(scaled_beside z, scaled_part part) {
  scaled_beside next = z;
  next.by.z.re = scaled_fold_delta(part, z.by.z.re, z.by.e);
  next.by.z = scaled_cut(next.by.z);
  next.from.z.re = scaled_fold(part, z.from.e);
  next.from.z = scaled_cut(next.from.z);
  return next;
}
#endif
