/* The loop by turns, for the method `perturbation`: each orbit goes its own way through the reference. A turn is one step of
 * its difference, over one iteration or many, or up to METHOD_RUN iterations of the orbit itself. No turn goes beyond the cap,
 * and an orbit that reaches it is decided at once: what is alive after a launch is undecided, and each orbit knows its
 * iteration. The orbits of a vector take a step together where they are at one place and make the same one; else those ahead
 * wait. A launch ends between turns, after at most `strides` of them, and where it ends changes no result.
 *
 * With Z the reference, c the difference of the constant and z that of the orbit, a step is
 *     t = z·(2Z + z)
 *     z ← A·t + B·c + (D·t + E·c)·t + F·c²
 * with a record's coefficients, or t + c. The record is that of the longest step that begins here, holds for t, and stays
 * within the cap; what it adds beyond A·t + B·c is left out where t and c are small enough for that. Every number is a pair
 * with an exponent (scaled), and each sum is taken at the larger exponent. */
#if VECTORS != 1
#error "the loop by turns has one vector a work-item"
#endif

/* How many single iterations are made in plain numbers at a time, where that gives the same bits: none with bounds on errors. */
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

static global const uint *turn_record_words(global const uint *method, uint record) {
  return method_part(method, METHOD_RECORDS, TURN_RECORD_WORDS, record);
}

static global const uint *turn_index(global const uint *method, uint record) {
  return method_part(method, METHOD_INDEX, 2, record);
}

static uint turn_length(global const uint *method, uint record) {
  return turn_record_words(method, record)[TURN_RECORD_WORDS - 1] & TURN_LENGTH;
}

/* The records of the longest steps that begin at a place and hold for the lanes' keys; no longer than what the lanes have
 * left to the cap. */
static uint_lanes turn_find(global const uint *method, uint place, int_lanes key, uint_lanes left, int_lanes mask) {
  const bool near = lanes_any(mask & lanes_mask(left < (uint_lanes)(method[METHOD_LONGEST])));
  uint_lanes found = (uint_lanes)(TURN_SINGLE);
  int_lanes holds = mask;
  for (uint level = 0; level < method[METHOD_LEVELS]; level++) {
    const uint shift = method[METHOD_SHIFT] + level * method[METHOD_SHIFT_STEP];
    const uint record = method[METHOD_FIRST_RECORD + level] + (place >> shift);
    global const uint *entry = turn_index(method, record);
    if (entry[0] != place) break;
    holds &= lanes_mask(key < (int_lanes)((int)entry[1]));
    if (near) holds &= lanes_mask(left >= (uint_lanes)(turn_length(method, record)));
    if (!lanes_any(holds)) break;
    found = select(found, (uint_lanes)(record), holds);
  }
  return found;
}

static turn_record turn_load(global const uint *method, uint number) {
  global const uint *words = turn_record_words(method, number);
  turn_record record;
  for (uint k = 0; k < 5; k++) {
    record.coefficient[k].z.re = (number_real)(method_real(words + 2 * k * NUMBER_WORDS));
    record.coefficient[k].z.im = (number_real)(method_real(words + (2 * k + 1) * NUMBER_WORDS));
    record.coefficient[k].e = (int_lanes)((int)words[10 * NUMBER_WORDS + k]);
  }
  record.length = words[TURN_RECORD_WORDS - 1] & TURN_LENGTH;
  record.quadratic = words[TURN_RECORD_WORDS - 1] > TURN_LENGTH;
  record.key = (int)turn_index(method, number)[1];
  return record;
}

static scaled turn_product(scaled a, scaled b) {
  const scaled product = {scaled_product(a.z, b.z), a.e + b.e};
  return product;
}

