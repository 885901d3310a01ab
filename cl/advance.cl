/* The loop: advance orbits from one iteration to another, note the count of each that escapes, and save those that
 * are still alive for a later launch. Where the orbits come from is the business of the source_*.cl that follow.
 *
 * VECTORS        independent vectors of LANES orbits in a work-item: they hide the latency of a step
 * GROUP          steps between two tests for escape, of which UNROLLED at a time are written out
 * SMOOTH         1: also carry escaped orbits on to the smooth radius
 * SMOOTH_LIMIT   steps after the escape in which they must get there: at c = −2 and R² just below 4 one never does
 *
 * Testing only every GROUP steps is exact: an orbit outside a radius of 2 or more never comes back, so a vector
 * that is outside at the end of a group is replayed from the group's start, testing each step. */
#if !defined(VECTORS) || !defined(GROUP) || !defined(UNROLLED) || !defined(SMOOTH) || !defined(SMOOTH_LIMIT)
#error "VECTORS, GROUP, UNROLLED, SMOOTH and SMOOTH_LIMIT must be defined"
#endif
#if GROUP % UNROLLED != 0
#error "GROUP must be a multiple of UNROLLED"
#endif

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

/* Find the exact counts of the lanes in `escaped_lanes`, which left the disc within the group that began with
 * z_start[v] at iteration n. Counts saturate: near 2³² the last group reaches past the largest count. The loop over v
 * is not unrolled: this is the rare path, and one copy of it is enough. */
static void advance_replay(advance_orbits *orbits, const number_complex *z_start, const int_lanes *escaped_lanes,
                           uint n, const advance_view *view) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    number_complex z = z_start[v];
    int_lanes escaped = escaped_lanes[v]; /* and not yet found */
#if SMOOTH
    number_far far = number_far_from(z);
#endif
    ROLLED for (uint step = 1; lanes_any(escaped); step++) {
      z = formula_step(z, orbits->c[v]);
      const int_lanes found = escaped & number_outside(z, view->radius_squared);
      orbits->count[v] = select(orbits->count[v], (uint_lanes)(add_sat(n, step)), found);
      escaped &= ~found;
#if SMOOTH
      far = number_far_keep(far, number_far_from(z), found);
#endif
    }
#if SMOOTH
    advance_smooth(orbits, v, far, escaped_lanes[v]);
#endif
  }
}

/* Advance all vectors by `groups` groups from iteration n, or until every lane has escaped. The orbits in flight are
 * kept in z and c of this function, so that the compiler holds them in registers. */
static void advance_run(advance_orbits *orbits, uint n, uint groups, const advance_view *view) {
  number_complex z[VECTORS], c[VECTORS];
  int_lanes alive[VECTORS], any_alive = (int_lanes)(0);
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    z[v] = orbits->z[v];
    c[v] = orbits->c[v];
    alive[v] = orbits->alive[v];
    any_alive |= alive[v];
  }
  for (uint group = 0; group < groups && lanes_any(any_alive); group++) {
    number_complex group_start[VECTORS];
    int_lanes escaped[VECTORS], any_escaped = (int_lanes)(0);
    UNROLL for (uint v = 0; v < VECTORS; v++) group_start[v] = z[v];
    ROLLED for (uint step = 0; step < GROUP; step += UNROLLED) {
      UNROLL for (uint k = 0; k < UNROLLED; k++) {
        UNROLL for (uint v = 0; v < VECTORS; v++) z[v] = formula_step(z[v], c[v]);
      }
    }
    UNROLL for (uint v = 0; v < VECTORS; v++) {
      escaped[v] = alive[v] & number_outside(z[v], view->radius_squared);
      any_escaped |= escaped[v];
    }
    if (lanes_any(any_escaped)) {
      number_complex replay_start[VECTORS];
      int_lanes replay_escaped[VECTORS];
      any_alive = (int_lanes)(0);
      UNROLL for (uint v = 0; v < VECTORS; v++) {
        replay_start[v] = group_start[v];
        replay_escaped[v] = escaped[v];
        alive[v] &= ~escaped[v];
        any_alive |= alive[v];
      }
      advance_replay(orbits, replay_start, replay_escaped, n, view);
    }
    n += GROUP;
  }
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    orbits->z[v] = z[v];
    orbits->alive[v] = alive[v];
  }
}

/* Write the results of the lanes that are decided: those that escaped and, where the cap is reached, the rest.
 * `results` holds planes of `pixels` words: counts and, with SMOOTH, smooth steps and norms (float bits). */
static void advance_write(const advance_orbits *orbits, uint cap, bool cap_reached, global uint *results, uint pixels) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    uint index[LANES], count[LANES];
    int alive[LANES];
    lanes_store(orbits->index[v], index);
    lanes_store(orbits->alive[v], alive);
    lanes_store(orbits->count[v], count);
#if SMOOTH
    uint smooth_step[LANES];
    float smooth_norm[LANES];
    lanes_store(orbits->smooth_step[v], smooth_step);
    lanes_store(orbits->smooth_norm[v], smooth_norm);
#endif
    for (uint l = 0; l < LANES; l++) {
      if (index[l] == NO_PIXEL || (alive[l] && !cap_reached)) continue;
      results[index[l]] = alive[l] ? cap : min(count[l], cap);
#if SMOOTH
      results[pixels + index[l]] = alive[l] ? cap : smooth_step[l];
      results[2 * pixels + index[l]] = alive[l] ? 0 : as_uint(smooth_norm[l]);
#endif
    }
  }
}

/* Append the lanes that are alive to the list of survivors: planes of `capacity` words, the index first, then z.
 * Their order is left to chance; the index says whose each is. */
static void advance_save(const advance_orbits *orbits, global uint *survivors, global uint *survivor_total,
                         uint capacity) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    if (!lanes_any(orbits->alive[v])) continue;
    uint index[LANES], word[NUMBER_STATE_WORDS][LANES];
    int alive[LANES];
    uint_lanes words[NUMBER_STATE_WORDS];
    number_pack(orbits->z[v], words);
    for (uint w = 0; w < NUMBER_STATE_WORDS; w++) lanes_store(words[w], word[w]);
    lanes_store(orbits->index[v], index);
    lanes_store(orbits->alive[v], alive);
    uint alive_total = 0;
    for (uint l = 0; l < LANES; l++) alive_total += alive[l] ? 1 : 0;
    uint slot = atomic_add(survivor_total, alive_total);
    for (uint l = 0; l < LANES; l++) {
      if (!alive[l]) continue;
      survivors[slot] = index[l];
      for (uint w = 0; w < NUMBER_STATE_WORDS; w++) survivors[(w + 1) * (size_t)capacity + slot] = word[w][l];
      slot++;
    }
  }
}
