/* Mask of lanes whose orbit never leaves a disc of radius 2 or more: c lies in the main cardioid or in the disc of
 * period 2, and so far within that the errors of all steps cannot carry the orbit out of what the cycle attracts.
 * docs/decisions/0010-shortcuts.md proves the two margins, from NUMBER_STEP_ERROR; 1/512 is for the errors made here.
 * λ, with c = λ/2 − λ²/4, is the multiplier of the fixed point: |λ|² = |1 − s|² with s² = 1 − 4c. */
static int_lanes formula_inside(number_complex c) {
  const float cardioid = 1.0f - (sqrt(sqrt(512.0f * NUMBER_STEP_ERROR)) + 1.0f / 512);
  const float disc = 1.0f - (sqrt(sqrt(16384.0f * NUMBER_STEP_ERROR)) + 1.0f / 512);
  const float_lanes re = number_to_float(c.re), im = number_to_float(c.im);
  const float_lanes from_centre = (re + 1.0f) * (re + 1.0f) + im * im;
  const int_lanes in_disc = lanes_mask(16.0f * from_centre <= disc * disc);
  /* The whole cardioid, without roots: where no lane lies in that, none is far within. */
  const float_lanes x = re - 0.25f, y = im * im, q = x * x + y;
  if (!lanes_any(lanes_mask(q * (q + x) <= 0.25f * y))) return in_disc;
  const float_lanes a = 1.0f - 4.0f * re, m = sqrt(a * a + 16.0f * y);
  const float_lanes multiplier_squared = 1.0f + m - sqrt(2.0f * (m + a));
  return in_disc | (lanes_mask(m >= 1.0f / 64) & lanes_mask(multiplier_squared <= cardioid * cardioid));
}
