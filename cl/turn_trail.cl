/* The last iterates of orbits by turns; without TRAIL, turn_trail_none.cl stands here. */

/* Follow lanes that left again, from their earlier mark, and note their last iterates; `far` is where they left. Long
 * steps end a window before that. The steps are other ones than the first time, so an iterate may differ in its last
 * bits. */
static void turn_trail(advance_orbits *orbits, const turning *left, number_complex far, int_lanes outside,
                       const advance_view *view) {
  if (!lanes_any(outside)) return;
  const orbit_constant c = orbits->c[0];
  const count_lanes count = left->state.n;
  turning again = *left;
  again.state.z = left->state.earlier.z;
  again.state.place = left->state.earlier.place;
  again.state.n = left->state.earlier.n;
  again.state.whole = (int_lanes)(0);
  again.alive = outside;
  again.until = count - min(count, (count_lanes)(TRAIL_WINDOW + 1));
  again.reference = method_reference(view->method, again.state.place, outside);
  trail_iterates iterates;
  count_lanes ignored_count = count;
  number_complex ignored_far = far;
  int_lanes going = outside & lanes_mask(again.state.n + (count_lanes)(1) < count);
  ROLLED while (lanes_any(going)) {
    const count_lanes n = again.state.n;
    uint place;
    const int_lanes there = turn_together(&again, going, &place);
    turn_step(&again, &c, place, there, view, &ignored_count, &ignored_far, false);
    const scaled w = scaled_sum(again.reference, again.state.z);
    const int_lanes moved = there & lanes_mask(again.state.n != n);
    trail_note(orbits, 0, &iterates, number_far_from(scaled_plain(w)), again.state.n, moved);
    going = outside & lanes_mask(again.state.n + (count_lanes)(1) < count);
  }
  trail_end(orbits, 0, &iterates, number_far_from(far), outside);
}
