/* How far orbits by turns are from exact ones, event by event, and which of their counts are proved. Without CERTIFIED,
 * step_errors_none.cl stands here. */

/* |w| where the orbits are, times 2^size_e, which a later launch finds again in what is saved; and whose counts are
 * proved. */
typedef struct {
  number_real size;
  int_lanes size_e, certified;
} step_errors;

INLINED void step_errors_measure(step_errors *errors, const orbit_state *state, scaled reference, int_lanes mask) {
  const scaled w = scaled_sum(reference, state->z);
  errors->size = scaled_choose(errors->size, number_root_above(scaled_norm(w.z)), mask);
  errors->size_e = select(errors->size_e, w.e, mask);
}

/* `known` masks the lanes that are known never to escape. */
INLINED void step_errors_begin(step_errors *errors, const orbit_state *state, scaled reference, int_lanes known) {
  errors->size = (number_real)(0);
  errors->size_e = (int_lanes)(0);
  errors->certified = known;
  step_errors_measure(errors, state, reference, (int_lanes)(-1));
}

INLINED void step_errors_end(advance_orbits *orbits, const step_errors *errors, const advance_view *view) {
  /* From within a smaller disc, an orbit that has left may come back. */
  orbits->certified[0] = errors->certified & lanes_mask(view->radius_squared >= (number_real)(4));
}

/* Where the orbits are. Functions that return a struct are not INLINED: Oclgrind 21.10 refuses what that leaves. */
static error_place step_errors_place(const step_errors *errors, const orbit_state *state, scaled reference) {
  return error_placed(state->error, state->z.e, reference, errors->size, errors->size_e);
}

/* An orbit in a state that was seen before is proved to go round for ever once its error does not grow on the way. */
INLINED int_lanes step_errors_cycle(const orbit_state *state) {
  return lanes_mask(state->error <= state->seen.error) | lanes_mask(!(state->error < (number_real)(ERROR_MOST)));
}

/* A radius of a disc about a place where an orbit was seen within which the exact orbit was, too. */
static number_real step_errors_seen(const orbit_seen *seen, number_real radius) {
  return max(radius, seen->error);
}

/* The lanes of the mask are proved never to escape. */
INLINED void step_errors_proved(step_errors *errors, int_lanes mask) {
  errors->certified |= mask;
}

INLINED void step_errors_see(orbit_state *state, int_lanes keep) {
  state->seen.error = scaled_choose(state->seen.error, state->error, keep);
}

/* Mask of those of some lanes at a place near |Z| = R whose exact orbits are certainly outside or, with `inside`, not.
 */
static int_lanes step_edge_proves(global const uint *words_of_all, uint place, scaled reference, scaled z,
                                  number_real error, int_lanes near, bool inside) {
  turn_edge edge;
  if (!lanes_any(near) || !turn_edge_find(method_phase(words_of_all, place), place_index(place), &edge))
    return (int_lanes)(0);
  const turn_edge excess = turn_excess(edge, reference, z);
  /* 2|w|·E + E², and what the terms and their sums are rounded by; a value of the reference is off by 2u. */
  const number_real rounded = (number_real)(10 * NUMBER_UNIT), power = scaled_power_within(z.e);
  const number_real size = scaled_reach(reference.z), by = scaled_reach(z.z), whole = fma(by, power, size);
  const number_real of_z = fma(error, fma(error, power, whole + whole), rounded * by * (whole + whole));
  const number_real of_edge = rounded * fabs(edge.value) * scaled_power_within(edge.e - excess.e);
  const number_real bound = fma(of_z, scaled_power_within(z.e - excess.e), of_edge) * (number_real)(NUMBER_MORE);
  return near & (inside ? lanes_mask(excess.value + bound <= (number_real)(0)) : lanes_mask(excess.value > bound));
}

