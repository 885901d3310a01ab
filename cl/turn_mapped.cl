/* Turns over places of the reference that a step of a return map may follow, for advance_turns.cl: mapped_places.cl.
 *
 * References of version 4 leave out what lies between such a place and the next one, p iterations further. A record
 * that begins there holds for small differences. Where none holds, the turn is a step of the map (return_map.cl), as
 * long as |w|² is below the threshold. An orbit that is farther from 0 begins anew, and loses nothing: the reference is
 * much nearer to 0 than it. One with fewer than p iterations left stays. Place 0 is such a place, too, from which the
 * step leads to place p; there an orbit that is farther from 0 goes on beside the places behind it. */

/* Mask of the lanes of a mask for whose keys a record of at least p iterations holds that begins at an index. */
static int_lanes turn_covered(global const uint *method, uint index, int_lanes key, uint_lanes left, int_lanes mask,
                              uint period) {
  int_lanes holds = mask;
  for (uint level = 0; level < method[METHOD_LEVELS]; level++) {
    const uint shift = method[METHOD_SHIFT] + level * method[METHOD_SHIFT_STEP];
    const uint record = method[METHOD_FIRST_RECORD + level] + (index >> shift);
    global const uint *entry = turn_index(method, record);
    if (entry[0] != index) break;
    const uint length = turn_length(method, record);
    holds &= lanes_mask(key < (int_lanes)((int)entry[1])) & lanes_mask(left >= (uint_lanes)(length));
    if (length >= period) return holds;
  }
  return (int_lanes)(0);
}

/* Masks of the lanes that are at a place which a step of the map may follow, and of those of them at which records
 * begin. */
static int_lanes turn_mapped_lanes(global const uint *method, uint_lanes place, int_lanes mask, int_lanes *begins) {
  uint places[LANES];
  int at[LANES], begin[LANES];
  const uint first = method[METHOD_FIRST_RECORD], shift = method[METHOD_SHIFT];
  lanes_store(place, places);
  for (uint l = 0; l < LANES; l++) {
    at[l] = turn_mapped_at(method, places[l]) ? -1 : 0;
    begin[l] = turn_index(method, first + (places[l] >> shift))[0] == places[l] ? -1 : 0;
  }
  const int_lanes mapped = mask & lanes_load(at);
  *begins = mapped & lanes_load(begin);
  return mapped;
}

/* Mask of the lanes of a mask, at which records begin, whose turn is that of a record. */
static int_lanes turn_recorded(global const uint *method, uint_lanes place, scaled reference, scaled z, uint_lanes left,
                               int_lanes mask, uint period) {
  const scaled t = formula_delta(0, reference, z, 0);
  const int_lanes key = scaled_key(t.z, t.e);
  int_lanes covered = (int_lanes)(0);
  while (lanes_any(mask)) {
    uint one;
    lanes_agree(place, mask, &one);
    const int_lanes there = mask & lanes_mask(place == (uint_lanes)(one));
    covered |= turn_covered(method, one, key, left, there, period);
    mask &= ~there;
  }
  return covered;
}

/* Mask of the lanes whose orbits, which are at 0, a cycle of the map attracts. */
static int_lanes turn_mapped_attracted(const turn_map_constant *c, const orbit_constant *own, const orbit_state *state,
                                       const advance_view *view) {
  global const uint *map = view->method + view->method[METHOD_MAPPED];
  const scaled first = method_reference_of_all(view->method, map[MAP_PERIOD]);
  const scaled by = {first.z, first.e + (int_lanes)((int)map[MAP_W_BITS])};
  return cycles_known(map, scaled_plain(by), c, own, state);
}

/* Up to METHOD_RUN steps of the map in the lanes of the mask that are where one may follow; returns whether there was
 * anything to be done. */
