/* What a launch leaves behind: the results of orbits that are decided, and the list of those that go on.
 *
 * LANE_COLUMNS   a vector of LANES orbits of a block is a tile of LANE_COLUMNS columns of pixels */
#ifndef LANE_COLUMNS
#error "LANE_COLUMNS is not defined"
#endif
#if LANES % LANE_COLUMNS != 0
#error "LANES must be a multiple of LANE_COLUMNS"
#endif
#define LANE_ROWS (LANES / LANE_COLUMNS)

/* Words that a pixel has in the results, and where each plane's words begin among them: mandelcl/core/planes.py
 * decides. */
#if !defined(RESULT_WORDS) || !defined(PLANE_COUNTS) || (SMOOTH && !defined(PLANE_SMOOTH)) || \
    (CERTIFIED && !defined(PLANE_CERTIFIED)) || (DISTANCE && !defined(PLANE_DISTANCE)) || \
    (LAST && !defined(PLANE_LAST))
#error "RESULT_WORDS, PLANE_COUNTS and, of each other plane that is kept, PLANE_NAME must be defined"
#endif

#if DISTANCE || LAST || TRAIL
/* The bits of a float; 0 in the lanes of the mask. */
static uint_lanes result_float(float_lanes value, int_lanes mask) {
  return select(LANED(as_uint)(value), (uint_lanes)(0), mask);
}
#endif

/* Write the results of the lanes that are decided: those that escaped, those known never to and, where the cap is
 * reached, the rest. `results` holds RESULT_WORDS times `pixels` words: the counts and, with SMOOTH, the low words of
 * smooth steps and norms (float bits); with CERTIFIED, whether counts are proved; with DISTANCE norms and slopes, with
 * LAST the last z, all as float bits; with TRAIL, of each of its planes, the low word of the smooth step, its norm and
 * what the iterates come to. Where all lanes have pixels that lie as tiles, a tile's rows are `row_distance` words
 * apart; else it is 0. */
static void advance_write(const advance_orbits *orbits, count_scalar max_iterations, bool limit_reached,
                          global uint *results, uint pixels, uint row_distance) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    const int_lanes alive = orbits->alive[v];
    uint word[RESULT_WORDS][LANES];
    const count_lanes limit_lanes = (count_lanes)(max_iterations);
    const count_lanes count = counts_select(min(orbits->count[v], limit_lanes), limit_lanes, alive);
    uint_lanes count_words[COUNT_WORDS];
    counts_pack(count, count_words);
    UNROLL for (uint w = 0; w < COUNT_WORDS; w++) lanes_store(count_words[w], word[PLANE_COUNTS + w]);
#if SMOOTH
    const int_lanes inside = lanes_mask(count == limit_lanes);
    lanes_store(counts_low(counts_select(orbits->smooth_step[v], limit_lanes, inside)), word[PLANE_SMOOTH]);
    lanes_store(select(LANED(as_uint)(orbits->smooth_norm[v]), (uint_lanes)(0), inside), word[PLANE_SMOOTH + 1]);
#endif
#if CERTIFIED
    lanes_store(select((uint_lanes)(0), (uint_lanes)(1), orbits->certified[v]), word[PLANE_CERTIFIED]);
#endif
#if DISTANCE || LAST || TRAIL
    const int_lanes stays = lanes_mask(count == limit_lanes);
#endif
#if DISTANCE
    lanes_store(result_float(orbits->smooth_norm[v], stays), word[PLANE_DISTANCE]);
    lanes_store(result_float(orbits->slope_re[v], stays), word[PLANE_DISTANCE + 1]);
    lanes_store(result_float(orbits->slope_im[v], stays), word[PLANE_DISTANCE + 2]);
#endif
#if LAST
    lanes_store(result_float(orbits->last_re[v], stays), word[PLANE_LAST]);
    lanes_store(result_float(orbits->last_im[v], stays), word[PLANE_LAST + 1]);
#endif
#if TRAIL
    UNROLL for (uint k = 0; k < TRAIL_TERMS; k++) {
      const uint first = trail_words(k);
      lanes_store(counts_low(counts_select(orbits->smooth_step[v], limit_lanes, stays)), word[first]);
      lanes_store(result_float(orbits->smooth_norm[v], stays), word[first + 1]);
      lanes_store(result_float(orbits->trail_before[v][k], stays), word[first + 2]);
      lanes_store(result_float(orbits->trail_after[v][k], stays), word[first + 3]);
    }
#endif
    uint index[LANES];
    int undecided[LANES];
    lanes_store(orbits->index[v], index);
    const bool tile = row_distance && (limit_reached || !lanes_any(alive));
    if (!tile) lanes_store(limit_reached ? (int_lanes)(0) : alive, undecided);
    for (uint w = 0; w < RESULT_WORDS; w++) {
      global uint *words = results + w * (size_t)pixels;
      if (tile) {
        UNROLL for (uint row = 0; row < LANE_ROWS; row++) {
          global uint *first = words + index[0] + row * row_distance;
          UNROLL for (uint column = 0; column < LANE_COLUMNS; column++)
            first[column] = word[w][row * LANE_COLUMNS + column];
        }
      } else {
        for (uint l = 0; l < LANES; l++)
          if (index[l] != NO_PIXEL && !undecided[l]) words[index[l]] = word[w][l];
      }
    }
  }
}

/* The words of vector v of the orbits: its states and, with TRAIL, what is kept beside them. */
static void advance_pack(const advance_orbits *orbits, uint v, uint_lanes words[ORBIT_SAVED_WORDS]) {
  orbit_pack(orbits->state[v], words);
#if TRAIL && METHOD_BEHIND
  number_pack(orbits->behind[v], words + ORBIT_STATE_WORDS);
#endif
}

/* Append the lanes that are alive to the list of survivors: rows of `capacity` words, the index first, then the state.
 * Their order is left to chance; the index says whose each is. */
static void advance_save(const advance_orbits *orbits, global uint *survivors, global uint *survivor_total,
                         uint capacity) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    if (!lanes_any(orbits->alive[v])) continue;
    uint index[LANES], word[ORBIT_SAVED_WORDS][LANES];
    int alive[LANES];
    uint_lanes words[ORBIT_SAVED_WORDS];
    advance_pack(orbits, v, words);
    for (uint w = 0; w < ORBIT_SAVED_WORDS; w++) lanes_store(words[w], word[w]);
    lanes_store(orbits->index[v], index);
    lanes_store(orbits->alive[v], alive);
    uint alive_total = 0;
    for (uint l = 0; l < LANES; l++) alive_total += alive[l] ? 1 : 0;
    uint slot = atomic_add(survivor_total, alive_total);
    for (uint l = 0; l < LANES; l++) {
      if (!alive[l]) continue;
      survivors[slot] = index[l];
      for (uint w = 0; w < ORBIT_SAVED_WORDS; w++) survivors[(w + 1) * (size_t)capacity + slot] = word[w][l];
      slot++;
    }
  }
}
