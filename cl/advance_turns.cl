/* The loop by turns, for the method `perturbation`: each orbit goes its own way through the reference. A turn is one
 * step of its difference, over one iteration or many, or up to METHOD_RUN iterations of the orbit itself. No turn goes
 * beyond the cap, and an orbit that reaches it is decided at once: what is alive after a launch is undecided, and each
 * orbit knows its iteration. The orbits of a vector take a step together where they are at one place and make the same
 * one; else those ahead wait. A launch ends between turns, after at most `strides` of them, and where it ends changes
 * no result.
 *
 * With Z the reference, c the difference of the constant and z that of the orbit, a step is
 *     t = z·(2Z + z)
 *     z ← A·t + B·c + (D·t + E·c)·t + F·c²
 * with a record's coefficients, or t + c. The record is that of the longest step that begins here, holds for t, and
 * stays within the cap; what it adds beyond A·t + B·c is left out where t and c are small enough for that. Every number
 * is a pair with an exponent (scaled), and each sum is taken at the larger exponent.
 *
 * With MAPS, a turn may also be up to METHOD_RUN steps of a return map (turn_map.cl), or up to as many of
 * one that follows places of the reference (turn_mapped.cl). */
#if VECTORS != 1
#error "the loop by turns has one vector a work-item"
#endif

/* Up to METHOD_RUN iterations of the orbits themselves, in the lanes of the mask; returns as above. */
INLINED int_lanes turn_run(turning *orbits, const orbit_constant *c, int_lanes mask, const advance_view *view,
                           count_lanes *count, number_complex *far, bool shortcuts) {
  global const uint *method = view->method;
  orbit_state *state = &orbits->state;
  turn_disc_leave(state, mask);
  const uint_lanes left = place_left(method, state->place);
  const number_real dip = (number_real)(METHOD_DIP);
  uint_lanes most = min(counts_saturated((count_lanes)(view->max_iterations) - state->n), (uint_lanes)(METHOD_RUN));
#if METHOD_REFERENCES > 1
  most = min(most, left); /* the place behind is one of another phase's reference */
#endif
  const number_complex from = scaled_plain(orbits->reference), by = scaled_plain(state->z);
  number_complex w = {from.re + by.re, from.im + by.im};
  number_real norm = scaled_norm(w);
  uint_lanes steps = (uint_lanes)(0);
  int_lanes running = mask;
  step_run run;
  step_run_begin(&run, state, orbits->reference, w, norm, c);
  while (lanes_any(running)) {
    const uint_lanes lines = place_lines(state->place + steps);
    const number_complex next = formula_lanes_step(w, c->whole, lines);
    const scaled twice_w = {{w.re + w.re, w.im + w.im}, (int_lanes)(0)};
    step_derivative_keep(state, step_derivative_single(step_derivative_of_t(state, twice_w, lines), c), running);
    const number_real next_norm = scaled_norm(next);
    step_run_on(&run, norm, next_norm, place_lines(state->place + steps), running);
    w = number_keep(w, next, running);
    norm = scaled_choose(norm, next_norm, running);
    steps -= LANED(as_uint)(running); /* a mask is −1 */
    running &= lanes_mask(next_norm <= view->radius_squared) & lanes_mask(next_norm >= dip) & lanes_mask(steps < most);
  }
  const int_lanes outside = mask & lanes_mask(!(norm <= view->radius_squared)), dips = lanes_mask(norm < dip);
  state->n += counts_convert(steps);
#if METHOD_REFERENCES > 1
  state->place = select(state->place, state->place + steps, mask);
  const int_lanes ended = lanes_mask(steps == left);
#else
  state->place = select(state->place, (state->place + steps) % (uint_lanes)(method[METHOD_LENGTH]), mask);
#ifdef HAS_MAPPED_PLACES
  const int_lanes ended = (int_lanes)(method[METHOD_MAPPED] ? -1 : 0); /* the places beside it may stand for more */
#else
  const int_lanes ended = (int_lanes)(0);
#endif
#endif
  *far = number_keep(*far, w, outside);
  step_run_left(&run, &orbits->errors, state, outside, view);
  orbits->reference = scaled_keep(orbits->reference, method_reference(method, state->place, mask), mask);
  const number_complex to = scaled_plain(orbits->reference), difference = {w.re - to.re, w.im - to.im};
  state->z = scaled_keep(state->z, scaled_from(difference, (int_lanes)(0)), mask);
  const int_lanes rebased = mask & (dips | ended | lanes_mask(norm < scaled_norm(difference)));
  if (lanes_any(rebased)) turn_rebase(orbits, scaled_from(w, (int_lanes)(0)), rebased);
  step_run_end(&run, &orbits->errors, state, orbits->reference, to, rebased, mask);
  const int_lanes large = lanes_mask(state->z.e > (int_lanes)((int)method[METHOD_TAIL]));
  state->whole = select(state->whole, large & ~dips, mask);
  turn_decide(orbits, count, outside, shortcuts ? mask : (int_lanes)(0), view);
  return outside;
}

/* Turns after which the orbits of a list that are left are packed together. */
#define ADVANCE_FIRST 64

#if !FORMULA_BEGINS_INSIDE
/* Begin orbits that have yet to, and decide those that begin outside: their count is 0. Returns these, with `far` where
 * they are. */
