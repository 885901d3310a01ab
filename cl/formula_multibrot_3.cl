/* The multibrot set of degree 3: z₀ = 0, z ← z³ + c, and c is the pixel's point. Nobody is known never to escape. */
#define FORMULA_PHASES 1
#define FORMULA_ANALYTIC 1
#define FORMULA_BEGINS_INSIDE 1
#define FORMULA_KNOWS_INSIDE 0
#define FORMULA_BOUNDS_SPREAD 1
#define FORMULA_KNOWS_COMPONENTS 0

static number_complex formula_start(number_complex point) {
  return number_zero();
}

static number_complex formula_constant(number_complex point, global const uint *parameters) {
  return point;
}

static number_complex formula_step(number_complex z, number_complex c) {
  return number_cube_add(z, c);
}

static number_far formula_far_step(number_far z, number_far c) {
  return number_far_cube_add(z, c);
}

/* By how much z changes to first order, where the point changes by `move`: at the start, and after a step from a z that
 * changes by `change`. */
static number_far formula_tangent_start(number_far move) {
  const number_far zero = {(number_far_real)(0), (number_far_real)(0)};
  return zero;
}

static number_far formula_tangent(number_far z, number_far change, number_far move) {
  const number_far square = {z.re * z.re - z.im * z.im, 2 * z.re * z.im};
  const number_far next = {3 * (square.re * change.re - square.im * change.im) + move.re,
                           3 * (square.re * change.im + square.im * change.re) + move.im};
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
  const derivative_point square = {z.re * z.re - z.im * z.im, (z.re + z.re) * z.im};
  const derivative_complex by_square = derivative_times(z, derivative_twice(derivative_times(z, derivative)));
  return derivative_add(derivative_add(by_square, derivative_times(square, derivative)), move);
}
#endif

/* How orbits near one another spread in a step, from z of at most `size`: bounds of the derivative, of what a change of
 * at most `reach` makes beyond that, and of |z³|. */
static number_far_real formula_slope(number_far_real size) {
  return 3 * size * size;
}

static number_far_real formula_remainder(number_far_real size, number_far_real reach) {
  return (3 * size + reach) * reach * reach;
}

static number_far_real formula_power(number_far_real size) {
  return size * size * size;
}
