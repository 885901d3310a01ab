/* Behind whole.cl: steps of z² + c with a bound on how far z is off, as `BoundedOrbit` of
 * mandelcl/perturbation/bounded.py has them. */

/* The words of `reals`: units of z and of the error, what a step rounds, the slack of the bound, between which |z|² and
 * the error stay, and the error. */
enum {
  BOUNDED_UNIT,
  BOUNDED_ERROR_UNIT,
  BOUNDED_ROUNDED,
  BOUNDED_SLACK,
  BOUNDED_THRESHOLD,
  BOUNDED_NEAR,
  BOUNDED_LEAST,
  BOUNDED_MOST,
  BOUNDED_ERROR
};

/* From z, the first of `numbers`, with c behind it, in units of 2^−bits: up to so many steps, or to where z or the
 * error is out of bounds. z and the error are written there again; `done` says how many steps there were. */
kernel void whole_bounded(global ulong *numbers, uint bits, uint steps, global double *reals, global uint *done) {
  const double unit = reals[BOUNDED_UNIT], error_unit = reals[BOUNDED_ERROR_UNIT], rounded = reals[BOUNDED_ROUNDED];
  const double slack = reals[BOUNDED_SLACK], threshold = reals[BOUNDED_THRESHOLD], near = reals[BOUNDED_NEAR];
  const double least = reals[BOUNDED_LEAST], most = reals[BOUNDED_MOST];
  double error = reals[BOUNDED_ERROR];
  ulong x[LIMBS], y[LIMBS], re[LIMBS], im[LIMBS];
  whole_load(numbers, x);
  whole_load(numbers + LIMBS, y);
  whole_load(numbers + 2 * LIMBS, re);
  whole_load(numbers + 3 * LIMBS, im);
  uint step = 0;
  for (; step < steps; step++) {
    const double p = whole_double(x, unit), q = whole_double(y, unit), norm = p * p + q * q;
    const double after = (sqrt(norm) * 2.0 + error * error_unit) * error * slack + rounded;
    if (!(threshold <= norm && norm <= near && least < after && after < most)) break;
    error = after;
    whole_square(x, y, bits, x, y);
    whole_add(x, re, LIMBS, x);
    whole_add(y, im, LIMBS, y);
  }
  whole_store(x, numbers);
  whole_store(y, numbers + LIMBS);
  reals[BOUNDED_ERROR] = error;
  done[0] = step;
}
