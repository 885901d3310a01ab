/* The loop of the method `bounded`: each orbit is iterated, and tested at each step, until it is proved to be
 * outside, or to have reached the iteration limit inside; or until it is in doubt, where nothing is proved. A turn
 * is up to BOUNDED_RUN iterations. All that reach the iteration limit are decided: what is alive after a launch is
 * undecided. */
#if VECTORS != 1
#error "the loop of bounded orbits has one vector a work-item"
#endif

#define BOUNDED_RUN 64

/* More than the roundings of a step's bound: some ten operations of float, a root and a ratio among them. */
#define BOUNDED_MORE (1.0f + 0x1p-18f)

/* An E below this counts as this where it is added to |z|. */
#define BOUNDED_LEAST (-90)

/* 2^e for e from -126 to 127; ends stand for what is beyond. */
static float_lanes bounded_power(int_lanes e) {
  return LANED(as_float)((clamp(e, (int_lanes)(-126), (int_lanes)(127)) + 127) << 23);
}

/* E as a plain number, or more. */
static float_lanes bounded_error(const orbit_state *state) {
  return state->error * bounded_power(max(state->error_e, (int_lanes)(BOUNDED_LEAST)));
}

/* E after a step from z of at most `size`, in the lanes of the mask. */
static void bounded_grow(orbit_state *state, float_lanes size, int rounded, int_lanes mask) {
  const float_lanes slope = size + size + bounded_error(state);
  const float_lanes fresh = bounded_power(max(rounded - state->error_e, (int_lanes)(BOUNDED_LEAST)));
  const int_lanes sum = LANED(as_int)(fma(slope, state->error, fresh) * BOUNDED_MORE), by = (sum >> 23) - 127;
  state->error = select(state->error, LANED(as_float)(sum - (by << 23)), mask);
  state->error_e = select(state->error_e, state->error_e + by, mask);
}

/* The next z, after n iterations. */
static number_complex bounded_step(number_complex z, orbit_constant c, count_lanes n) {
  number_complex next = formula_step(z, c, 0);
#if FORMULA_PHASES > 1
  const uint_lanes phase = counts_low(n % (count_lanes)(FORMULA_PHASES));
  for (uint q = 1; q < FORMULA_PHASES; q++)
    next = number_keep(next, formula_step(z, c, q), lanes_mask(phase == (uint_lanes)(q)));
#endif
  return next;
}

/* Turns after which the orbits of a list that are left are packed together. */
#define ADVANCE_FIRST 16

/* There is nothing to do before the first turn: the formula's orbits begin inside. */
static void advance_begin(advance_orbits *orbits, const advance_view *view) {
}

/* Advance the orbits by at most `strides` turns, or until every lane is decided. */
static void advance_run(advance_orbits *orbits, count_scalar n, uint strides, bool shortcuts,
                        const advance_view *view) {
  const orbit_constant c = orbits->c[0];
  const int rounded = (int)view->method[METHOD_ROUNDED];
  const float_lanes radius = sqrt(number_to_float(view->radius_squared));
  const float_lanes within = radius * (1.0f - 0x1p-18f), beyond = radius * (1.0f + 0x1p-18f);
  orbit_state state = orbits->state[0];
  state.error_e = max(state.error_e, (int_lanes)(rounded));
  float_lanes size = number_reach(state.z);
  int_lanes alive = orbits->alive[0];
  for (uint turn = 0; turn < strides && lanes_any(alive); turn++) {
    for (uint step = 0; step < BOUNDED_RUN && lanes_any(alive); step++) {
      bounded_grow(&state, size, rounded, alive);
      state.z = number_keep(state.z, bounded_step(state.z, c, state.n), alive);
      state.n += counts_convert((uint_lanes)(0) - LANED(as_uint)(alive)); /* a mask is −1 */
      size = number_reach(state.z);
      alive &= lanes_mask(size + bounded_error(&state) <= within) &
          lanes_mask(state.n < (count_lanes)(view->max_iterations));
    }
  }
  const int_lanes ended = orbits->alive[0] & ~alive,
      at_limit = ended & lanes_mask(state.n == (count_lanes)(view->max_iterations));
  const int_lanes outside = lanes_mask(size * (1.0f - 0x1p-17f) - 0x1p-88f - bounded_error(&state) > beyond);
  orbits->state[0] = state;
  orbits->alive[0] = alive;
  orbits->count[0] = counts_select(orbits->count[0], state.n, ended);
  orbits->certified[0] = ended & (outside | at_limit);
#if FOLLOWED
  advance_smooth(orbits, 0, number_far_from(state.z), ended & outside & ~at_limit);
#endif
}

/* Advance orbits from their start by at most `strides` turns. */
static void advance_from_start(advance_orbits *orbits, uint strides, bool shortcuts, const advance_view *view) {
  advance_run(orbits, 0, strides, shortcuts, view);
}
