/* The loop by strides: advance orbits from one iteration to another, the same for all of them, and note the count of
 * each that escapes.
 *
 * STRIDE         steps between two tests for escape, of which UNROLLED at a time are written out
 * STAYS_OUTSIDE  1 where an orbit that has left the disc never comes back
 * TRAIL          1: an orbit that has left is iterated once more, from the stride before, to note its last iterates
 *
 * Testing only every STRIDE steps is exact where an orbit that has left never comes back: one that is outside at the
 * end of a stride is run again from where the stride began, testing each step. Elsewhere each step is tested. */
#if !defined(STRIDE) || !defined(UNROLLED)
#error "STRIDE and UNROLLED must be defined"
#endif
#if CERTIFIED
#error "the loop by strides does not know which counts are proved"
#endif
#ifndef STAYS_OUTSIDE
#error "STAYS_OUTSIDE is not defined"
#endif
#if STRIDE % UNROLLED != 0
#error "STRIDE must be a multiple of UNROLLED"
#endif

/* Every stride begins with the first of the steps that take turns. So a state that was kept at the end of a stride is
 * compared with later ones of its own phase alone. */
#if STRIDE % FORMULA_PHASES != 0
#error "STRIDE must be a multiple of FORMULA_PHASES"
#endif
#if TRAIL && STRIDE < TRAIL_WINDOW
#error "a stride must be as long as what is noted of an orbit"
#endif
#define ADVANCE_PHASE(step) ((step) % FORMULA_PHASES)

/* Strides after which the orbits of a list that are left are packed together: most have escaped by then. */
#define ADVANCE_FIRST (STRIDE < 64 ? 64 / STRIDE : 1)

/* Steps tested between two questions whether any lane is left. */
#if UNROLLED % 4 == 0
#define TESTED 4
#elif UNROLLED % 2 == 0
#define TESTED 2
#else
#define TESTED 1
#endif

#if DISTANCE
static advance_left advance_left_at(orbit_state state) {
  const advance_left left = {orbit_far(state), orbit_derivative(state)};
  return left;
}
#else
#define advance_left_at orbit_far
#endif

/* One step of the lanes `within`, tested: those that stay inside have made one more step there. An orbit that has left
 * is not asked again, and where orbits are followed `far` is where it left. */
static void advance_tested_step(orbit_state *state, orbit_constant c, int_lanes *within, uint_lanes *inside_steps,
                                advance_left *far, uint phase, const advance_view *view) {
  *state = orbit_step(*state, c, phase);
  const int_lanes inside = *within & ~orbit_outside(*state, view->radius_squared);
#if FOLLOWED
  *far = advance_left_keep(*far, advance_left_at(*state), *within & ~inside);
#endif
  *inside_steps -= LANED(as_uint)(inside); /* a mask is −1 */
  *within = inside;
}

#if TRAIL
/* Iterate lanes that left again, from the z at which the stride before began to the smooth radius, and note their last
 * iterates; `n` is where the stride began in which they left. */
static void advance_again(advance_orbits *orbits, uint v, count_lanes n, int_lanes left) {
  const count_lanes from = n - min(n, (count_lanes)(STRIDE));
  const uint_lanes steps = counts_saturated(orbits->count[v] - from);
  number_complex z = orbits->behind[v];
  trail_iterates iterates;
  ROLLED for (uint step = 0; lanes_any(left & lanes_mask((uint_lanes)(step) < steps)); step++) {
    const int_lanes on = left & lanes_mask((uint_lanes)(step) < steps);
    z = number_keep(z, formula_step(z, orbit_formula_constant(orbits->c[v]), ADVANCE_PHASE(step)), on);
    const count_lanes reached = from + (count_lanes)(step + 1);
    trail_note(orbits, v, &iterates, number_far_from(z), reached, on & lanes_mask(reached < orbits->count[v]));
  }
  trail_end(orbits, v, &iterates, number_far_from(z), left);
}
#endif

/* Run the lanes `within` for a stride from state[v] at iteration n[v], testing each step, all vectors side by side, and
 * note the counts of those that leave; the rest are left in `within`. Counts saturate: near 2³² a stride may reach past
 * the largest one of 32 bits. */
