/* The loop: advance orbits from one iteration to another, note the count of each that escapes, and save those that
 * are still alive for a later launch. Where the orbits come from is the business of the source_*.cl that follow.
 *
 * VECTORS        independent vectors of LANES orbits in a work-item: they hide the latency of a step
 * GROUP          steps between two tests for escape, of which UNROLLED at a time are written out
 * SMOOTH         1: also carry escaped orbits on to the smooth radius
 * SMOOTH_LIMIT   steps after the escape in which they must get there: at c = −2 and R² just below 4 one never does
 *
 * Testing only every GROUP steps is exact: an orbit outside a radius of 2 or more never comes back, so one that is
 * outside at the end of a group is run again from where the group began, testing each step. */
#if !defined(VECTORS) || !defined(GROUP) || !defined(UNROLLED) || !defined(SMOOTH) || !defined(SMOOTH_LIMIT)
#error "VECTORS, GROUP, UNROLLED, SMOOTH and SMOOTH_LIMIT must be defined"
#endif
#if GROUP % UNROLLED != 0
#error "GROUP must be a multiple of UNROLLED"
#endif

/* Steps tested between two questions whether any lane is left. */
#if UNROLLED % 4 == 0
#define TESTED 4
#elif UNROLLED % 2 == 0
#define TESTED 2
#else
#define TESTED 1
#endif

/* The count of an orbit that is known never to escape: above any cap. */
#define INSIDE 0xffffffffu

/* The index of a lane that has no pixel. */
#define NO_PIXEL 0xffffffffu

/* What a launch needs of the view, the same for all orbits. */
typedef struct {
  number_complex anchor;
  number_real radius_squared;
  number_pitch pitch;
} advance_view;

/* The orbits of a work-item. `index` is a pixel's place in its block; `alive` masks the lanes still iterating.
 * For those that are not, `count` is the step at which they left the disc and, for smooth colouring, `smooth_step`
 * and `smooth_norm` the step and |z|² at which they left the smooth radius. */
typedef struct {
  number_complex z[VECTORS], c[VECTORS];
  int_lanes alive[VECTORS];
  uint_lanes index[VECTORS];
  uint_lanes count[VECTORS];
#if SMOOTH
  uint_lanes smooth_step[VECTORS];
  float_lanes smooth_norm[VECTORS];
#endif
} advance_orbits;

static advance_view advance_load_view(global const uint *words) {
  advance_view view;
  view.anchor.re = number_load(words + 0 * NUMBER_WORDS);
  view.anchor.im = number_load(words + 1 * NUMBER_WORDS);
  view.radius_squared = number_load(words + 2 * NUMBER_WORDS);
  view.pitch = number_load_pitch(words + 3 * NUMBER_WORDS);
  return view;
}

#if SMOOTH
/* Carry lanes on from the z at which they left the disc until they leave the smooth radius, for at most SMOOTH_LIMIT
 * steps, and note where they got to. */
static void advance_smooth(advance_orbits *orbits, uint v, number_far z, int_lanes within) {
  const number_far c = number_far_from(orbits->c[v]);
  ROLLED for (uint step = 0; lanes_any(within); step++) {
    const uint_lanes here = add_sat(orbits->count[v], (uint_lanes)(step));
    orbits->smooth_step[v] = select(orbits->smooth_step[v], here, within);
    orbits->smooth_norm[v] = select(orbits->smooth_norm[v], number_far_norm(z), within);
    within &= step < SMOOTH_LIMIT ? ~number_far_outside(z) : (int_lanes)(0);
    z = number_far_step(z, c);
  }
}
#endif

/* One step of the lanes `within`, tested: those that stay inside have made one more step there. An orbit that has left
 * is not asked again, and with smooth colouring `far` is the z at which it left. */
static void advance_tested_step(number_complex *z, number_complex c, int_lanes *within, uint_lanes *inside_steps,
                                number_far *far, const advance_view *view) {
  *z = formula_step(*z, c);
  const int_lanes inside = *within & ~number_outside(*z, view->radius_squared);
#if SMOOTH
  *far = number_far_keep(*far, number_far_from(*z), *within & ~inside);
#endif
  *inside_steps -= LANED(as_uint)(inside); /* a mask is −1 */
  *within = inside;
}

/* Run the lanes `within` for a group from z[v] at iteration n[v], testing each step, all vectors side by side, and note
 * the counts of those that leave; the rest are left in `within`. Counts saturate: near 2³² a group may reach past the
 * largest one. */
static __attribute__((always_inline)) void advance_exactly(advance_orbits *orbits, number_complex *z, const uint_lanes *n, int_lanes *within,
                            const advance_view *view) {
  int_lanes given[VECTORS], any_within = (int_lanes)(0);
  uint_lanes inside_steps[VECTORS];
  number_far far[VECTORS];
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    given[v] = within[v];
    any_within |= within[v];
    inside_steps[v] = (uint_lanes)(0);
#if SMOOTH
    far[v] = number_far_from(z[v]);
#endif
  }
  ROLLED for (uint step = 0; step < GROUP && lanes_any(any_within); step += TESTED) {
    any_within = (int_lanes)(0);
    UNROLL for (uint k = 0; k < TESTED; k++) {
      UNROLL for (uint v = 0; v < VECTORS; v++)
        advance_tested_step(&z[v], orbits->c[v], &within[v], &inside_steps[v], &far[v], view);
    }
    UNROLL for (uint v = 0; v < VECTORS; v++) any_within |= within[v];
  }
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const uint_lanes count = add_sat(inside_steps[v], n[v] + (uint_lanes)(1));
    orbits->count[v] = select(orbits->count[v], count, given[v] & ~within[v]);
  }