#if !FORMULA_BEGINS_INSIDE
/* The lanes of the mask begin outside. */
INLINED void step_errors_begun(step_errors *errors, const orbit_state *state, scaled reference, int_lanes outside,
                               const advance_view *view) {
  if (!lanes_any(outside)) return;
  const error_place here = step_errors_place(errors, state, reference);
  const int_lanes near = outside & turn_near(method_phase(view->method, PLACE_OWN), here.size * here.size,
                                             view->radius_squared);
  const int_lanes proved = error_outside(here, view->radius_squared) |
                           step_edge_proves(view->method, PLACE_OWN, reference, state->z, state->error, near, false);
  errors->certified = select(errors->certified, proved, outside);
}
#endif

/* The lanes of the mask are inside at the iteration limit, or for ever. */
INLINED void step_errors_inside(step_errors *errors, const orbit_state *state, scaled reference, int_lanes inside,
                                const advance_view *view) {
  if (lanes_any(inside)) {
    const error_place here = step_errors_place(errors, state, reference);
    uint place;
    int_lanes proved = error_inside(here, view->radius_squared);
    if (lanes_agree(state->place, inside, &place)) {
      const int_lanes near = inside & turn_near(method_phase(view->method, place), here.size * here.size,
                                                view->radius_squared);
      proved |= step_edge_proves(view->method, place, reference, state->z, state->error, near, true);
    }
    errors->certified = select(errors->certified, proved, inside);
  }
}

/* Before a step: where the orbits are, the error of t and, once the step is made, that of the next difference. */
typedef struct {
  error_place before;
  scaled z;
  number_real error, of_t, next;
} step_error;

INLINED void step_error_of_t(step_error *error, const step_errors *errors, const orbit_state *state, scaled reference,
                             scaled t, uint_lanes phase) {
#if FORMULA_KNOWS_INSIDE
  error->of_t = error_of_t(state->error, errors->size, errors->size_e, state->z.e, t);
#else
  error->of_t = error_of_line(state->error, errors->size, errors->size_e, reference, state->z, t, phase);
#endif
  error->before = step_errors_place(errors, state, reference);
  error->z = state->z;
  error->error = state->error;
}

/* After the step of a record; `skipped` masks the lanes in which the quadratic part was left out. */
INLINED void step_error_over(step_error *error, global const uint *method, uint number, const turn_record *record,
                             const orbit_state *state, scaled t, const orbit_constant *c, int_lanes skipped,
                             int_lanes e) {
  const error_bounds bounds = error_load(method, number);
  error->next = error_over(&bounds, record, state->error, error->of_t, t, c, skipped, e);
}

/* After the step of a single iteration. */
INLINED void step_error_single(step_error *error, scaled t, const orbit_constant *c, int_lanes e) {
  error->next = error_single(error->of_t, t, c, e);
}

INLINED void step_error_keep(const step_error *error, orbit_state *state, int_lanes mask) {
  state->error = scaled_choose(state->error, error_kept(error->next), mask);
}

/* The lanes of `mask` are at w, with |w|² of `norm` times 2^(2e), and those of `outside` have left the disc, in a
 * `single` iteration or a long step from a place. */
INLINED void step_error_placed(const step_error *error, step_errors *errors, const orbit_state *state,
                               scaled reference, number_real norm, int_lanes e, int_lanes mask, int_lanes outside,
                               bool single, uint place, uint length, const advance_view *view) {
  errors->size = scaled_choose(errors->size, number_root_above(norm), mask);
  errors->size_e = select(errors->size_e, e, mask);
  if (lanes_any(outside)) {
    const error_place here = step_errors_place(errors, state, reference);
    global const uint *method = method_phase(view->method, place);
    const int_lanes near = outside & turn_near(method, here.size * here.size, view->radius_squared);
    const int_lanes left = error_outside(here, view->radius_squared) |
                           lanes_mask(state->n == (count_lanes)(view->max_iterations)) |
                           step_edge_proves(view->method, place + length, reference, state->z, state->error, near,
                                            false);
    int_lanes was = (int_lanes)(0);
    if (single) {
      const number_real size = error->before.size;
      const int_lanes near_before = outside & turn_near(method, size * size, view->radius_squared);
      was = error_inside(error->before, view->radius_squared) |
            step_edge_proves(view->method, place, method_reference_of_all(view->method, place), error->z,
                             error->error, near_before, true);
    }
    errors->certified = select(errors->certified, left & was, outside);
  }
}

