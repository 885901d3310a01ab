/* The burning ship: z₀ = 0, z ← (|re z| + i·|im z|)² + c, and c is the pixel's point. Nobody is known never to escape.
 * */
#define FORMULA_PHASES 1
#define FORMULA_ANALYTIC 0
#define FORMULA_BEGINS_INSIDE 1
#define FORMULA_KNOWS_INSIDE 0
#define FORMULA_BOUNDS_SPREAD 0
#define FORMULA_KNOWS_COMPONENTS 0

static number_complex formula_start(number_complex point) {
  return number_zero();
}

static number_complex formula_constant(number_complex point, global const uint *parameters) {
  return point;
}

static number_complex formula_step(number_complex z, number_complex c) {
  const number_complex folded = {number_absolute(z.re), number_absolute(z.im)};
  return number_square_add(folded, c);
}

static number_far formula_far_step(number_far z, number_far c) {
  const number_far folded = {fabs(z.re), fabs(z.im)};
  return number_far_square_add(folded, c);
}

/* By how much z changes to first order, where the point changes by `move`: at the start, and after a step from a z that
 * changes by `change`. The fold turns a change with the part that it turns; on an axis it has no derivative, and 0
 * counts as positive. */
static number_far formula_tangent_start(number_far move) {
  const number_far zero = {(number_far_real)(0), (number_far_real)(0)};
  return zero;
}

static number_far formula_tangent(number_far z, number_far change, number_far move) {
  const number_far_real re = fabs(z.re), im = fabs(z.im);
  const number_far_real by_re = z.re < 0 ? -change.re : change.re, by_im = z.im < 0 ? -change.im : change.im;
  const number_far next = {2 * (re * by_re - im * by_im) + move.re, 2 * (re * by_im + im * by_re) + move.im};
  return next;
}

#ifdef HAS_DERIVATIVES
/* How z changes as the pixel's point moves along re and along im, by what `move` says: at the start, and after the step
 * from z. */
typedef struct { derivative_complex by_re, by_im; } formula_derivative;

static formula_derivative formula_derivative_start(formula_derivative move) {
  const formula_derivative none = {derivative_zero(), derivative_zero()};
  return none;
}

static derivative_complex formula_column_step(derivative_point z, derivative_complex column, derivative_complex move) {
  const derivative_point folded = {fabs(z.re), fabs(z.im)};
  const derivative_complex by_re = derivative_turn_re(column, lanes_mask(z.re < 0));
  const derivative_complex turned = derivative_turn_im(by_re, lanes_mask(z.im < 0));
  return derivative_add(derivative_twice(derivative_times(folded, turned)), move);
}

static formula_derivative formula_derivative_step(derivative_point z, formula_derivative derivative,
                                                  formula_derivative move, uint_lanes phase) {
  const formula_derivative next = {formula_column_step(z, derivative.by_re, move.by_re),
                                   formula_column_step(z, derivative.by_im, move.by_im)};
  return next;
}
#endif