INLINED void advance_exactly(advance_orbits *orbits, orbit_state *state, const count_lanes *n, int_lanes *within,
                             const advance_view *view) {
  int_lanes given[VECTORS], any_within = (int_lanes)(0);
  uint_lanes inside_steps[VECTORS];
  advance_left far[VECTORS];
#if TRAIL
  number_complex began[VECTORS];
#endif
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    given[v] = within[v];
    any_within |= within[v];
    inside_steps[v] = (uint_lanes)(0);
#if FOLLOWED
    far[v] = advance_left_at(state[v]);
#endif
#if TRAIL
    began[v] = orbit_z(state[v]);
#endif
  }
  ROLLED for (uint step = 0; step < STRIDE && lanes_any(any_within); step += TESTED) {
    any_within = (int_lanes)(0);
    UNROLL for (uint k = 0; k < TESTED; k++) {
      UNROLL for (uint v = 0; v < VECTORS; v++)
        advance_tested_step(&state[v], orbits->c[v], &within[v], &inside_steps[v], &far[v], ADVANCE_PHASE(step + k),
                            view);
    }
    UNROLL for (uint v = 0; v < VECTORS; v++) any_within |= within[v];
  }
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const count_lanes count = add_sat(counts_convert(inside_steps[v]), n[v] + (count_lanes)(1));
    orbits->count[v] = counts_select(orbits->count[v], count, given[v] & ~within[v]);
  }
#if FOLLOWED
  int_lanes left[VECTORS];
  advance_left left_at[VECTORS];
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    left[v] = given[v] & ~within[v];
    left_at[v] = far[v];
  }
  ROLLED for (uint v = 0; v < VECTORS; v++) advance_smooth(orbits, v, left_at[v], left[v]);
#endif
#if TRAIL
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    if (lanes_any(left[v])) advance_again(orbits, v, n[v], left[v]);
    orbits->behind[v] = number_keep(orbits->behind[v], began[v], given[v]);
  }
#endif
}

/* The count of orbits that begin outside is 0. */
static void advance_begin(advance_orbits *orbits, const advance_view *view) {
#if DISTANCE
  UNROLL for (uint v = 0; v < VECTORS; v++) orbits->state[v] = orbit_begun(orbits->state[v], orbits->c[v]);
#endif
#if !FORMULA_BEGINS_INSIDE
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const int_lanes outside = orbits->alive[v] & orbit_outside(orbits->state[v], view->radius_squared);
    orbits->alive[v] &= ~outside; /* their counts are 0 already */
#if FOLLOWED
    advance_smooth(orbits, v, advance_left_at(orbits->state[v]), outside);
#endif
#if TRAIL
    trail_iterates iterates;
    trail_end(orbits, v, &iterates, number_far_from(orbit_z(orbits->state[v])), outside);
#endif
  }
#endif
}

/* The orbits' states, of which none has been seen before, and which lanes are alive. */
INLINED void advance_take(const advance_orbits *orbits, orbit_state *state, orbit_state *seen, int_lanes *alive,
                          int_lanes *any_alive, const advance_view *view) {
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    state[v] = orbits->state[v];
    seen[v] = orbit_nowhere(view->radius_squared);
    alive[v] = orbits->alive[v];
    *any_alive |= alive[v];
  }
}

INLINED void advance_put_back(advance_orbits *orbits, const orbit_state *state, const int_lanes *alive) {
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    orbits->state[v] = state[v];
    orbits->alive[v] = alive[v];
  }
}

/* Keep the states of the stride `look`, with which later ones are compared for a cycle, and set when to do so next. */
INLINED void advance_look(uint stride, uint *look, const orbit_state *state, orbit_state *seen) {
  if (stride != *look) return;
  *look += (*look + 1) / 2;
  UNROLL for (uint v = 0; v < VECTORS; v++) seen[v] = state[v];
}

/* The first stride of orbits that begin, each step tested: most vectors of a picture end here, and iterating them to
 * the end of the stride and then once more would cost more. */
static void advance_open(advance_orbits *orbits, bool shortcuts, const advance_view *view) {
  orbit_state state[VECTORS];
  int_lanes within[VECTORS];
  count_lanes n[VECTORS];
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    state[v] = orbits->state[v];
    within[v] = orbits->alive[v];
    n[v] = (count_lanes)(0);
  }
  advance_exactly(orbits, state, n, within, view);
  advance_put_back(orbits, state, within);
#if FORMULA_KNOWS_INSIDE
  if (shortcuts) {
    UNROLL for (uint v = 0; v < VECTORS; v++) {
      if (!lanes_any(within[v])) continue;
      const int_lanes inside = within[v] & formula_inside(orbit_formula_constant(orbits->c[v]));
      orbits->count[v] = counts_select(orbits->count[v], (count_lanes)(COUNT_NONE), inside);
      orbits->alive[v] &= ~inside;
    }
  }
#endif
}

#if STAYS_OUTSIDE
/* Advance all vectors by `strides` strides from iteration n, or until every lane is decided. The orbits in flight are
 * kept in arrays of this function, so that the compiler holds them in registers. A lane that is found outside at the
 * end of a stride waits, with its state as it was when the stride began, until all are through; then one more stride,
 * with each step tested, finds the counts of all at once. */
