/* With CERTIFIED each iteration has its bounds: none is made in plain numbers, as step_plain.cl makes them. */

INLINED uint turn_singles(turning *orbits, const orbit_constant *c, uint place, int_lanes there,
                          const advance_view *view) {
  return place;
}
