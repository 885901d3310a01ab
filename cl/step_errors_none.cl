/* Without CERTIFIED nothing is known of how far orbits are from exact ones: step_errors.cl says what each of these is
 * for. */

typedef struct {
  uchar nothing;
} step_errors;

typedef struct {
  uchar nothing;
} step_error;

typedef struct {
  uchar nothing;
} step_run;

INLINED void step_errors_measure(step_errors *errors, const orbit_state *state, scaled reference, int_lanes mask) {
}

INLINED void step_errors_begin(step_errors *errors, const orbit_state *state, scaled reference, int_lanes known) {
}

INLINED void step_errors_end(advance_orbits *orbits, const step_errors *errors, const advance_view *view) {
}

INLINED int_lanes step_errors_cycle(const orbit_state *state) {
  return (int_lanes)(-1);
}

#define step_errors_seen(seen, radius) (radius)

INLINED void step_errors_proved(step_errors *errors, int_lanes mask) {
}

INLINED void step_errors_see(orbit_state *state, int_lanes keep) {
}

#if !FORMULA_BEGINS_INSIDE
INLINED void step_errors_begun(step_errors *errors, const orbit_state *state, scaled reference, int_lanes outside,
                               const advance_view *view) {
}
#endif

INLINED void step_errors_inside(step_errors *errors, const orbit_state *state, scaled reference, int_lanes inside,
                                const advance_view *view) {
}

INLINED void step_error_of_t(step_error *error, const step_errors *errors, const orbit_state *state, scaled reference,
                             scaled t, uint_lanes phase) {
}

INLINED void step_error_over(step_error *error, global const uint *method, uint number, const turn_record *record,
                             const orbit_state *state, scaled t, const orbit_constant *c, int_lanes skipped,
                             int_lanes e) {
}

INLINED void step_error_single(step_error *error, scaled t, const orbit_constant *c, int_lanes e) {
}

INLINED void step_error_keep(const step_error *error, orbit_state *state, int_lanes mask) {
}

INLINED void step_error_placed(const step_error *error, step_errors *errors, const orbit_state *state,
                               scaled reference, number_real norm, int_lanes e, int_lanes mask, int_lanes outside,
                               bool single, uint place, uint length, const advance_view *view) {
}

INLINED void step_errors_rebase(const step_errors *errors, orbit_state *state, scaled reference, int_lanes e,
                                int_lanes mask) {
}

INLINED void step_run_begin(step_run *run, const orbit_state *state, scaled reference, number_complex w,
                            number_real norm, const orbit_constant *c) {
}

INLINED void step_run_on(step_run *run, number_real norm, number_real next_norm, uint_lanes phase, int_lanes running) {
}

INLINED void step_run_left(const step_run *run, step_errors *errors, const orbit_state *state, int_lanes outside,
                           const advance_view *view) {
}

INLINED void step_run_end(step_run *run, step_errors *errors, orbit_state *state, scaled reference, number_complex to,
                          int_lanes rebased, int_lanes mask) {
}
