/* Without DISTANCE orbits carry no derivative: step_derivative.cl says what each of these is for. */

typedef struct {
  uchar nothing;
} step_derivative;

typedef struct {
  uchar nothing;
} plain_derivative;

static step_derivative step_derivative_of_t(const orbit_state *state, scaled twice_w, uint_lanes phase) {
  step_derivative none;
  none.nothing = 0;
  return none;
}

static step_derivative step_derivative_single(step_derivative of_t, const orbit_constant *c) {
  return of_t;
}

static step_derivative step_derivative_over(const turn_record *record, scaled t, const orbit_constant *c,
                                             int_lanes quadratic, step_derivative of_t) {
  return of_t;
}

INLINED void step_derivative_keep(orbit_state *state, step_derivative next, int_lanes mask) {
}

INLINED bool plain_derivative_begin(plain_derivative *derivative, const orbit_state *state, const orbit_constant *c,
                                    int_lanes there) {
  return true;
}

INLINED bool plain_derivative_on(plain_derivative *derivative, number_complex both, number_complex z,
                                 int_lanes there) {
  return true;
}

INLINED void plain_derivative_end(const plain_derivative *derivative, orbit_state *state, int_lanes there) {
}

/* Without planes that look at it, nobody asks where an orbit goes. */
INLINED void step_leave(advance_orbits *orbits, const orbit_state *state, number_complex far, int_lanes outside) {
#if FOLLOWED
  advance_smooth(orbits, 0, number_far_from(far), outside);
#endif
}
