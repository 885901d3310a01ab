/* Steps of differences beside the reference, for advance_turns.cl, and what every turn ends with: orbits rebase, and
 * are decided where they have left the disc, reached the iteration limit, or come back to where they were. */

/* The orbits of a vector on their way, with the reference where they are. */
typedef struct {
  orbit_state state;
  scaled reference;
  int_lanes alive;
  step_errors errors;
#if TRAIL
  count_lanes until; /* the iteration up to which long steps may lead */
#endif
} turning;

/* The lanes of the mask begin anew beside Z₀, from z. */
INLINED void turn_rebase(turning *orbits, scaled z, int_lanes mask) {
  const scaled zero = {number_zero(), (int_lanes)(SCALED_NOTHING)};
  orbits->state.z = scaled_keep(orbits->state.z, z, mask);
  orbits->reference = scaled_keep(orbits->reference, zero, mask);
  orbits->state.place = select(orbits->state.place, place_anew(orbits->state.place), mask);
}

/* Mask of the lanes of a mask that have come back to the state that was seen before, and in `proved` of those about
 * which a disc maps into itself; in those whose turn it is, the state as it is takes the place of that one. */
INLINED int_lanes turn_cycling(orbit_state *state, int_lanes visiting, int_lanes *proved) {
  orbit_seen *seen = &state->seen;
  const uint_lanes place = orbit_place(state);
  int_lanes again = visiting & number_equal(state->z.z, seen->z.z) & lanes_mask(state->z.e == seen->z.e) &
                    lanes_mask(place == seen->place);
  again &= step_errors_cycle(state);
  *proved = turn_disc_returns(state, visiting & ~again & lanes_mask(place_indices(place) == (uint_lanes)(0)));
  seen->visits -= LANED(as_uint)(visiting); /* a mask is −1 */
  const int_lanes keep = visiting & lanes_mask(seen->visits == seen->next);
  seen->z = scaled_keep(seen->z, state->z, keep);
  seen->place = select(seen->place, place, keep);
  step_errors_see(state, keep);
  seen->next = select(seen->next, seen->next + (seen->next + 1) / 2, keep);
  turn_disc_see(state, keep);
  return again;
}

/* Decide the lanes that have left the disc, and of the rest those at the iteration limit or, of `visiting` ones, in
 * a state that they have been in. */
INLINED void turn_decide(turning *orbits, count_lanes *count, int_lanes outside, int_lanes visiting,
                         const advance_view *view) {
  const orbit_state *state = &orbits->state;
  int_lanes inside = lanes_mask(state->n == (count_lanes)(view->max_iterations)), proved = (int_lanes)(0);
  if (lanes_any(visiting)) {
    inside |= turn_cycling(&orbits->state, visiting, &proved);
    proved &= orbits->alive & ~outside;
  }
  inside &= orbits->alive & ~outside & ~proved;
  step_errors_inside(&orbits->errors, state, orbits->reference, inside, view);
  step_errors_proved(&orbits->errors, proved);
  inside |= proved;
  *count = counts_select(counts_select(*count, state->n, outside), (count_lanes)(COUNT_NONE), inside);
  orbits->alive &= ~(outside | inside);
}

/* One step of the differences of lanes that are at a place; returns those that left the disc, with `far` where they
 * are. Only those of the lanes take it that make the longest one. */
