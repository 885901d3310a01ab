/* Julia sets of z² + c: z₀ is the pixel's point, and c a parameter of the job. Nobody is known never to escape. */
#define FORMULA_PHASES 1
#define FORMULA_ANALYTIC 1
#define FORMULA_BEGINS_INSIDE 0
#define FORMULA_KNOWS_INSIDE 0
#define FORMULA_BOUNDS_SPREAD 0
#define FORMULA_KNOWS_COMPONENTS 0

static number_complex formula_start(number_complex point) {
  return point;
}

static number_complex formula_constant(number_complex point, global const uint *parameters) {
  const number_complex c = {number_load(parameters), number_load(parameters + NUMBER_WORDS)};
  return c;
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
  return move;
}

static number_far formula_tangent(number_far z, number_far change, number_far move) {
  const number_far next = {2 * (z.re * change.re - z.im * change.im), 2 * (z.re * change.im + z.im * change.re)};
  return next;
}

#ifdef HAS_DERIVATIVES
/* The derivative of z by the pixel's point, where that moves by `move`: at the start, and after the step from z. */
typedef derivative_complex formula_derivative;

static formula_derivative formula_derivative_start(formula_derivative move) {
  return move;
}

static formula_derivative formula_derivative_step(derivative_point z, formula_derivative derivative,
                                                  formula_derivative move, uint_lanes phase) {
  return derivative_twice(derivative_times(z, derivative));
}
#endif
