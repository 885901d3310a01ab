/* What all loops share: the orbits of a work-item, what a launch needs of the job, and the way to the smooth radius.
 * How orbits advance is the business of the advance_*.cl that follows, where they come from that of the orbits_*.cl,
 * and what an orbit's state is that of the method.
 *
 * VECTORS        independent vectors of LANES orbits in a work-item: they hide the latency of a step
 * SMOOTH         1: note at which step and |z|² escaped orbits leave the smooth radius
 * DISTANCE       1: note |z|² and its slope there; the method then carries derivatives
 * LAST           1: note z there
 * TRAIL          1: note what the last iterates until there come to; TRAIL_TERMS are of how many planes
 * CERTIFIED      1: also say whether counts are proved; only some loops can
 * SMOOTH_LIMIT   steps after the escape in which they must get there: at c = −2 and R² just below 4 one never does */
#if !defined(VECTORS) || !defined(SMOOTH) || !defined(SMOOTH_LIMIT) || !defined(CERTIFIED) || !defined(DISTANCE) || \
    !defined(LAST) || !defined(TRAIL) || (TRAIL && !defined(TRAIL_TERMS))
#error "VECTORS, SMOOTH, DISTANCE, LAST, TRAIL, SMOOTH_LIMIT and CERTIFIED must be defined"
#endif

/* Whether escaped orbits are carried on to the smooth radius. */
#define FOLLOWED (SMOOTH || DISTANCE || LAST || TRAIL)

/* The index of a lane that has no pixel. */
#define NO_PIXEL 0xffffffffu

/* What a launch needs of the job, the same for all orbits: its words are R², the map's, and the formula's parameters;
 * `method` are words of the method's own. */
typedef struct {
  number_real radius_squared;
  pixel_map map;
  global const uint *parameters;
  global const uint *method;
  count_scalar max_iterations;
} advance_view;

/* The orbits of a work-item. `index` is a pixel's place in its block; `alive` masks the lanes still iterating. For
 * those that are not, `count` is the step at which they left the disc and, where they are followed, `smooth_step` and
 * `smooth_norm` the step and |z|² at which they left the smooth radius, `slope_re` and `slope_im` the slope of |z|²/2
 * there, `last_re` and `last_im` z, `trail_before` and `trail_after` what the iterates up to the step before, and up to
 * that one, come to; `certified` masks counts that are proved. `behind` is z where the stride before began. */
typedef struct {
  orbit_state state[VECTORS];
  orbit_constant c[VECTORS];
  int_lanes alive[VECTORS];
  uint_lanes index[VECTORS];
  count_lanes count[VECTORS];
#if FOLLOWED
  count_lanes smooth_step[VECTORS];
  float_lanes smooth_norm[VECTORS];
#endif
#if DISTANCE
  float_lanes slope_re[VECTORS], slope_im[VECTORS];
#endif
#if LAST
  float_lanes last_re[VECTORS], last_im[VECTORS];
#endif
#if TRAIL
  float_lanes trail_before[VECTORS][TRAIL_TERMS], trail_after[VECTORS][TRAIL_TERMS];
#if METHOD_BEHIND
  number_complex behind[VECTORS];
#endif
#endif
#if CERTIFIED
  int_lanes certified[VECTORS];
#endif
} advance_orbits;

/* 32-bit words of a saved orbit. */
#if TRAIL && METHOD_BEHIND
#define ORBIT_SAVED_WORDS (ORBIT_STATE_WORDS + NUMBER_STATE_WORDS)
#else
#define ORBIT_SAVED_WORDS ORBIT_STATE_WORDS
#endif

static advance_view advance_load_view(global const uint *words, global const uint *method_words,
                                      count_scalar max_iterations) {
  advance_view view;
  view.radius_squared = number_load(words);
  view.map = map_load(words + NUMBER_WORDS);
  view.parameters = words + NUMBER_WORDS + MAP_WORDS;
  view.method = method_words;
  view.max_iterations = max_iterations;
  return view;
}

/* Where an orbit has left the disc: z and, with DISTANCE, its derivatives. */
#if DISTANCE
typedef struct {
  number_far z;
  formula_derivative d;
} advance_left;

