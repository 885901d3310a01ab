/* Without TRAIL nobody asks for an orbit's last iterates: turn_marks.cl says what these are for. */
INLINED void turn_mark(orbit_state *state, int_lanes mask) {
}

#define turn_left(orbits, view) counts_saturated((count_lanes)((view)->max_iterations) - (orbits)->state.n)
