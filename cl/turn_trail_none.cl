/* Without TRAIL nobody asks for an orbit's last iterates: turn_trail.cl says what this is for. */
INLINED void turn_trail(advance_orbits *orbits, const turning *left, number_complex far, int_lanes outside,
                        const advance_view *view) {
}
