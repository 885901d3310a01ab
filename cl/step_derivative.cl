/* The derivatives of orbits by turns, step by step. Without DISTANCE, step_derivative_none.cl stands here. */

#define STEP_LEAST (-(1 << 24)) /* an exponent of w that is as good as that of 0, and 16 of them are one */

typedef struct {
  scaled column[ORBIT_COLUMNS];
} step_derivative;

/* The derivative of t, from that of the orbit w = Z + z, by the line of a phase, with a phase for each lane. What a
 * line makes of a change is homogeneous in w, to one degree less than the line's, and linear in the change. So
 * mantissas are followed in plain numbers. That of z² + c is 2w·w′. */
static step_derivative step_derivative_of_t(const orbit_state *state, scaled twice_w, uint_lanes phase) {
  step_derivative t;
#if FORMULA_KNOWS_INSIDE
  const number_complex product = scaled_product(state->d[0].z, scaled_cut(twice_w.z));
  t.column[0].z = scaled_cut(product);
  t.column[0].e = state->d[0].e + twice_w.e;
#else
  const scaled w = scaled_from(twice_w.z, twice_w.e - 1);
  const int_lanes e = (formula_lanes_degree(phase) - 1) * max(w.e, (int_lanes)(STEP_LEAST));
#if FORMULA_ANALYTIC
  t.column[0].z = formula_derivative_step(w.z, number_zero(), state->d[0].z, derivative_zero(), phase);
#else
  const formula_derivative d = {state->d[0].z, state->d[1].z}, still = {derivative_zero(), derivative_zero()};
  const formula_derivative next = formula_derivative_step(w.z, number_zero(), d, still, phase);
  t.column[0].z = next.by_re;
  t.column[1].z = next.by_im;
#endif
  for (uint k = 0; k < ORBIT_COLUMNS; k++) {
    t.column[k].z = scaled_cut(t.column[k].z);
    t.column[k].e = max(state->d[k].e + e, (int_lanes)(SCALED_NOTHING));
  }
#endif
  return t;
}

/* That of t + c. In a Julia set the constant does not move. */
static step_derivative step_derivative_single(step_derivative of_t, const orbit_constant *c) {
  step_derivative next;
  for (uint k = 0; k < ORBIT_COLUMNS; k++) {
#if FORMULA_BEGINS_INSIDE
    const scaled sum = scaled_sum(of_t.column[k], orbit_column(c, k));
#else
    const scaled sum = of_t.column[k];
#endif
    next.column[k] = scaled_from(sum.z, sum.e);
  }
  return next;
}

#if !FORMULA_ANALYTIC
/* A coefficient of c̄, which has the exponent of one of c. */
static scaled step_derivative_mirrored(const turn_record *record, uint mirrored, uint direct) {
  const scaled value = {record->mirrored[mirrored], record->coefficient[direct].e};
  return value;
}

static scaled step_derivative_conjugate(scaled value) {
  const scaled conjugate = {{value.z.re, -value.z.im}, value.e};
  return conjugate;
}
#endif

/* That of a long step, A·û + B·c + (D·û + E·c)·û + F·c², where û is t or its conjugate, and the terms of c̄ as well:
 * (A + 2D·û + E·c + Ẽ·c̄)·û′ + (B + E·û + 2F·c + G·c̄)·c′ + (B̃ + Ẽ·û + G·c + 2H·c̄)·c̄′, of which only A, B and B̃
 * count in the lanes in which the step has no quadratic part. */
static step_derivative step_derivative_over(const turn_record *record, scaled t, const orbit_constant *c,
                                             int_lanes quadratic, step_derivative of_t) {
  scaled by_t = record->coefficient[0], by_c = record->coefficient[1];
  const scaled u = turn_of_t(record, t);
#if !FORMULA_ANALYTIC
  scaled by_mirror = step_derivative_mirrored(record, 0, 1);
#endif
  if (lanes_any(quadratic)) {
    scaled d = turn_product(record->coefficient[2], u), f = turn_product(record->coefficient[4], c->c);
    d.e += 1;
    f.e += 1;
    const scaled more_by_t = scaled_sum(by_t, scaled_sum(d, turn_of_c(record, 3, c->c)));
#if FORMULA_ANALYTIC
    const scaled of_c = f;
#else
    const scaled mirror = step_derivative_conjugate(c->c), g = step_derivative_mirrored(record, 2, 4);
    scaled h = turn_product(step_derivative_mirrored(record, 3, 4), mirror);
    h.e += 1;
    const scaled of_c = scaled_sum(f, turn_product(g, mirror));
    const scaled of_mirror = scaled_sum(turn_product(step_derivative_mirrored(record, 1, 3), u),
                                        scaled_sum(turn_product(g, c->c), h));
    by_mirror = scaled_keep(by_mirror, scaled_sum(by_mirror, of_mirror), quadratic);
#endif
    const scaled more_by_c = scaled_sum(by_c, scaled_sum(turn_product(record->coefficient[3], u), of_c));
    by_t = scaled_keep(by_t, more_by_t, quadratic);
    by_c = scaled_keep(by_c, more_by_c, quadratic);
  }
  const scaled cut_t = {scaled_cut(by_t.z), by_t.e};
  step_derivative next;
#if !FORMULA_BEGINS_INSIDE
  for (uint k = 0; k < ORBIT_COLUMNS; k++) {
    const scaled moved = turn_product(cut_t, turn_of_t(record, of_t.column[k]));
    next.column[k] = scaled_from(moved.z, moved.e);
  }
#elif FORMULA_ANALYTIC
  const scaled move = {by_c.z, by_c.e - c->scale};
  const scaled sum = scaled_sum(turn_product(cut_t, of_t.column[0]), move);
  next.column[0] = scaled_from(sum.z, sum.e);
#else
  /* (p + q)·2^−scale where the constant moves along re, and i·(p − q)·2^−scale along im. */
  const scaled less = {{-by_mirror.z.re, -by_mirror.z.im}, by_mirror.e};
  const scaled along = scaled_sum(by_c, by_mirror), across = scaled_sum(by_c, less);
  const scaled moves[2] = {{along.z, along.e - c->scale}, {{-across.z.im, across.z.re}, across.e - c->scale}};
  for (uint k = 0; k < ORBIT_COLUMNS; k++) {
    const scaled sum = scaled_sum(turn_product(cut_t, turn_of_t(record, of_t.column[k])), moves[k]);
    next.column[k] = scaled_from(sum.z, sum.e);
  }
#endif
  return next;
}

INLINED void step_derivative_keep(orbit_state *state, step_derivative next, int_lanes mask) {
  for (uint k = 0; k < ORBIT_COLUMNS; k++) state->d[k] = scaled_keep(state->d[k], next.column[k], mask);
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
  derivative->d = state->d[0].z;
  derivative->move = scaled_power_within(-state->d[0].e - c->scale);
  return !lanes_any(there & lanes_mask(state->d[0].e == (int_lanes)(SCALED_NOTHING)));
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
  state->d[0] = scaled_keep(state->d[0], scaled_from(derivative->d, state->d[0].e), there);
}

/* Carry lanes that have left the disc, at `far`, on to the smooth radius. */
INLINED void step_leave(advance_orbits *orbits, const orbit_state *state, number_complex far, int_lanes outside) {
  const advance_left left = {number_far_from(far), orbit_derivative(*state)};
  advance_smooth(orbits, 0, left, outside);
}