/* A·t + B·c, and in the lanes of the mask (D·t + E·c)·t + F·c² beside it. */
static scaled turn_over(const turn_record *record, scaled t, const orbit_constant *c, int_lanes quadratic) {
  const scaled linear = scaled_sum(turn_product(record->coefficient[0], t), turn_product(record->coefficient[1], c->c));
  if (!lanes_any(quadratic)) return linear;
  const scaled inner = scaled_sum(turn_product(record->coefficient[2], t), turn_product(record->coefficient[3], c->c));
  const scaled slope = {scaled_cut(inner.z), inner.e};
  const scaled by_t = turn_product(slope, t), by_c = turn_product(record->coefficient[4], c->square);
  const int_lanes e = max(linear.e, max(by_t.e, by_c.e));
  const number_real first = scaled_power(linear.e - e), second = scaled_power(by_t.e - e), third = scaled_power(by_c.e - e);
  const scaled all = {{fma(by_c.z.re, third, fma(by_t.z.re, second, linear.z.re * first)),
                       fma(by_c.z.im, third, fma(by_t.z.im, second, linear.z.im * first))}, e};
  return scaled_keep(linear, all, quadratic);
}

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

/* Mask of the lanes of a mask that have come back to the state that was seen before; in those whose turn it is, the state
 * as it is takes the place of that one. */
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

/* Decide the lanes that have left the disc, and of the rest those at the cap or, of `visiting` ones, in a state that they
 * have been in. */
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

/* One step of the differences of lanes that are at a place; returns those that left the disc, with `far` where they are. Only
 * those of the lanes take it that make the longest one. */
INLINED int_lanes turn_step(turning *orbits, const orbit_constant *c, uint place, int_lanes there, const advance_view *view,
                            uint_lanes *count, number_complex *far, bool shortcuts) {
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  const scaled z = state->z, twice = {orbits->reference.z, orbits->reference.e + 1}, both = scaled_sum(twice, z);
  const scaled t = {scaled_cut(scaled_product(z.z, scaled_cut(both.z))), z.e + both.e};
  const int_lanes key = scaled_key(t.z, t.e);
  const uint_lanes numbers = turn_find(method, place, key, (uint_lanes)(view->cap) - state->n, there);
  uint number;
  const int_lanes mask = lanes_agree(numbers, there, &number) ? there : there & lanes_mask(numbers == (uint_lanes)(number));
#if CERTIFIED
  const number_real of_t = error_of_t(state->error, orbits->size, orbits->size_e, z.e, t);
  const error_place before = error_placed(state->error, z.e, orbits->reference, orbits->size, orbits->size_e);
  number_real error;
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
#if CERTIFIED
    const error_bounds bounds = error_load(method, number);
    error = error_over(&bounds, &record, state->error, of_t, t, c, mask & ~quadratic, next.e);
#endif
  } else {
    next = scaled_sum(t, c->c);
    next = scaled_from(next.z, next.e);
#if CERTIFIED
    error = error_single(of_t, t, c, next.e);
#endif
  }
#if CERTIFIED
  state->error = scaled_choose(state->error, error_kept(error), mask);
#endif
  state->z = scaled_keep(state->z, next, mask);
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
#if SMOOTH
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
    const number_real error = error_rebased(state->error, state->z.e, orbits->reference, orbits->size, orbits->size_e, anew.e);
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

#if TURN_PLAIN
/* Up to TURN_PLAIN single iterations of the differences of lanes at a place, in plain numbers; returns the place where they are
 * then. No exponent leaves its range and no part is cut, so that each rounding is that of turn_step, whose bits these are, in a
 * fraction of its time. It does not begin at a place where long steps do, since one of them mostly holds, and stops before
 * anything else: a long step, an orbit that leaves the disc, reaches the cap, begins anew or goes on as it is, and what is too
 * small. */
