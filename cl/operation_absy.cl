/* The operation `absy`: the imaginary part becomes its absolute value. What a change of z makes turns with the part
 * that is turned; on an axis it has no derivative, and 0 counts as positive. */
static number_complex operation_absy(number_complex z) {
  const number_complex next = {z.re, number_absolute(z.im)};
  return next;
}

static number_far operation_absy_far(number_far z) {
  const number_far next = {z.re, fabs(z.im)};
  return next;
}

#ifdef HAS_DERIVATIVES
/* Mask of the lanes in which the sign of the part is turned. */
static int_lanes operation_absy_turned(derivative_point z) {
  return lanes_mask(z.im < 0);
}

static derivative_point operation_absy_point(derivative_point z) {
  return derivative_point_turn_im(z, operation_absy_turned(z));
}

static derivative_complex operation_absy_derivative(derivative_point z, derivative_complex derivative) {
  return derivative_turn_im(derivative, operation_absy_turned(z));
}
#endif

#ifdef HAS_SCALED
/* What it makes of a value of the reference, of which the part that is turned is given, and of a difference from it. */
static scaled_beside operation_absy_delta(scaled_beside z, scaled_part part) {
  scaled_beside next = z;
  next.by.z.im = scaled_fold_delta(part, z.by.z.im, z.by.e);
  next.by.z = scaled_cut(next.by.z);
  next.from.z.im = scaled_fold(part, z.from.e);
  next.from.z = scaled_cut(next.from.z);
  return next;
}
#endif
