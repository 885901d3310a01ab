/* How far orbits in a return map are from exact ones, for turn_map.cl. Without CERTIFIED, map_errors_none.cl is here.
 *
 * The host bounds F term by term (map_growth.py): with a, s and S_B, the coefficient of t^j·c^k is at most that in
 * a·x/(1 − s·x), where x = t + S_B·c. So with q = s·x, where x is the largest |t| + S_B·|c| of a step, and with
 * g = s·S_B·|c|, what a step leaves out is a polynomial in q and g, times a·|d| or a·S_B·|c|. So is what coefficients
 * are off by, which is at most `off` of those bounds. With E the bound on the error of z, a step makes of it
 *     2|w|·E + E² and what is rounded, for d         |F_t|·(that) + 1.1·a·s·(that)² + what is left out, for z
 * where 2.2·a·s bounds F_tt. The exact orbit is to stay where the coefficients hold. */

#define MAP_WITHIN 0x1p-6f /* s times the error of t, so that F_tt is below 2.2·a·s where the exact orbit is */

typedef struct {
  number_real a, s, off, most, threshold;
  number_real reach, by_c; /* S_B·|c|; what the pixel's c itself is off by makes of a step */
  number_real b, e, q;     /* their sizes */
  number_real error;
} map_errors;

static number_real map_size(number_complex z) {
  return number_root_above(scaled_norm(z));
}

INLINED void map_errors_begin(map_errors *errors, const orbit_state *state, const orbit_constant *c,
                              const turn_map_constant *terms, global const uint *map) {
  const int w_bits = (int)map[MAP_W_BITS], c_bits = (int)map[MAP_C_BITS];
  const number_real by_reach = (number_real)(method_real(map + MAP_GROWTH + 2 * NUMBER_WORDS));
  errors->a = (number_real)(method_real(map + MAP_GROWTH));
  errors->s = (number_real)(method_real(map + MAP_GROWTH + NUMBER_WORDS));
  errors->off = (number_real)(method_real(map + MAP_GROWTH + 3 * NUMBER_WORDS));
  errors->threshold = (number_real)(method_real(map + MAP_THRESHOLD));
  const number_real power = scaled_power_within(c->c.e + c_bits);
  errors->reach = by_reach * c->size * power;
  errors->by_c = errors->a * by_reach * c->error * power * (number_real)(1.25f);
  errors->b = scaled_reach(terms->b);
  errors->e = scaled_reach(terms->e);
  errors->q = scaled_reach(terms->q);
  errors->error = state->error * scaled_power_within(state->z.e + w_bits);
}

/* The error of the lanes of a mask; infinite for good where hardly anything is known any more. */
INLINED void map_errors_keep(map_errors *errors, number_real next, int_lanes mask) {
  errors->error = scaled_choose(errors->error, next * (number_real)(NUMBER_MORE), mask);
}

/* How far a value of F may be off near cycles, with its slope, for w times |f1| (map_cycles.cl). */
static number_real map_errors_of_cycle(const map_errors *errors) {
  const number_real a = errors->a, reach = a * a * errors->reach, g = errors->s * errors->reach;
  const number_real q = fma(errors->s / (a * a), (number_real)(4.1f), g), off = errors->off;
  const number_real of_t = fma(off + g, q, (number_real)(2) * (q * q) * (q * q));
  const number_real known = off * fma(q, (number_real)(3), g);
  const number_real of_c = fma(q * q, (number_real)(4) * q, fma(g, (number_real)(2) * g, known));
  return fma((number_real)(16), fma(reach, of_c, of_t) + a * errors->by_c, (number_real)(MAP_CYCLE_UNIT));
}

/* A step of the lanes of the mask from z at a node, with w the sum of both, to `next`; d and the slope F_t are those of
 * turn_map.cl. */
INLINED void map_errors_step(map_errors *errors, number_complex at, number_complex z, number_complex w,
                             number_complex d, number_complex slope, number_complex next, int_lanes mask) {
  const number_real unit = (number_real)(NUMBER_UNIT), error = errors->error, a = errors->a, s = errors->s;
  const number_real node = scaled_reach(at), size = map_size(w), moved = scaled_reach(d);
  const number_real g = s * errors->reach, at_node = s * (node * node), q = fma(s, size * size, at_node + g);
  const number_real of_t = fma(error, fma(size, (number_real)(2), error),
                               unit * fma(scaled_reach(z) + error, fma(node, (number_real)(2), size),
                                          moved * (number_real)(6)));
  const number_real known = fma(errors->off, (number_real)(4) * q, (number_real)(20) * unit);
  const number_real cubic = (number_real)(4) * g * g, fifth = (number_real)(6) * (q * q) * (q * q);
  const number_real left = fma(g, fma(q, (number_real)(8), cubic), fifth);
  const number_real bent = fma(q * q, (number_real)(46) * q, g * fma(q, (number_real)(7), cubic));
  const number_real through = fma(a, known + bent, map_size(slope));
  const number_real beside_c = fma(at_node * at_node, (number_real)(4) * at_node,
                                   fma(g, (number_real)(2) * g, fifth)) +
                               errors->off * fma(at_node, (number_real)(3), g);
  const number_real rounded = fma(node * node, fma(node * node, errors->q, errors->e), errors->b);
  number_real sum = fma(through, of_t, (number_real)(1.1f) * (a * s) * (of_t * of_t));
  sum = fma(a * moved, known + left, sum);
  sum = fma(a * errors->reach, beside_c, sum) + errors->by_c;
  sum = fma(unit, fma(rounded, (number_real)(8), scaled_reach(next) * (number_real)(3)), sum);
  const int_lanes within = lanes_mask(s * of_t <= (number_real)(MAP_WITHIN)) &
                           lanes_mask(of_t + of_t <= errors->threshold);
  map_errors_keep(errors, scaled_choose((number_real)(INFINITY), sum, within), mask);
}

/* The lanes of the mask have taken w for z, which is at a node no longer. */
INLINED void map_errors_anew(map_errors *errors, number_complex at, number_complex w, int_lanes mask) {
  const number_real rounded = fma(scaled_reach(at), (number_real)(2), scaled_reach(w)) * (number_real)(NUMBER_UNIT);
  map_errors_keep(errors, errors->error + rounded, mask);
}

/* The lanes of the mask are at w, and stay inside on the way to where a step leads: F holds for twice the threshold. */
INLINED void map_errors_stay(map_errors *errors, number_complex w, int_lanes mask) {
  const number_real error = errors->error, of_t = error * fma(map_size(w), (number_real)(2), error);
  const int_lanes within = lanes_mask(of_t <= errors->threshold);
  map_errors_keep(errors, scaled_choose((number_real)(INFINITY), error, within), mask);
}

/* After the steps of the lanes of the mask, whose differences are z in units of 2^−w_bits now. */
INLINED void map_errors_end(const map_errors *errors, orbit_state *state, int w_bits, int_lanes mask) {
  const int_lanes none = lanes_mask(errors->error == (number_real)(0));
  const number_real error = errors->error * scaled_power_within(-state->z.e - w_bits);
  state->error = scaled_choose(state->error, error_kept(scaled_choose(error, (number_real)(0), none)), mask);
}
