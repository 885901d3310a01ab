/* Steps of differences beside the reference, for advance_turns.cl, and what every turn ends with: orbits rebase, and
 * are decided where they have left the disc, reached the cap, or come back to where they were. */

/* How many single iterations are made in plain numbers at a time, where that gives the same bits: none with bounds on
 * errors. */
#define TURN_PLAIN (NUMBER_PLAIN && !CERTIFIED ? 16 : 0)

/* The orbits of a vector on their way, with the reference where they are. */
typedef struct {
  orbit_state state;
  scaled reference;
  int_lanes alive;
#if CERTIFIED
  number_real size; /* times 2^size_e: |w| where they are */
  int_lanes size_e, certified;
#endif
} turning;

/* The lanes of the mask begin anew beside Z₀, from z. */
INLINED void turn_rebase(turning *orbits, scaled z, int_lanes mask) {
  const scaled zero = {number_zero(), (int_lanes)(SCALED_NOTHING)};
  orbits->state.z = scaled_keep(orbits->state.z, z, mask);
  orbits->reference = scaled_keep(orbits->reference, zero, mask);
  orbits->state.place = select(orbits->state.place, (uint_lanes)(0), mask);
}

#if CERTIFIED
/* How far the orbits are from 0, which a later launch finds again in what is saved. */
INLINED void turn_measure(turning *orbits, int_lanes mask) {
  const scaled w = scaled_sum(orbits->reference, orbits->state.z);
  orbits->size = scaled_choose(orbits->size, number_root_above(scaled_norm(w.z)), mask);
  orbits->size_e = select(orbits->size_e, w.e, mask);
}
#endif

/* Mask of the lanes of a mask that have come back to the state that was seen before; in those whose turn it is, the
 * state as it is takes the place of that one. */
INLINED int_lanes turn_cycling(orbit_state *state, int_lanes visiting) {
  orbit_seen *seen = &state->seen;
  const uint_lanes place = orbit_place(state);
  int_lanes again = visiting & number_equal(state->z.z, seen->z.z) & lanes_mask(state->z.e == seen->z.e) &
                    lanes_mask(place == seen->place);
#if CERTIFIED
  /* It is proved to go round for ever once its error does not grow on the way. */
  again &= lanes_mask(state->error <= seen->error) | lanes_mask(!(state->error < (number_real)(ERROR_MOST)));
#endif
  seen->visits -= LANED(as_uint)(visiting); /* a mask is −1 */
  const int_lanes keep = visiting & lanes_mask(seen->visits == seen->next);
  seen->z = scaled_keep(seen->z, state->z, keep);
  seen->place = select(seen->place, place, keep);
#if CERTIFIED
  seen->error = scaled_choose(seen->error, state->error, keep);
#endif
  seen->next = select(seen->next, seen->next + (seen->next + 1) / 2, keep);
  return again;
}

/* Decide the lanes that have left the disc, and of the rest those at the cap or, of `visiting` ones, in a state that
 * they have been in. */
INLINED void turn_decide(turning *orbits, uint_lanes *count, int_lanes outside, int_lanes visiting,
                         const advance_view *view) {
  const orbit_state *state = &orbits->state;
  int_lanes inside = lanes_mask(state->n == (uint_lanes)(view->cap));
  if (lanes_any(visiting)) inside |= turn_cycling(&orbits->state, visiting);
  inside &= orbits->alive & ~outside;
#if CERTIFIED
  if (lanes_any(inside)) {
    const error_place here = error_placed(state->error, state->z.e, orbits->reference, orbits->size, orbits->size_e);
    orbits->certified = select(orbits->certified, error_inside(here, view->radius_squared), inside);
  }
#endif
  *count = select(select(*count, state->n, outside), (uint_lanes)(INSIDE), inside);
  orbits->alive &= ~(outside | inside);
}

#if DISTANCE
/* The derivative of t, from that of the orbit w = Z + z: 2w·w′, which is that of z² + c but for the constant's. */
INLINED scaled turn_derivative_of_t(scaled d, scaled twice_w) {
  const scaled t = {scaled_cut(scaled_product(d.z, scaled_cut(twice_w.z))), d.e + twice_w.e};
  return t;
}

/* That of t + c. */
INLINED scaled turn_derivative(scaled of_t, const orbit_constant *c) {
  const scaled move = {{(number_real)(0.5f), (number_real)(0)}, (int_lanes)(1 - c->scale)};
  const scaled sum = scaled_sum(of_t, move);
  return scaled_from(sum.z, sum.e);
}

/* That of a long step, A·t + B·c + (D·t + E·c)·t + F·c²: (A + 2D·t + E·c)·t′ + (B + E·t + 2F·c)·c′, of which only A and
 * B count in the lanes in which the step has no quadratic part. */