INLINED uint turn_singles(turning *orbits, const orbit_constant *c, uint place, int_lanes there, const advance_view *view) {
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  const int_lanes small = lanes_mask(state->z.e < (int_lanes)(NUMBER_PLAIN)) | lanes_mask(orbits->reference.e != (int_lanes)(0));
  const uint begin = place, length = method[METHOD_LENGTH], level = method[METHOD_FIRST_RECORD], shift = method[METHOD_SHIFT];
  if (length < 2 || turn_index(method, level + (place >> shift))[0] == place || lanes_any(there & small)) return place;
  const number_complex by = scaled_plain(c->c);
  const number_real two = (number_real)(2), least = scaled_power((int_lanes)(NUMBER_PLAIN));
  const number_real tail = scaled_power((int_lanes)((int)method[METHOD_TAIL]));
  uint most;
  lanes_agree(state->n, there, &most);
  const uint end = min(length - 1, place + min((uint)(TURN_PLAIN), view->cap - most - 1));
  number_complex z = scaled_plain(state->z), reference = orbits->reference.z;
  ROLLED while (place < end) {
    const number_complex both = {fma(two, reference.re, z.re), fma(two, reference.im, z.im)}, t = scaled_product(z, both);
    global const uint *step = turn_index(method, level + (place >> shift));
    if (step[0] == place && lanes_any(there & lanes_mask(scaled_key(t, (int_lanes)(0)) < (int_lanes)((int)step[1])))) break;
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
    z = next;
    reference = beside;
    place++;
  }
  if (place == begin) return place;
  const scaled now = {reference, (int_lanes)(0)};
  state->z = scaled_keep(state->z, scaled_from(z, (int_lanes)(0)), there);
  orbits->reference = scaled_keep(orbits->reference, now, there);
  state->place = select(state->place, (uint_lanes)(place), there);
  state->n += select((uint_lanes)(0), (uint_lanes)(place - begin), there);
  return place;
}
#endif

/* Up to METHOD_RUN iterations of the orbits themselves, in the lanes of the mask; returns as above. */
INLINED int_lanes turn_run(turning *orbits, const orbit_constant *c, int_lanes mask, const advance_view *view,
                           uint_lanes *count, number_complex *far, bool shortcuts) {
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  const number_real dip = (number_real)(METHOD_DIP);
  const uint_lanes most = min((uint_lanes)(view->cap) - state->n, (uint_lanes)(METHOD_RUN));
  const number_complex from = scaled_plain(orbits->reference), by = scaled_plain(state->z);
  number_complex w = {from.re + by.re, from.im + by.im};
  number_real norm = (number_real)(0);
  uint_lanes steps = (uint_lanes)(0);
  int_lanes running = mask;
#if CERTIFIED
  const number_real unit = (number_real)(NUMBER_UNIT), w_norm = scaled_norm(w), w_size = number_root_above(w_norm);
  const number_real of_c = fma(scaled_reach(c->whole), 4 * unit, c->error * scaled_power_within(c->c.e));
  error_place here, before;
  here.size = w_size;
  here.error = fma(state->error, scaled_power_within(state->z.e),
                   error_of_sum(w_size, orbits->reference, (int_lanes)(0)));
  before = here;
  norm = w_norm;
#endif
  while (lanes_any(running)) {
    const number_complex next = formula_step(w, c->whole);
    const number_real next_norm = scaled_norm(next);
#if CERTIFIED
    const number_real next_size = number_root_above(next_norm), roundings = fma(norm + next_size, unit, of_c);
    const number_real next_error = fma(here.error, here.size + here.size + here.error, roundings);
    before.size = scaled_choose(before.size, here.size, running);
    before.error = scaled_choose(before.error, here.error, running);
    here.size = scaled_choose(here.size, next_size, running);
    here.error = scaled_choose(here.error, next_error * (number_real)(NUMBER_MORE), running);
#endif
    w = number_keep(w, next, running);
    norm = scaled_choose(norm, next_norm, running);
    steps -= LANED(as_uint)(running); /* a mask is −1 */
    running &= lanes_mask(next_norm <= view->radius_squared) & lanes_mask(next_norm >= dip) & lanes_mask(steps < most);
  }
  const int_lanes outside = mask & lanes_mask(!(norm <= view->radius_squared)), dips = lanes_mask(norm < dip);
  state->n += steps;
  state->place = select(state->place, (state->place + steps) % (uint_lanes)(method[METHOD_LENGTH]), mask);
#if SMOOTH
  *far = number_keep(*far, w, outside);
#endif
#if CERTIFIED
  if (lanes_any(outside)) {
    const int_lanes left = error_outside(here, view->radius_squared) | lanes_mask(state->n == (uint_lanes)(view->cap));
    orbits->certified = select(orbits->certified, left & error_inside(before, view->radius_squared), outside);
  }
#endif
  orbits->reference = scaled_keep(orbits->reference, method_reference(method, state->place, mask), mask);
  const number_complex to = scaled_plain(orbits->reference), difference = {w.re - to.re, w.im - to.im};
  state->z = scaled_keep(state->z, scaled_from(difference, (int_lanes)(0)), mask);
  const int_lanes rebased = mask & (dips | lanes_mask(norm < scaled_norm(difference)));
#if CERTIFIED
  here.error += scaled_choose(scaled_reach(to) * (2 * unit), (number_real)(0), rebased);
#endif
  if (lanes_any(rebased)) turn_rebase(orbits, scaled_from(w, (int_lanes)(0)), rebased);
#if CERTIFIED
  state->error = scaled_choose(state->error, error_kept(fma(here.error, scaled_power_within(-state->z.e), 2 * unit)), mask);
  turn_measure(orbits, mask);
#endif
  const int_lanes large = lanes_mask(state->z.e > (int_lanes)((int)method[METHOD_TAIL]));
  state->whole = select(state->whole, large & ~dips, mask);
  turn_decide(orbits, count, outside, shortcuts ? mask : (int_lanes)(0), view);
  return outside;
}