#if SMOOTH
  int_lanes left[VECTORS];
  number_far left_at[VECTORS];
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    left[v] = given[v] & ~within[v];
    left_at[v] = far[v];
  }
  ROLLED for (uint v = 0; v < VECTORS; v++) advance_smooth(orbits, v, left_at[v], left[v]);
#endif
}

/* The first group of orbits that begin at z₀, each step tested: most vectors of a picture end here, and iterating them to
 * the end of the group and then once more would cost more. */
static void advance_open(advance_orbits *orbits, bool shortcuts, const advance_view *view) {
  number_complex z[VECTORS];
  int_lanes within[VECTORS];
  uint_lanes n[VECTORS];
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    z[v] = orbits->z[v];
    within[v] = orbits->alive[v];
    n[v] = (uint_lanes)(0);
  }
  advance_exactly(orbits, z, n, within, view);
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    orbits->z[v] = z[v];
    orbits->alive[v] = within[v];
  }
  if (shortcuts) {
    UNROLL for (uint v = 0; v < VECTORS; v++) {
      if (!lanes_any(within[v])) continue;
      const int_lanes inside = within[v] & formula_inside(orbits->c[v]);
      orbits->count[v] = select(orbits->count[v], (uint_lanes)(INSIDE), inside);
      orbits->alive[v] &= ~inside;
    }
  }
}

/* Advance all vectors by `groups` groups from iteration n, or until every lane is decided. The orbits in flight are
 * kept in z and c of this function, so that the compiler holds them in registers. A lane that is found outside at the
 * end of a group waits, with z as it was when the group began, until all are through; then one more group, with each
 * step tested, finds the counts of all at once. */
static void advance_run(advance_orbits *orbits, uint n, uint groups, bool shortcuts, const advance_view *view) {
  number_complex z[VECTORS], c[VECTORS], left_from[VECTORS], seen[VECTORS];
  int_lanes alive[VECTORS], left[VECTORS], any_alive = (int_lanes)(0), any_left = (int_lanes)(0);
  uint_lanes left_n[VECTORS];
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    left_from[v] = z[v] = orbits->z[v];
    c[v] = orbits->c[v];
    seen[v].re = seen[v].im = view->radius_squared; /* no orbit inside is there */
    alive[v] = orbits->alive[v];
    any_alive |= alive[v];
    left[v] = (int_lanes)(0);
    left_n[v] = (uint_lanes)(0);
  }
  uint look = shortcuts ? 1 : 0;
  for (uint group = 0; group < groups && lanes_any(any_alive);) {
    number_complex start[VECTORS];
    int_lanes outside[VECTORS], any_event = (int_lanes)(0);
    UNROLL for (uint v = 0; v < VECTORS; v++) start[v] = z[v];
    ROLLED for (uint step = 0; step < GROUP; step += UNROLLED) {
      UNROLL for (uint k = 0; k < UNROLLED; k++) {
        UNROLL for (uint v = 0; v < VECTORS; v++) z[v] = formula_step(z[v], c[v]);
      }
    }
    group++;
    UNROLL for (uint v = 0; v < VECTORS; v++) {
      outside[v] = number_outside(z[v], view->radius_squared);
      any_event |= alive[v] & (outside[v] | number_may_equal(z[v], seen[v]));
    }
    if (lanes_any(any_event)) {
      any_alive = (int_lanes)(0);
      UNROLL for (uint v = 0; v < VECTORS; v++) {
        const int_lanes leaving = alive[v] & outside[v];
        const int_lanes cycling = alive[v] & ~outside[v] & number_equal(z[v], seen[v]);
        left_from[v] = number_keep(left_from[v], start[v], leaving);
        left_n[v] = select(left_n[v], (uint_lanes)(n), leaving);
        left[v] |= leaving;
        any_left |= leaving;
        orbits->count[v] = select(orbits->count[v], (uint_lanes)(INSIDE), cycling);
        alive[v] &= ~(leaving | cycling);
        any_alive |= alive[v];
      }
    }
    if (group == look) {
      look += (look + 1) / 2;
      UNROLL for (uint v = 0; v < VECTORS; v++) seen[v] = z[v];
    }
    n += GROUP;
  }
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    orbits->z[v] = z[v];
    orbits->alive[v] = alive[v];
  }
  if (lanes_any(any_left)) advance_exactly(orbits, left_from, left_n, left, view);
}

/* Advance orbits at z₀ by `groups` groups. */
static void advance_from_start(advance_orbits *orbits, uint groups, bool shortcuts, const advance_view *view) {
  advance_open(orbits, shortcuts, view);
  advance_run(orbits, GROUP, groups - 1, shortcuts, view);
}
