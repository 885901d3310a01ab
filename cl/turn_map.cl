/* Turns by a return map, for advance_turns.cl, with MAPS. It defines HAS_NODES.
 *
 * A turn takes steps of F = f^p (return_map.cl). An orbit is its difference z from the reference's nodes W_0 = 0, W_1,
 * … It begins anew from node 0 where |w| < |z|, and behind the last node. It leaves the map where |w|² is the threshold
 * or more, or fewer than p iterations are left, and comes back to it when it begins anew near 0. */
#define HAS_NODES

/* The lanes of the mask that begin anew come into the map if they are near enough to 0. */
INLINED void turn_enter(turning *orbits, int_lanes mask, const advance_view *view) {
  if (!view->method[METHOD_MAP]) return;
  global const uint *map = map_words(view->method);
  orbit_state *state = &orbits->state;
  const scaled by = {state->z.z, state->z.e + (int_lanes)((int)map[MAP_W_BITS])};
  const number_real norm = scaled_norm(scaled_plain(by));
  const count_lanes left = (count_lanes)(view->max_iterations) - state->n;
  const int_lanes near = lanes_mask(norm < (number_real)(method_real(map + MAP_ENTRY)));
  const int_lanes enters = mask & lanes_mask(state->place == (uint_lanes)(0)) & near &
                           lanes_mask(left >= (count_lanes)(map[MAP_PERIOD]));
  turn_disc_leave(state, enters);
  state->mapping |= enters;
  state->whole &= ~enters;
  state->node = select(state->node, (uint_lanes)(0), enters);
  state->slope = scaled_choose(state->slope, (number_real)(INFINITY), enters);
  state->since = scaled_choose(state->since, (number_real)(1), enters);
  state->from = scaled_choose(state->from, norm, enters);
}

/* Mask of the lanes whose orbits, which are at 0, a cycle of the map attracts. */
static int_lanes turn_attracted(const turn_map_constant *c, const orbit_constant *own, const orbit_state *state,
                                const advance_view *view) {
  global const uint *map = map_words(view->method);
  return cycles_known(map, map_node(map, (uint_lanes)(1)), c, own, state);
}

/* What is known of a cycle of F through a point near 0 that was kept. */
typedef struct {
  number_complex point;
  int_lanes there; /* whether a point near 0 is kept */
} map_seen;

/* The lanes of the mask have begun anew, at w. Returns those that never leave the map.
 *
 * From one beginning to the next, F's iterate is a·w² + … in a disc about 0, to which the rest adds little: where its
 * slope at w is s, half its bend is s/(2·|w|). So slope and bend are known of the iterate from the point that was kept
 * to here. If it takes a disc about that point into itself, and contracts it, the orbit stays; the bound on the bend is
 * twice what was found. */
INLINED int_lanes map_returned(orbit_state *state, map_seen *seen, number_complex w, number_real norm,
                               int_lanes mask) {
  const number_real one = (number_real)(1), slope = sqrt(state->since), size = sqrt(state->from);
  const number_real bend = fma(slope, state->bend, slope / (size + size) * (state->slope * state->slope));
  const number_real product = slope * state->slope, room = one - product;
  const number_complex apart = {w.re - seen->point.re, w.im - seen->point.im};
  const number_real distance = sqrt(scaled_norm(apart));
  const int_lanes same = lanes_mask(distance == (number_real)(0));
  const int_lanes stays = lanes_mask(product < one) & lanes_mask((number_real)(8) * (bend * distance) <= room * room);
  const int_lanes inside = mask & seen->there & (same | stays);
  orbit_seen *kept = &state->seen;
  kept->visits -= LANED(as_uint)(mask); /* a mask is −1 */
  const int_lanes keep = mask & lanes_mask(kept->visits == kept->next);
  kept->next = select(kept->next, kept->next + (kept->next + 1) / 2, keep);
  seen->point = number_keep(seen->point, w, keep);
  seen->there |= keep;
  state->slope = scaled_choose(scaled_choose(state->slope, product, mask), one, keep);
  state->bend = scaled_choose(scaled_choose(state->bend, bend, mask), (number_real)(0), keep);
  state->since = scaled_choose(state->since, one, mask);
  state->from = scaled_choose(state->from, norm, mask);
  return inside;
}