/* Of the lanes of the mask, those that are where the one with the fewest iterations is. The others wait for it: what is loaded
 * serves all that are at a place. */
INLINED int_lanes turn_together(const turning *orbits, int_lanes mask, uint *place) {
  if (lanes_agree(orbits->state.place, mask, place)) return mask;
  const uint_lanes left = ~orbits->state.n;
  uint most;
  lanes_agree(left, mask, &most);
  lanes_agree(orbits->state.place, mask & lanes_mask(left == (uint_lanes)(most)), place);
  return mask & lanes_mask(orbits->state.place == (uint_lanes)(*place));
}

/* There is nothing to do before the first turn: the formula's orbits begin inside. */
static void advance_begin(advance_orbits *orbits, const advance_view *view) {
}

/* Advance the orbits by at most `strides` turns, or until every lane is decided. Orbits whose next turn is a run wait until all
 * of the vector are at one. */
static void advance_run(advance_orbits *orbits, uint n, uint strides, bool shortcuts, const advance_view *view) {
  const orbit_constant c = orbits->c[0];
  const int_lanes known = view->method[METHOD_INSIDE] ? orbits->alive[0] : (int_lanes)(0);
  turning turning;
  turning.state = orbits->state[0];
  turning.reference = method_reference(view->method, turning.state.place, orbits->alive[0]);
  turning.alive = orbits->alive[0] & ~known;
#if CERTIFIED
  turning.size = (number_real)(0);
  turning.size_e = (int_lanes)(0);
  turning.certified = known;
  turn_measure(&turning, (int_lanes)(-1));
#endif
  uint_lanes count = select(orbits->count[0], (uint_lanes)(INSIDE), known);
  number_complex far = number_zero();
  int_lanes outside = (int_lanes)(0);
  uint turns = 0;
  while (turns < strides && lanes_any(turning.alive)) {
    int_lanes stepping = turning.alive & ~turning.state.whole;
    ROLLED for (; turns < strides && lanes_any(stepping); turns++) {
      uint place;
      const int_lanes there = turn_together(&turning, stepping, &place);
#if TURN_PLAIN
      place = turn_singles(&turning, &c, place, there, view);
#endif
      outside |= turn_step(&turning, &c, place, there, view, &count, &far, shortcuts);
      stepping &= turning.alive & ~turning.state.whole;
    }
    const int_lanes running = turning.alive & turning.state.whole;
    if (turns < strides && lanes_any(running)) {
      outside |= turn_run(&turning, &c, running, view, &count, &far, shortcuts);
      turns++;
    }
  }
  orbits->state[0] = turning.state;
  orbits->alive[0] = turning.alive;
  orbits->count[0] = count;
#if CERTIFIED
  /* From within a smaller disc, an orbit that has left may come back. */
  orbits->certified[0] = turning.certified & lanes_mask(view->radius_squared >= (number_real)(4));
#endif
#if SMOOTH
  advance_smooth(orbits, 0, number_far_from(far), outside);
#endif
}

/* Advance orbits from their start by at most `strides` turns. */
static void advance_from_start(advance_orbits *orbits, uint strides, bool shortcuts, const advance_view *view) {
  advance_run(orbits, 0, strides, shortcuts, view);
}