INLINED scaled turn_derivative_over(const turn_record *record, scaled t, const orbit_constant *c, int_lanes quadratic,
                                    scaled of_t) {
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
#endif

/* One step of the differences of lanes that are at a place; returns those that left the disc, with `far` where they
 * are. Only those of the lanes take it that make the longest one. */
INLINED int_lanes turn_step(turning *orbits, const orbit_constant *c, uint place, int_lanes there,
                            const advance_view *view,
                            uint_lanes *count, number_complex *far, bool shortcuts) {
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  const scaled z = state->z, twice = {orbits->reference.z, orbits->reference.e + 1}, both = scaled_sum(twice, z);
  const scaled t = {scaled_cut(scaled_product(z.z, scaled_cut(both.z))), z.e + both.e};
  const int_lanes key = scaled_key(t.z, t.e);
  const uint_lanes numbers = turn_find(method, place, key, (uint_lanes)(view->cap) - state->n, there);
  uint number;
  const int_lanes mask = lanes_agree(numbers, there, &number) ? there : there &
      lanes_mask(numbers == (uint_lanes)(number));
#if CERTIFIED
  const number_real of_t = error_of_t(state->error, orbits->size, orbits->size_e, z.e, t);
  const error_place before = error_placed(state->error, z.e, orbits->reference, orbits->size, orbits->size_e);
  number_real error;
#endif
#if DISTANCE
  const scaled t_derivative = turn_derivative_of_t(state->d, scaled_sum(both, z));
  scaled derivative = t_derivative;
#endif
  uint length = 1;
  scaled next;
  if (number != TURN_SINGLE) {
    const turn_record record = turn_load(method, number);
    const int_lanes near = lanes_mask(key >= (int_lanes)(record.key - (int)method[METHOD_STEP_KEYS]));
    const int_lanes quadratic = mask & (near | (int_lanes)(record.quadratic ? -1 : 0));
    next = turn_over(&record, t, c, quadratic);
    next = scaled_from(next.z, next.e);
    length = record.length;
#if DISTANCE
    derivative = turn_derivative_over(&record, t, c, quadratic, t_derivative);
#endif
#if CERTIFIED
    const error_bounds bounds = error_load(method, number);
    error = error_over(&bounds, &record, state->error, of_t, t, c, mask & ~quadratic, next.e);
#endif
  } else {
    next = scaled_sum(t, c->c);
    next = scaled_from(next.z, next.e);
#if DISTANCE
    derivative = turn_derivative(t_derivative, c);
#endif
#if CERTIFIED
    error = error_single(of_t, t, c, next.e);
#endif
  }
#if CERTIFIED
  state->error = scaled_choose(state->error, error_kept(error), mask);
#endif
  state->z = scaled_keep(state->z, next, mask);
#if DISTANCE
  state->d = scaled_keep(state->d, derivative, mask);
#endif
  state->place = select(state->place, (uint_lanes)(place + length), mask);
  state->n += select((uint_lanes)(0), (uint_lanes)(length), mask);
  orbits->reference = scaled_keep(orbits->reference, method_reference_of_all(method, place + length), mask);

  const int_lanes e = max(orbits->reference.e, state->z.e);
  const number_real by_reference = scaled_power(orbits->reference.e - e), by_z = scaled_power(state->z.e - e);
  const number_complex difference = {state->z.z.re * by_z, state->z.z.im * by_z};
  const scaled w = {{fma(orbits->reference.z.re, by_reference, difference.re),
                     fma(orbits->reference.z.im, by_reference, difference.im)}, e};
  const number_real norm = scaled_norm(w.z), size = scaled_power(2 * clamp(e, (int_lanes)(-60), (int_lanes)(60)));
  const int_lanes outside = mask & lanes_mask(!(norm * size <= view->radius_squared));
  const int_lanes rebased = mask & (lanes_mask(norm < scaled_norm(difference)) |
                                    lanes_mask(state->place >= (uint_lanes)(method[METHOD_LENGTH])));
#if FOLLOWED
  *far = number_keep(*far, scaled_plain(w), outside);
#endif
#if CERTIFIED
  orbits->size = scaled_choose(orbits->size, number_root_above(norm), mask);
  orbits->size_e = select(orbits->size_e, e, mask);
  if (lanes_any(outside)) {
    const error_place here = error_placed(state->error, state->z.e, orbits->reference, orbits->size, orbits->size_e);
    const int_lanes left = error_outside(here, view->radius_squared) | lanes_mask(state->n == (uint_lanes)(view->cap));
    const int_lanes was = number == TURN_SINGLE ? error_inside(before, view->radius_squared) : (int_lanes)(0);
    orbits->certified = select(orbits->certified, left & was, outside);
  }
#endif
  if (lanes_any(rebased)) {
    const scaled anew = scaled_from(w.z, w.e);
#if CERTIFIED
    const number_real error = error_rebased(state->error, state->z.e, orbits->reference, orbits->size, orbits->size_e,
                                            anew.e);
    state->error = scaled_choose(state->error, error_kept(error), rebased);
#endif
    turn_rebase(orbits, anew, rebased);
#if CERTIFIED
    turn_measure(orbits, rebased);
#endif
  }
  const int_lanes large = lanes_mask(state->z.e > (int_lanes)((int)method[METHOD_TAIL]));
  state->whole = select(state->whole, number == TURN_SINGLE ? large : (int_lanes)(0), mask);
  turn_decide(orbits, count, outside, shortcuts ? rebased : (int_lanes)(0), view);
  return outside;
}

#if TURN_PLAIN && DISTANCE
/* Mask of the lanes in which no part is so large or, but for 0, so small that an exponent of its own would matter. */
static int_lanes turn_is_plain(number_complex z) {
  const number_real re = fabs(z.re), im = fabs(z.im), zero = (number_real)(0);
  const number_real least = scaled_power((int_lanes)(NUMBER_PLAIN)), most = scaled_power((int_lanes)(-NUMBER_PLAIN));
  return lanes_mask(max(re, im) <= most) & (lanes_mask(re >= least) | lanes_mask(re == zero)) &
         (lanes_mask(im >= least) | lanes_mask(im == zero));
}
#endif

#if TURN_PLAIN
/* Up to TURN_PLAIN single iterations of the differences of lanes at a place, in plain numbers; returns the place where
 * they are then. No exponent leaves its range and no part is cut, so that each rounding is that of turn_step, whose
 * bits these are, in a fraction of its time. It does not begin at a place where long steps do, since one of them mostly
 * holds, and stops before anything else: a long step, an orbit that leaves the disc, reaches the cap, begins anew or
 * goes on as it is, and what is too small. */
INLINED uint turn_singles(turning *orbits, const orbit_constant *c, uint place, int_lanes there,
                          const advance_view *view) {
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  const int_lanes small = lanes_mask(state->z.e < (int_lanes)(NUMBER_PLAIN)) |
      lanes_mask(orbits->reference.e != (int_lanes)(0));
  const uint begin = place, length = method[METHOD_LENGTH], level = method[METHOD_FIRST_RECORD], shift =
      method[METHOD_SHIFT];
  if (length < 2 || turn_index(method, level + (place >> shift))[0] == place || lanes_any(there & small)) return place;
  const number_complex by = scaled_plain(c->c);
  const number_real two = (number_real)(2), least = scaled_power((int_lanes)(NUMBER_PLAIN));
  const number_real tail = scaled_power((int_lanes)((int)method[METHOD_TAIL]));
  uint most;
  lanes_agree(state->n, there, &most);
  const uint end = min(length - 1, place + min((uint)(TURN_PLAIN), view->cap - most - 1));
  number_complex z = scaled_plain(state->z), reference = orbits->reference.z;
#if DISTANCE
  /* The derivative at the exponent that it has, to begin anywhere; there the constant's is a plain number. */
  number_complex d = state->d.z;
  if (lanes_any(there & lanes_mask(state->d.e == (int_lanes)(SCALED_NOTHING)))) return place;
  const number_real move = scaled_power_within(-state->d.e - c->scale);
#endif
  ROLLED while (place < end) {
    const number_complex both = {fma(two, reference.re, z.re), fma(two, reference.im, z.im)}, t =
        scaled_product(z, both);
    global const uint *step = turn_index(method, level + (place >> shift));
    if (step[0] == place && lanes_any(there &
                                      lanes_mask(scaled_key(t, (int_lanes)(0)) < (int_lanes)((int)step[1])))) break;
    const number_complex next = {t.re + by.re, t.im + by.im};
    global const uint *words = method_part(method, METHOD_REFERENCE, 2 * NUMBER_WORDS, place + 1);
    const number_complex beside = {(number_real)(method_real(words)), (number_real)(method_real(words + NUMBER_WORDS))};
    const number_complex w = {beside.re + next.re, beside.im + next.im};
    const number_real norm = scaled_norm(w);
    const number_real smallest = min(min(fabs(next.re), fabs(next.im)), min(fabs(both.re), fabs(both.im)));
    const int_lanes goes_on = lanes_mask(norm <= view->radius_squared) & lanes_mask(norm >= scaled_norm(next)) &
                              lanes_mask(scaled_larger(next) < tail) & lanes_mask(smallest >= least) &
                              lanes_mask(scaled_larger(beside) >= (number_real)(NUMBER_SMALL));
    if (lanes_any(there & ~goes_on)) break;
#if DISTANCE
    const number_complex twice_w = {both.re + z.re, both.im + z.im}, by_t = scaled_product(d, twice_w);
    const number_complex next_d = {by_t.re + move, by_t.im + (number_real)(0)};
    if (lanes_any(there & ~(turn_is_plain(twice_w) & turn_is_plain(by_t) & turn_is_plain(next_d)))) break;
    d = next_d;
#endif
    z = next;
    reference = beside;
    place++;
  }
  if (place == begin) return place;
  const scaled now = {reference, (int_lanes)(0)};
  state->z = scaled_keep(state->z, scaled_from(z, (int_lanes)(0)), there);
#if DISTANCE
  state->d = scaled_keep(state->d, scaled_from(d, state->d.e), there);
#endif
  orbits->reference = scaled_keep(orbits->reference, now, there);
  state->place = select(state->place, (uint_lanes)(place), there);
  state->n += select((uint_lanes)(0), (uint_lanes)(place - begin), there);
  return place;
}
#endif
