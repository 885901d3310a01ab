/* Marks of orbits by turns, so that the last iterates can be found again; without TRAIL, turn_marks_none.cl stands
 * here. */

/* Keep where lanes of the mask are, if their last mark is a window behind: the earlier of two marks is so, too, of
 * whatever follows. */
INLINED void turn_mark(orbit_state *state, int_lanes mask) {
  const count_lanes since = state->n - state->later.n;
  const int_lanes due = mask & lanes_mask(since > (count_lanes)(TRAIL_WINDOW));
  if (!lanes_any(due)) return;
  orbit_mark *earlier = &state->earlier, *later = &state->later;
  earlier->z = scaled_keep(earlier->z, later->z, due);
  earlier->place = select(earlier->place, later->place, due);
  earlier->n = counts_select(earlier->n, later->n, due);
  later->z = scaled_keep(later->z, state->z, due);
  later->place = select(later->place, state->place, due);
  later->n = counts_select(later->n, state->n, due);
}

/* Iterations that a step of an orbit may take: to the cap, or where it is followed again to where its last iterates
 * begin; 0 and 1 both are a single one. */
#define turn_left(orbits, view) counts_saturated((orbits)->until - min((orbits)->until, (orbits)->state.n))