static void advance_run(advance_orbits *orbits, count_scalar n, uint strides, bool shortcuts,
                        const advance_view *view) {
  orbit_state state[VECTORS], left_from[VECTORS], seen[VECTORS];
  orbit_constant c[VECTORS];
  int_lanes alive[VECTORS], left[VECTORS], any_alive = (int_lanes)(0), any_left = (int_lanes)(0);
  count_lanes left_n[VECTORS];
#if TRAIL
  number_complex behind[VECTORS], left_behind[VECTORS];
#endif
  advance_take(orbits, state, seen, alive, &any_alive, view);
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    left_from[v] = state[v];
    c[v] = orbits->c[v];
    left[v] = (int_lanes)(0);
    left_n[v] = (count_lanes)(0);
#if TRAIL
    behind[v] = left_behind[v] = orbits->behind[v];
#endif
  }
  uint look = shortcuts ? 1 : 0;
  for (uint stride = 0; stride < strides && lanes_any(any_alive);) {
    orbit_state start[VECTORS];
    int_lanes outside[VECTORS], any_event = (int_lanes)(0);
    UNROLL for (uint v = 0; v < VECTORS; v++) start[v] = state[v];
    ROLLED for (uint step = 0; step < STRIDE; step += UNROLLED) {
      UNROLL for (uint k = 0; k < UNROLLED; k++) {
        UNROLL for (uint v = 0; v < VECTORS; v++) state[v] = orbit_step(state[v], c[v], ADVANCE_PHASE(step + k));
      }
    }
    stride++;
    UNROLL for (uint v = 0; v < VECTORS; v++) {
      outside[v] = orbit_outside(state[v], view->radius_squared);
      any_event |= alive[v] & (outside[v] | orbit_may_equal(state[v], seen[v]));
    }
    if (lanes_any(any_event)) {
      any_alive = (int_lanes)(0);
      UNROLL for (uint v = 0; v < VECTORS; v++) {
        const int_lanes leaving = alive[v] & outside[v];
        const int_lanes cycling = alive[v] & ~outside[v] & orbit_equal(state[v], seen[v]);
        left_from[v] = orbit_keep(left_from[v], start[v], leaving);
        left_n[v] = counts_select(left_n[v], (count_lanes)(n), leaving);
#if TRAIL
        left_behind[v] = number_keep(left_behind[v], behind[v], leaving);
#endif
        left[v] |= leaving;
        any_left |= leaving;
        orbits->count[v] = counts_select(orbits->count[v], (count_lanes)(COUNT_NONE), cycling);
        alive[v] &= ~(leaving | cycling);
        any_alive |= alive[v];
      }
    }
#if TRAIL
    UNROLL for (uint v = 0; v < VECTORS; v++) behind[v] = orbit_z(start[v]);
#endif
    advance_look(stride, &look, state, seen);
    n += STRIDE;
  }
  advance_put_back(orbits, state, alive);
#if TRAIL
  UNROLL for (uint v = 0; v < VECTORS; v++) orbits->behind[v] = number_keep(behind[v], left_behind[v], left[v]);
#endif
  if (lanes_any(any_left)) advance_exactly(orbits, left_from, left_n, left, view);
}
#else
/* As above, with each step tested. */
static void advance_run(advance_orbits *orbits, count_scalar n, uint strides, bool shortcuts,
                        const advance_view *view) {
  orbit_state state[VECTORS], seen[VECTORS];
  int_lanes alive[VECTORS], any_alive = (int_lanes)(0);
  advance_take(orbits, state, seen, alive, &any_alive, view);
  uint look = shortcuts ? 1 : 0;
  for (uint stride = 0; stride < strides && lanes_any(any_alive);) {
    count_lanes from[VECTORS];
    UNROLL for (uint v = 0; v < VECTORS; v++) from[v] = (count_lanes)(n);
    advance_exactly(orbits, state, from, alive, view);
    stride++;
    any_alive = (int_lanes)(0);
    UNROLL for (uint v = 0; v < VECTORS; v++) {
      const int_lanes cycling = alive[v] & orbit_equal(state[v], seen[v]);
      orbits->count[v] = counts_select(orbits->count[v], (count_lanes)(COUNT_NONE), cycling);
      alive[v] &= ~cycling;
      any_alive |= alive[v];
    }
    advance_look(stride, &look, state, seen);
    n += STRIDE;
  }
  advance_put_back(orbits, state, alive);
}
#endif

/* Advance orbits from their start by `strides` strides. */
static void advance_from_start(advance_orbits *orbits, uint strides, bool shortcuts, const advance_view *view) {
  advance_begin(orbits, view);
  advance_open(orbits, shortcuts, view);
  advance_run(orbits, STRIDE, strides - 1, shortcuts, view);
}
