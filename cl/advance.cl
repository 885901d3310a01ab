/* What all loops share: the orbits of a work-item, what a launch needs of the job, and the way to the smooth radius.
 * How orbits advance is the business of the advance_*.cl that follows, where they come from that of the orbits_*.cl,
 * and what an orbit's state is that of the method.
 *
 * VECTORS        independent vectors of LANES orbits in a work-item: they hide the latency of a step
 * SMOOTH         1: also carry escaped orbits on to the smooth radius
 * CERTIFIED      1: also say whether counts are proved; only some loops can
 * SMOOTH_LIMIT   steps after the escape in which they must get there: at c = −2 and R² just below 4 one never does */
#if !defined(VECTORS) || !defined(SMOOTH) || !defined(SMOOTH_LIMIT) || !defined(CERTIFIED)
#error "VECTORS, SMOOTH, SMOOTH_LIMIT and CERTIFIED must be defined"
#endif

/* The count of an orbit that is known never to escape: above any cap. */
#define INSIDE 0xffffffffu

/* The index of a lane that has no pixel. */
#define NO_PIXEL 0xffffffffu

/* What a launch needs of the job, the same for all orbits: its words are R², the map's, and the formula's parameters;
 * `method` are words of the method's own. */
typedef struct {
  number_real radius_squared;
  pixel_map map;
  global const uint *parameters;
  global const uint *method;
  uint cap;
} advance_view;

/* The orbits of a work-item. `index` is a pixel's place in its block; `alive` masks the lanes still iterating. For
 * those that are not, `count` is the step at which they left the disc and, for smooth colouring, `smooth_step` and
 * `smooth_norm` the step and |z|² at which they left the smooth radius; `certified` masks counts that are proved. */
typedef struct {
  orbit_state state[VECTORS];
  orbit_constant c[VECTORS];
  int_lanes alive[VECTORS];
  uint_lanes index[VECTORS];
  uint_lanes count[VECTORS];
#if SMOOTH
  uint_lanes smooth_step[VECTORS];
  float_lanes smooth_norm[VECTORS];
#endif
#if CERTIFIED
  int_lanes certified[VECTORS];
#endif
} advance_orbits;

static advance_view advance_load_view(global const uint *words, global const uint *method_words, uint cap) {
  advance_view view;
  view.radius_squared = number_load(words);
  view.map = map_load(words + NUMBER_WORDS);
  view.parameters = words + NUMBER_WORDS + MAP_WORDS;
  view.method = method_words;
  view.cap = cap;
  return view;
}

#if SMOOTH
/* Carry lanes on from the z at which they left the disc until they leave the smooth radius, for at most SMOOTH_LIMIT
 * steps, and note where they got to. */
static void advance_smooth(advance_orbits *orbits, uint v, number_far z, int_lanes within) {
  const number_far c = orbit_far_constant(orbits->c[v]);
  ROLLED for (uint step = 0; lanes_any(within); step++) {
    const uint_lanes here = add_sat(orbits->count[v], (uint_lanes)(step));
    orbits->smooth_step[v] = select(orbits->smooth_step[v], here, within);
    orbits->smooth_norm[v] = select(orbits->smooth_norm[v], number_far_norm(z), within);
    within &= step < SMOOTH_LIMIT ? ~number_far_outside(z) : (int_lanes)(0);
    z = formula_far_step(z, c);
  }
}
#endif
