/* The Mandelbrot set: z₀ = 0, z ← z² + c, and c is the pixel's point. */
#define FORMULA_PHASES 1
#define FORMULA_ANALYTIC 1
#define FORMULA_BEGINS_INSIDE 1
#define FORMULA_KNOWS_INSIDE 1
#define FORMULA_BOUNDS_SPREAD 1
#define FORMULA_KNOWS_COMPONENTS 1

static number_complex formula_start(number_complex point) {
  return number_zero();
}

static number_complex formula_constant(number_complex point, global const uint *parameters) {
  return point;
}

static number_complex formula_step(number_complex z, number_complex c) {
  return number_square_add(z, c);
}

static number_far formula_far_step(number_far z, number_far c) {
  return number_far_square_add(z, c);
}

/* By how much z changes to first order, where the point changes by `move`: at the start, and after a step from a z that
 * changes by `change`. */
static number_far formula_tangent_start(number_far move) {
  const number_far zero = {(number_far_real)(0), (number_far_real)(0)};
  return zero;
}

static number_far formula_tangent(number_far z, number_far change, number_far move) {
  const number_far next = {2 * (z.re * change.re - z.im * change.im) + move.re,
                           2 * (z.re * change.im + z.im * change.re) + move.im};
  return next;
}

#ifdef HAS_DERIVATIVES
/* The derivative of z by the pixel's point, where that moves by `move`: at the start, and after the step from z. */
typedef derivative_complex formula_derivative;

static formula_derivative formula_derivative_start(formula_derivative move) {
  return derivative_zero();
}

static formula_derivative formula_derivative_step(derivative_point z, formula_derivative derivative,
                                                  formula_derivative move, uint_lanes phase) {
  return derivative_add(derivative_twice(derivative_times(z, derivative)), move);
}
#endif

/* How orbits near one another spread in a step, from z of at most `size`: bounds of the derivative, of what a change of
 * at most `reach` makes beyond that, and of |z²|. */
static number_far_real formula_slope(number_far_real size) {
  return 2 * size;
}

static number_far_real formula_remainder(number_far_real size, number_far_real reach) {
  return reach * reach;
}

static number_far_real formula_power(number_far_real size) {
  return size * size;
}

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