INLINED int_lanes turn_step(turning *orbits, const orbit_constant *c, uint place, int_lanes there,
                            const advance_view *view,
                            count_lanes *count, number_complex *far, bool shortcuts) {
  global const uint *method = method_phase(view->method, place);
  orbit_state *state = &orbits->state;
  const scaled z = state->z, twice = {orbits->reference.z, orbits->reference.e + 1}, both = scaled_sum(twice, z);
#if FORMULA_INNER_FOLDS
  scaled_part inner[FORMULA_INNER_FOLDS];
  method_inner(view->method, place, inner);
#else
  const scaled_part *inner = 0;
#endif
  const scaled t = formula_delta(place_line(place), orbits->reference, z, inner);
  const int_lanes key = scaled_key(t.z, t.e);
  const uint_lanes numbers = turn_find(method, place_index(place), key, turn_left(orbits, view), there);
  uint number;
  const int_lanes mask = lanes_agree(numbers, there, &number) ? there : there &
      lanes_mask(numbers == (uint_lanes)(number));
  const uint_lanes lines = (uint_lanes)(place_line(place));
  step_error error;
  step_error_of_t(&error, &orbits->errors, state, orbits->reference, t, lines);
  const step_derivative of_t = step_derivative_of_t(state, scaled_sum(both, z), lines);
  step_derivative derivative;
  disc_step disc;
  const bool discs = lanes_any(mask & turn_disc_followed(state));
  if (discs) turn_disc_at_t(&disc, state, orbits->reference, t, formula_degree(place_line(place)));
  uint length = 1;
  scaled next;
  if (number != TURN_SINGLE) {
    const turn_record record = turn_load(method, number);
    const int_lanes near = lanes_mask(key >= (int_lanes)(record.key - (int)method[METHOD_STEP_KEYS]));
    const int_lanes quadratic = mask & (near | (int_lanes)(record.quadratic ? -1 : 0));
    next = turn_over(&record, t, c, quadratic);
    next = scaled_from(next.z, next.e);
    length = record.length;
    derivative = step_derivative_over(&record, t, c, quadratic, of_t);
    step_error_over(&error, method, number, &record, state, t, c, mask & ~quadratic, next.e);
    if (discs) turn_disc_over(&disc, &orbits->errors, state, orbits->reference, method, number, &record, t, lines, c,
                              mask & ~quadratic, next.e);
  } else {
    next = scaled_sum(t, c->c);
    next = scaled_from(next.z, next.e);
    derivative = step_derivative_single(of_t, c);
    step_error_single(&error, t, c, next.e);
    if (discs) turn_disc_single(&disc, &orbits->errors, state, orbits->reference, t, lines, c, next.e);
  }
  step_error_keep(&error, state, mask);
  if (discs) turn_disc_keep(&disc, state, mask);
  state->z = scaled_keep(state->z, next, mask);
  step_derivative_keep(state, derivative, mask);
  const uint to = turn_target(method, number, place);
  state->place = select(state->place, (uint_lanes)(to), mask);
  state->n += counts_convert(select((uint_lanes)(0), (uint_lanes)(length), mask));
  orbits->reference = scaled_keep(orbits->reference, method_reference_of_all(view->method, to), mask);

  const int_lanes e = max(orbits->reference.e, state->z.e);
  const number_real by_reference = scaled_power(orbits->reference.e - e), by_z = scaled_power(state->z.e - e);
  const number_complex difference = {state->z.z.re * by_z, state->z.z.im * by_z};
  const scaled w = {{fma(orbits->reference.z.re, by_reference, difference.re),
                     fma(orbits->reference.z.im, by_reference, difference.im)}, e};
  const number_real norm = scaled_norm(w.z), size = scaled_power(2 * clamp(e, (int_lanes)(-60), (int_lanes)(60)));
  const int_lanes outside = mask & turn_outside(method, place_index(to), orbits->reference, state->z,
                                                norm * size, view->radius_squared);
  const int_lanes rebased = mask & (lanes_mask(norm < scaled_norm(difference)) |
                                    lanes_mask(place_left(view->method, state->place) == (uint_lanes)(0)));
  *far = number_keep(*far, scaled_plain(w), outside);
  const bool single = number == TURN_SINGLE;
  step_error_placed(&error, &orbits->errors, state, orbits->reference, norm, e, mask, outside, single, place, length,
                    view);
  if (discs) turn_disc_bound(state, orbits->reference, mask, view);
  if (lanes_any(rebased)) {
    const scaled anew = scaled_from(w.z, w.e);
    turn_disc_rebase(state, orbits->reference, anew.e, rebased);
    step_errors_rebase(&orbits->errors, state, orbits->reference, anew.e, rebased);
    turn_rebase(orbits, anew, rebased);
    step_errors_measure(&orbits->errors, state, orbits->reference, rebased);
  }
  const int_lanes large = lanes_mask(state->z.e > (int_lanes)((int)method[METHOD_TAIL]));
  state->whole = select(state->whole, single ? large : (int_lanes)(0), mask);
  turn_decide(orbits, count, outside, shortcuts ? rebased : (int_lanes)(0), view);
  return outside;
}

/* Of the lanes of the mask, those that are where the one with the fewest iterations is. The others wait for it: what is
 * loaded serves all that are at a place. */
INLINED int_lanes turn_together(const turning *orbits, int_lanes mask, uint *place) {
  if (lanes_agree(orbits->state.place, mask, place)) return mask;
  const count_lanes left = ~orbits->state.n;
  lanes_agree(orbits->state.place, mask & lanes_mask(left == (count_lanes)(counts_largest(left, mask))), place);
  return mask & lanes_mask(orbits->state.place == (uint_lanes)(*place));
}
