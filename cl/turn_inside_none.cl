/* Without INTERIOR no disc is followed: turn_inside.cl says what these are for. */
typedef struct {
  uchar nothing;
} disc_step;

INLINED void turn_disc_at_t(disc_step *disc, const orbit_state *state, scaled reference, scaled t, uint degree) {
}

INLINED void turn_disc_single(disc_step *disc, const step_errors *errors, const orbit_state *state, scaled reference,
                              scaled t, uint_lanes lines, const orbit_constant *c, int_lanes e) {
}

INLINED void turn_disc_over(disc_step *disc, const step_errors *errors, const orbit_state *state, scaled reference,
                            global const uint *method, uint number, const turn_record *record, scaled t,
                            uint_lanes lines, const orbit_constant *c, int_lanes skipped, int_lanes e) {
}

INLINED void turn_disc_keep(const disc_step *disc, orbit_state *state, int_lanes mask) {
}

INLINED void turn_disc_bound(orbit_state *state, scaled reference, int_lanes mask, const advance_view *view) {
}

INLINED void turn_disc_leave(orbit_state *state, int_lanes mask) {
}

#define turn_disc_followed(state) ((int_lanes)(0))

INLINED void turn_disc_rebase(orbit_state *state, scaled reference, int_lanes e, int_lanes mask) {
}

#define turn_disc_returns(state, anew) ((int_lanes)(0))

INLINED void turn_disc_see(orbit_state *state, int_lanes mask) {
}
