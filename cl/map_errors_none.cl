/* Without CERTIFIED nothing is known of how far orbits in a return map are from exact ones: map_errors.cl says what
 * each of these is for. */

typedef struct {
  uchar nothing;
} map_errors;

INLINED void map_errors_begin(map_errors *errors, const orbit_state *state, const orbit_constant *c,
                              const turn_map_constant *terms, global const uint *map) {
}

#define map_errors_of_cycle(errors) ((number_real)(MAP_CYCLE_UNIT))

INLINED void map_errors_step(map_errors *errors, number_complex at, number_complex z, number_complex w,
                             number_complex d, number_complex slope, number_complex next, int_lanes mask) {
}

INLINED void map_errors_anew(map_errors *errors, number_complex at, number_complex w, int_lanes mask) {
}

INLINED void map_errors_stay(map_errors *errors, number_complex w, int_lanes mask) {
}

INLINED void map_errors_end(const map_errors *errors, orbit_state *state, int w_bits, int_lanes mask) {
}
