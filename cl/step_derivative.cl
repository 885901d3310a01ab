/* The derivatives of orbits by turns, step by step. Without DISTANCE, step_derivative_none.cl stands here. */

typedef scaled step_derivative;

/* The derivative of t, from that of the orbit w = Z + z: 2w·w′, which is that of z² + c but for the constant's. */
static step_derivative step_derivative_of_t(const orbit_state *state, scaled twice_w) {
  const number_complex product = scaled_product(state->d.z, scaled_cut(twice_w.z));
  const scaled t = {scaled_cut(product), state->d.e + twice_w.e};
  return t;
}

/* That of t + c. */
static step_derivative step_derivative_single(step_derivative of_t, const orbit_constant *c) {
  const scaled move = {{(number_real)(0.5f), (number_real)(0)}, (int_lanes)(1 - c->scale)};
  const scaled sum = scaled_sum(of_t, move);
  return scaled_from(sum.z, sum.e);
}

/* That of a long step, A·t + B·c + (D·t + E·c)·t + F·c²: (A + 2D·t + E·c)·t′ + (B + E·t + 2F·c)·c′, of which only A and
 * B count in the lanes in which the step has no quadratic part. */
static step_derivative step_derivative_over(const turn_record *record, scaled t, const orbit_constant *c,
                                             int_lanes quadratic, step_derivative of_t) {
  scaled by_t = record->coefficient[0], by_c = record->coefficient[1];
  if (lanes_any(quadratic)) {
    scaled d = turn_product(record->coefficient[2], t), f = turn_product(record->coefficient[4], c->c);
    d.e += 1;
    f.e += 1;
    const scaled more_by_t = scaled_sum(by_t, scaled_sum(d, turn_product(record->coefficient[3], c->c)));
    const scaled more_by_c = scaled_sum(by_c, scaled_sum(turn_product(record->coefficient[3], t), f));
    by_t = scaled_keep(by_t, more_by_t, quadratic);
    by_c = scaled_keep(by_c, more_by_c, quadratic);
  }
  const scaled cut_t = {scaled_cut(by_t.z), by_t.e}, move = {by_c.z, by_c.e - c->scale};
  const scaled sum = scaled_sum(turn_product(cut_t, of_t), move);
  return scaled_from(sum.z, sum.e);
}

INLINED void step_derivative_keep(orbit_state *state, step_derivative next, int_lanes mask) {
  state->d = scaled_keep(state->d, next, mask);
}

/* Mask of the lanes in which no part is so large or, but for 0, so small that an exponent of its own would matter. */
static int_lanes plain_is(number_complex z) {
  const number_real re = fabs(z.re), im = fabs(z.im), zero = (number_real)(0);
  const number_real least = scaled_power((int_lanes)(NUMBER_PLAIN)), most = scaled_power((int_lanes)(-NUMBER_PLAIN));
  return lanes_mask(max(re, im) <= most) & (lanes_mask(re >= least) | lanes_mask(re == zero)) &
         (lanes_mask(im >= least) | lanes_mask(im == zero));
}

/* The derivative for iterations in plain numbers, at the exponent that it has, to begin anywhere; there the constant's
 * is a plain number. */
typedef struct {
  number_complex d;
  number_real move;
} plain_derivative;

/* Return whether it can begin. */
INLINED bool plain_derivative_begin(plain_derivative *derivative, const orbit_state *state, const orbit_constant *c,
                                    int_lanes there) {
  derivative->d = state->d.z;
  derivative->move = scaled_power_within(-state->d.e - c->scale);
  return !lanes_any(there & lanes_mask(state->d.e == (int_lanes)(SCALED_NOTHING)));
}

/* Make an iteration of w, where `both` is 2Z + z; return whether that can be, and leave all as it was where not. */
INLINED bool plain_derivative_on(plain_derivative *derivative, number_complex both, number_complex z,
                                 int_lanes there) {
  const number_complex twice_w = {both.re + z.re, both.im + z.im}, by_t = scaled_product(derivative->d, twice_w);
  const number_complex next = {by_t.re + derivative->move, by_t.im + (number_real)(0)};
  if (lanes_any(there & ~(plain_is(twice_w) & plain_is(by_t) & plain_is(next)))) return false;
  derivative->d = next;
  return true;
}

INLINED void plain_derivative_end(const plain_derivative *derivative, orbit_state *state, int_lanes there) {
  state->d = scaled_keep(state->d, scaled_from(derivative->d, state->d.e), there);
}

/* Carry lanes that have left the disc, at `far`, on to the smooth radius. */
INLINED void step_leave(advance_orbits *orbits, const orbit_state *state, number_complex far, int_lanes outside) {
  const advance_left left = {number_far_from(far), orbit_derivative(*state)};
  advance_smooth(orbits, 0, left, outside);
}