/* Up to METHOD_RUN steps of the map, in the lanes of the mask. */
INLINED void turn_map(turning *orbits, const orbit_constant *own, const turn_map_constant *c, int_lanes mask,
                      const advance_view *view, count_lanes *count) {
  global const uint *map = map_words(view->method);
  orbit_state *state = &orbits->state;
  const int bits = (int)map[MAP_W_BITS];
  const uint_lanes last = (uint_lanes)(map[MAP_LAST]);
  const number_real threshold = (number_real)(method_real(map + MAP_THRESHOLD));
  const map_terms terms = map_terms_of(map);
  const count_lanes period = (count_lanes)(map[MAP_PERIOD]);
  const uint_lanes most = min(counts_saturated(((count_lanes)(view->max_iterations) - state->n) / period),
                              (uint_lanes)(METHOD_RUN));
  const scaled from = {state->z.z, state->z.e + (int_lanes)(bits)};
  const scaled kept = {state->seen.z.z, state->seen.z.e + (int_lanes)(bits)};
  const uint_lanes visits = state->seen.next;
  map_seen seen = {scaled_plain(kept), lanes_mask(state->seen.place == (uint_lanes)(ORBIT_MAPPING))};
  number_complex z = scaled_plain(from), at = map_node(map, state->node);
  uint_lanes steps = (uint_lanes)(0);
  int_lanes on = mask, inside = (int_lanes)(0);
  map_errors errors;
  map_errors_begin(&errors, state, own, c, map);
  ROLLED for (uint step = 0; step < METHOD_RUN; step++) {
    const number_complex w = {at.re + z.re, at.im + z.im};
    on &= lanes_mask(scaled_norm(w) < threshold) & lanes_mask(steps < most);
    if (!lanes_any(on)) break;
    const number_complex sum = {w.re + at.re, w.im + at.im}, d = scaled_product(z, sum);
    number_complex slope;
    const number_complex after = map_step(terms, c, at, d, &slope);
    const number_real grown = (number_real)(4) * (scaled_norm(w) * scaled_norm(slope));
    state->since = scaled_choose(state->since, state->since * grown, on);
    map_errors_step(&errors, at, z, w, d, slope, after, on);
    z = number_keep(z, after, on);
    steps -= LANED(as_uint)(on); /* a mask is −1 */
    state->node -= LANED(as_uint)(on);
    at = number_keep(at, map_node(map, state->node), on);
    const number_complex next = {at.re + z.re, at.im + z.im};
    const number_real norm = scaled_norm(next);
    const int_lanes anew = on & (lanes_mask(norm < scaled_norm(z)) | lanes_mask(state->node == last));
    if (lanes_any(anew)) {
      map_errors_anew(&errors, at, next, anew);
      z = number_keep(z, next, anew);
      at = number_keep(at, number_zero(), anew);
      state->node = select(state->node, (uint_lanes)(0), anew);
      inside |= map_returned(state, &seen, next, norm, anew);
      on &= ~inside;
    }
  }
  const int_lanes leaves = mask & ~on & ~inside, keeps = mask & lanes_mask(visits != state->seen.next);
  const number_complex w = {at.re + z.re, at.im + z.im};
  map_errors_anew(&errors, at, w, leaves);
  state->n += counts_convert(steps) * period;
  state->seen.z = scaled_keep(state->seen.z, scaled_from(seen.point, (int_lanes)(-bits)), keeps);
  state->seen.place = select(state->seen.place, (uint_lanes)(ORBIT_MAPPING), keeps);
  state->z = scaled_keep(state->z, scaled_from(number_keep(z, w, leaves), (int_lanes)(-bits)), mask);
  map_errors_end(&errors, state, bits, mask);
  state->node = select(state->node, (uint_lanes)(0), leaves);
  state->mapping &= ~leaves;
  turn_rebase(orbits, state->z, leaves);
  step_errors_measure(&orbits->errors, state, orbits->reference, leaves);
  *count = counts_select(*count, (count_lanes)(COUNT_NONE), inside);
  orbits->alive &= ~inside;
  turn_decide(orbits, count, (int_lanes)(0), (int_lanes)(0), view);
}
