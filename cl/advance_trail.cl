/* The last iterates of escaped orbits: those up to the step at which they left the smooth radius, m, and those up to
 * m − 1, TRAIL_WINDOW at most of both. Planes made of them have no steps where counts do, since the host goes over from
 * the latter to the former as the continuous count does. z₀ is none of them.
 *
 * The text before this one says what an iterate adds: TRAIL_TERMS, trail_terms and trail_fold. */
#define TRAIL_WINDOW 16

/* The last iterates of a vector: of each lane, by how many steps before m they are. */
typedef struct {
  float re[TRAIL_WINDOW + 1][LANES], im[TRAIL_WINDOW + 1][LANES];
} trail_iterates;

/* Note z_n of the lanes of the mask, if it is among the last; the smooth step is known. */
static void trail_note(const advance_orbits *orbits, uint v, trail_iterates *iterates, number_far z, count_lanes n,
                       int_lanes mask) {
  const uint_lanes before = counts_saturated(orbits->smooth_step[v] - n);
  const int_lanes noted = mask & lanes_mask(n >= (count_lanes)(1)) &
                          lanes_mask(before <= (uint_lanes)(TRAIL_WINDOW));
  if (!lanes_any(noted)) return;
  const trail_point point = trail_point_from(z);
  float re[LANES], im[LANES];
  uint place[LANES];
  int is_noted[LANES];
  lanes_store(point.re, re);
  lanes_store(point.im, im);
  lanes_store(before, place);
  lanes_store(noted, is_noted);
  for (uint l = 0; l < LANES; l++) {
    if (!is_noted[l]) continue;
    iterates->re[place[l]][l] = re[l];
    iterates->im[place[l]][l] = im[l];
  }
}

/* Note the iterates of the lanes of the mask from the one at which they left the disc, z, to the smooth step, and say
 * what all that are noted come to, the earliest first. */
static void trail_end(advance_orbits *orbits, uint v, trail_iterates *iterates, number_far z, int_lanes mask) {
  const number_far c = orbit_far_constant(orbits->c[v]);
  const count_lanes last = orbits->smooth_step[v];
  count_lanes n = orbits->count[v];
  int_lanes on = mask;
  number_far there = z;
  ROLLED for (; lanes_any(on); n += (count_lanes)(1)) {
    trail_note(orbits, v, iterates, there, n, on);
    on &= lanes_mask(n < last);
    there = formula_far_step(there, c, counts_low(n % (count_lanes)(FORMULA_PHASES)));
  }
  const trail_point c_point = trail_point_from(c);
  float_lanes all_before[TRAIL_TERMS], all_after[TRAIL_TERMS];
  UNROLL for (uint k = 0; k < TRAIL_TERMS; k++) all_before[k] = all_after[k] = trail_start(k);
  ROLLED for (uint steps = TRAIL_WINDOW + 1; steps-- > 0;) {
    const int_lanes there_is = mask & lanes_mask((count_lanes)(steps) < last);
    if (!lanes_any(there_is)) continue;
    float re[LANES], im[LANES];
    for (uint l = 0; l < LANES; l++) {
      re[l] = iterates->re[steps][l];
      im[l] = iterates->im[steps][l];
    }
    const float_lanes none = (float_lanes)(0);
    const trail_point point = {select(none, lanes_load(re), there_is), select(none, lanes_load(im), there_is)};
    float_lanes terms[TRAIL_TERMS];
    trail_terms(point, c_point, terms);
    UNROLL for (uint k = 0; k < TRAIL_TERMS; k++) {
      const float_lanes before = trail_fold(k, all_before[k], terms[k]), after = trail_fold(k, all_after[k], terms[k]);
      if (steps > 0) all_before[k] = select(all_before[k], before, there_is);
      if (steps < TRAIL_WINDOW) all_after[k] = select(all_after[k], after, there_is);
    }
  }
  UNROLL for (uint k = 0; k < TRAIL_TERMS; k++) {
    orbits->trail_before[v][k] = select(orbits->trail_before[v][k], all_before[k], mask);
    orbits->trail_after[v][k] = select(orbits->trail_after[v][k], all_after[k], mask);
  }
}