static advance_left advance_left_keep(advance_left left, advance_left other, int_lanes mask) {
  const advance_left kept = {number_far_keep(left.z, other.z, mask), derivatives_keep(left.d, other.d, mask)};
  return kept;
}
#else
#define advance_left number_far
#define advance_left_keep number_far_keep
#endif

#if DISTANCE || LAST
/* A part of a vector as it is kept: no denormal number, and one infinity in place of all and of NaN. */
static float_lanes advance_part(float_lanes part) {
  const float_lanes cut = select(part, (float_lanes)(0), lanes_mask(fabs(part) < 0x1p-100f));
  return select((float_lanes)(INFINITY), cut, lanes_mask(fabs(cut) < INFINITY));
}
#endif

#if LAST
static void advance_note_last(advance_orbits *orbits, uint v, number_far z, int_lanes within) {
  orbits->last_re[v] = select(orbits->last_re[v], advance_part(number_far_to_float(z.re)), within);
  orbits->last_im[v] = select(orbits->last_im[v], advance_part(number_far_to_float(z.im)), within);
}
#endif

#if DISTANCE
/* Carry lanes on from where they left the disc until they leave the smooth radius, for at most SMOOTH_LIMIT steps, and
 * note where they got to. */
static void advance_smooth(advance_orbits *orbits, uint v, advance_left left, int_lanes within) {
  const number_far c = orbit_far_constant(orbits->c[v]);
  const formula_derivative move = orbit_move(orbits->c[v]);
  advance_left there = left, last = left;
  uint_lanes phase = counts_low(orbits->count[v] % (count_lanes)(FORMULA_PHASES));
  int_lanes on = within;
  ROLLED for (uint step = 0; lanes_any(on); step++) {
    const count_lanes here = add_sat(orbits->count[v], (count_lanes)(step));
    orbits->smooth_step[v] = counts_select(orbits->smooth_step[v], here, on);
    orbits->smooth_norm[v] = select(orbits->smooth_norm[v], number_far_norm(there.z), on);
    last = advance_left_keep(last, there, on);
    on &= step < SMOOTH_LIMIT ? ~number_far_outside(there.z) : (int_lanes)(0);
    there.d = formula_derivative_step(derivative_point_from_far(there.z), derivative_point_from_far(c), there.d, move,
                                      phase);
    there.z = formula_far_step(there.z, c, phase);
    phase = (phase + (uint_lanes)(1)) % (uint_lanes)(FORMULA_PHASES);
  }
  float_lanes re, im;
  derivatives_slope(last.z, last.d, &re, &im);
  orbits->slope_re[v] = select(orbits->slope_re[v], advance_part(re), within);
  orbits->slope_im[v] = select(orbits->slope_im[v], advance_part(im), within);
#if LAST
  advance_note_last(orbits, v, last.z, within);
#endif
}
#elif FOLLOWED
/* Carry lanes on from the z at which they left the disc until they leave the smooth radius, for at most SMOOTH_LIMIT
 * steps, and note where they got to. */
static void advance_smooth(advance_orbits *orbits, uint v, number_far left, int_lanes within) {
  const number_far c = orbit_far_constant(orbits->c[v]);
  number_far z = left;
  uint_lanes phase = counts_low(orbits->count[v] % (count_lanes)(FORMULA_PHASES));
  ROLLED for (uint step = 0; lanes_any(within); step++) {
    const count_lanes here = add_sat(orbits->count[v], (count_lanes)(step));
    orbits->smooth_step[v] = counts_select(orbits->smooth_step[v], here, within);
    orbits->smooth_norm[v] = select(orbits->smooth_norm[v], number_far_norm(z), within);
#if LAST
    advance_note_last(orbits, v, z, within);
#endif
    within &= step < SMOOTH_LIMIT ? ~number_far_outside(z) : (int_lanes)(0);
    z = formula_far_step(z, c, phase);
    phase = (phase + (uint_lanes)(1)) % (uint_lanes)(FORMULA_PHASES);
  }
}
#endif