INLINED bool turn_mapped(turning *orbits, const orbit_constant *own, const turn_map_constant *c, int_lanes mask,
                         const advance_view *view, count_lanes *count, bool shortcuts) {
  global const uint *method = view->method;
  if (!method[METHOD_MAPPED]) return false;
  orbit_state *state = &orbits->state;
  int_lanes begins, on = turn_mapped_lanes(method, state->place, mask, &begins), moved = (int_lanes)(0);
  if (!lanes_any(on)) return false;
  global const uint *map = method + method[METHOD_MAPPED];
  const uint period = map[MAP_PERIOD], length = method[METHOD_LENGTH];
  const int w_bits = (int)map[MAP_W_BITS];
  const int_lanes bits = (int_lanes)(w_bits);
  const number_real threshold = (number_real)(method_real(map + MAP_THRESHOLD));
  const map_terms terms = map_terms_of(map);
  const count_lanes begun = state->n, left = (count_lanes)(view->max_iterations) - begun;
  const uint_lanes most = min(counts_saturated(left / (count_lanes)(period)), (uint_lanes)(METHOD_RUN));
  const scaled from = {state->z.z, state->z.e + bits};
  number_complex z = scaled_plain(from);
  uint_lanes place = state->place, steps = (uint_lanes)(0);
  map_errors errors;
  map_errors_begin(&errors, state, own, c, map);
  ROLLED for (uint step = 0; step < METHOD_RUN; step++) {
    const scaled beside = {orbits->reference.z, orbits->reference.e + bits};
    const number_complex at = scaled_plain(beside), w = {at.re + z.re, at.im + z.im};
    if (lanes_any(begins)) {
      const count_lanes n = counts_convert(steps) * (count_lanes)(period);
      const scaled now = scaled_from(z, -bits);
      on &= ~turn_recorded(method, place, orbits->reference, now, counts_saturated(left - n), begins, period);
    }
    const int_lanes near = lanes_mask(scaled_norm(w) < threshold), first = lanes_mask(place == (uint_lanes)(0));
    on &= near | ~first;
    const int_lanes far = on & ~near, ends = on & near & lanes_mask(steps == most);
    on &= ~ends;
    moved |= on | ends;
    turn_disc_leave(state, on | ends); /* a step of the map follows no disc */
    if (lanes_any(ends)) {
      map_errors_stay(&errors, w, ends);
      state->n = counts_select(state->n, (count_lanes)(view->max_iterations), ends);
    }
    const int_lanes goes = on & near;
    number_complex slope;
    const number_complex sum = {w.re + at.re, w.im + at.im}, d = scaled_product(z, sum);
    const number_complex after = map_step(terms, c, at, d, &slope);
    map_errors_step(&errors, at, z, w, d, slope, after, goes);
    map_errors_anew(&errors, at, w, far);
    z = number_keep(z, number_keep(w, after, goes), on);
    steps -= LANED(as_uint)(goes); /* a mask is −1 */
    place = select(place, select(place + 1, (uint_lanes)(period), first), goes);
    orbits->reference = scaled_keep(orbits->reference, method_reference(method, place, goes), goes);
    const scaled after_beside = {orbits->reference.z, orbits->reference.e + bits};
    const number_complex next_at = scaled_plain(after_beside), next = {next_at.re + z.re, next_at.im + z.im};
    const int_lanes anew = far | (goes & (lanes_mask(scaled_norm(next) < scaled_norm(z)) |
                                          lanes_mask(place == (uint_lanes)(length))));
    if (lanes_any(anew)) {
      map_errors_anew(&errors, next_at, next, anew & ~far);
      z = number_keep(z, next, anew & ~far);
      place = select(place, (uint_lanes)(0), anew);
      state->n = counts_select(state->n, begun + counts_convert(steps) * (count_lanes)(period), anew);
      turn_rebase(orbits, scaled_from(z, -bits), anew);
      map_errors_end(&errors, state, w_bits, anew);
      step_errors_measure(&orbits->errors, state, orbits->reference, anew);
      turn_decide(orbits, count, (int_lanes)(0), shortcuts ? anew : (int_lanes)(0), view);
    }
    on = turn_mapped_lanes(method, place, on & orbits->alive, &begins);
    if (!lanes_any(on)) break;
  }
  if (!lanes_any(moved)) return false;
  const int_lanes stays = moved & lanes_mask(state->n == (count_lanes)(view->max_iterations));
  const count_lanes n = begun + counts_convert(steps) * (count_lanes)(period);
  state->n = counts_select(state->n, n, moved & ~stays);
  state->z = scaled_keep(state->z, scaled_from(z, -bits), moved);
  state->place = select(state->place, place, moved);
  state->whole &= ~moved;
  map_errors_end(&errors, state, w_bits, moved);
  step_errors_measure(&orbits->errors, state, orbits->reference, moved);
  turn_decide(orbits, count, (int_lanes)(0), (int_lanes)(0), view);
  return true;
}