static int_lanes turn_begin(turning *orbits, const orbit_constant *c, number_complex *far, const advance_view *view) {
  orbit_state *state = &orbits->state;
  const int_lanes fresh = orbits->alive & lanes_mask(state->n == (count_lanes)(0));
  if (!lanes_any(fresh)) return fresh;
  orbit_begin(state, c, fresh);
  const scaled reference = method_reference_of_all(view->method, PLACE_OWN), w = scaled_sum(reference, state->z);
  const number_real square = scaled_norm(w.z) * scaled_power(2 * clamp(w.e, (int_lanes)(-60), (int_lanes)(60)));
  global const uint *method = method_phase(view->method, PLACE_OWN);
  const int_lanes outside = fresh & turn_outside(method, 0, reference, state->z, square, view->radius_squared);
  *far = number_keep(*far, scaled_plain(w), outside);
  orbits->alive &= ~outside; /* their counts are 0 already */
  return outside;
}
#endif

/* Nothing is to be done before the loop: orbits begin there. */
static void advance_begin(advance_orbits *orbits, const advance_view *view) {
}

/* Advance the orbits by at most `strides` turns, or until every lane is decided. Orbits whose next turn is a run wait
 * until all of the vector are at one. */
static void advance_run(advance_orbits *orbits, count_scalar n, uint strides, bool shortcuts,
                        const advance_view *view) {
  const orbit_constant c = orbits->c[0];
  int_lanes known = view->method[METHOD_INSIDE] ? orbits->alive[0] : (int_lanes)(0);
  turning turning;
  turning.state = orbits->state[0];
  turning.alive = orbits->alive[0] & ~known;
  number_complex far = number_zero();
#if FORMULA_BEGINS_INSIDE
  int_lanes outside = (int_lanes)(0);
#else
  int_lanes outside = turn_begin(&turning, &c, &far, view);
#endif
  turning.reference = method_reference(view->method, turning.state.place, orbits->alive[0]);
#if TRAIL
  turning.until = (count_lanes)(view->max_iterations);
#endif
#ifdef HAS_NODES
  const turn_map_constant map = turn_map_constant_of(view->method, view->method[METHOD_MAP], &c);
#endif
#ifdef HAS_MAPPED_PLACES
  const turn_map_constant mapped = turn_map_constant_of(view->method, view->method[METHOD_MAPPED], &c);
#endif
#if MAPS
  if (!view->method[METHOD_MAP]) turning.state.mapping = (int_lanes)(0);
  int_lanes attracted = turning.alive & lanes_mask(turning.state.n == (count_lanes)(0));
#ifdef HAS_NODES
  if (view->method[METHOD_MAP] && lanes_any(attracted))
    known |= attracted & turn_attracted(&map, &c, &turning.state, view);
#endif
#ifdef HAS_MAPPED_PLACES
  if (view->method[METHOD_MAPPED] && lanes_any(attracted))
    known |= attracted & turn_mapped_attracted(&mapped, &c, &turning.state, view);
#endif
  turning.alive &= ~known;
#endif
  step_errors_begin(&turning.errors, &turning.state, turning.reference, known);
#if !FORMULA_BEGINS_INSIDE
  step_errors_begun(&turning.errors, &turning.state, turning.reference, outside, view);
#endif
  count_lanes count = counts_select(orbits->count[0], (count_lanes)(COUNT_NONE), known);
  uint turns = 0;
  while (turns < strides && lanes_any(turning.alive)) {
#ifdef HAS_NODES
    int_lanes mapping = turning.alive & turning.state.mapping;
    for (uint wait = 0; wait < METHOD_PATIENCE && turns < strides && lanes_any(mapping); wait++, turns++) {
      turn_map(&turning, &c, &map, mapping, view, &count);
      mapping = turning.alive & turning.state.mapping;
    }
    int_lanes stepping = turning.alive & ~turning.state.whole & ~turning.state.mapping;
#else
    int_lanes stepping = turning.alive & ~turning.state.whole;
#endif
    ROLLED for (; turns < strides && lanes_any(stepping); turns++) {
#ifdef HAS_MAPPED_PLACES
      if (turn_mapped(&turning, &c, &mapped, stepping, view, &count, shortcuts)) {
        stepping &= turning.alive & ~turning.state.whole;
        continue;
      }
#endif
      uint place;
      const int_lanes there = turn_together(&turning, stepping, &place);
      turn_mark(&turning.state, there);
      const uint begin = place;
      place = turn_singles(&turning, &c, place, there, view);
      if (place != begin && turn_mapped_at(view->method, place)) continue;
      outside |= turn_step(&turning, &c, place, there, view, &count, &far, shortcuts);
#ifdef HAS_NODES
      turn_enter(&turning, there, view);
      stepping &= ~turning.state.mapping;
#endif
      stepping &= turning.alive & ~turning.state.whole;
    }
    const int_lanes running = turning.alive & turning.state.whole;
    if (turns < strides && lanes_any(running)) {
      turn_mark(&turning.state, running);
      outside |= turn_run(&turning, &c, running, view, &count, &far, shortcuts);
#ifdef HAS_NODES
      turn_enter(&turning, running, view);
#endif
      turns++;
    }
  }
  orbits->state[0] = turning.state;
  orbits->alive[0] = turning.alive;
  orbits->count[0] = count;
  step_errors_end(orbits, &turning.errors, view);
  step_leave(orbits, &turning.state, far, outside);
  turn_trail(orbits, &turning, far, outside, view);
}

/* Advance orbits from their start by at most `strides` turns. */
static void advance_from_start(advance_orbits *orbits, uint strides, bool shortcuts, const advance_view *view) {
  advance_run(orbits, 0, strides, shortcuts, view);
}