/* The lanes of the mask are about to begin anew, from a difference with the exponent e. */
INLINED void step_errors_rebase(const step_errors *errors, orbit_state *state, scaled reference, int_lanes e,
                                int_lanes mask) {
  const number_real error = error_rebased(state->error, state->z.e, reference, errors->size, errors->size_e, e);
  state->error = scaled_choose(state->error, error_kept(error), mask);
}

/* A run of the orbit itself: where it is, and where it was before its last iteration; what c adds to the error. */
typedef struct {
  error_place here, before;
  number_real of_c;
} step_run;

INLINED void step_run_begin(step_run *run, const orbit_state *state, scaled reference, number_complex w,
                            number_real norm, const orbit_constant *c) {
  const number_real unit = (number_real)(NUMBER_UNIT), size = number_root_above(norm);
  run->of_c = fma(scaled_reach(c->whole), 4 * unit, c->error * scaled_power_within(c->c.e));
  run->here.size = size;
  run->here.error = fma(state->error, scaled_power_within(state->z.e), error_of_sum(size, reference, (int_lanes)(0)));
  run->before = run->here;
}

/* After an iteration of the lanes of the mask, from |w|² of `norm` to `next_norm`, by the lines of the phases. */
INLINED void step_run_on(step_run *run, number_real norm, number_real next_norm, uint_lanes phase, int_lanes running) {
  const number_real unit = (number_real)(NUMBER_UNIT), next_size = number_root_above(next_norm);
#if FORMULA_KNOWS_INSIDE
  const number_real roundings = fma(norm + next_size, unit, run->of_c);
  const number_real next_error = fma(run->here.error, run->here.size + run->here.size + run->here.error, roundings);
#else
  const number_real units = (number_real)(FORMULA_RUN_UNITS);
  const number_real whole = formula_lanes_slope(run->here.size, phase) * run->here.size * units;
  const number_real roundings = fma(whole + next_size, unit, run->of_c);
  const number_real slope = formula_lanes_slope(run->here.size + run->here.error, phase);
  const number_real next_error = fma(run->here.error, slope, roundings);
#endif
  run->before.size = scaled_choose(run->before.size, run->here.size, running);
  run->before.error = scaled_choose(run->before.error, run->here.error, running);
  run->here.size = scaled_choose(run->here.size, next_size, running);
  run->here.error = scaled_choose(run->here.error, next_error * (number_real)(NUMBER_MORE), running);
}

/* The lanes of the mask have left the disc. */
INLINED void step_run_left(const step_run *run, step_errors *errors, const orbit_state *state, int_lanes outside,
                           const advance_view *view) {
  if (lanes_any(outside)) {
    const int_lanes left = error_outside(run->here, view->radius_squared) |
                           lanes_mask(state->n == (count_lanes)(view->max_iterations));
    errors->certified = select(errors->certified, left & error_inside(run->before, view->radius_squared), outside);
  }
}

/* The lanes of `mask` are beside the reference again, those of `rebased` anew; `to` is where it was for them. */
INLINED void step_run_end(step_run *run, step_errors *errors, orbit_state *state, scaled reference, number_complex to,
                          int_lanes rebased, int_lanes mask) {
  const number_real unit = (number_real)(NUMBER_UNIT);
  run->here.error += scaled_choose(scaled_reach(to) * (2 * unit), (number_real)(0), rebased);
  const number_real error = fma(run->here.error, scaled_power_within(-state->z.e), 2 * unit);
  state->error = scaled_choose(state->error, error_kept(error), mask);
  step_errors_measure(errors, state, reference, mask);
}
