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

/* Planes of words that the results have. */
#define PLANES (1 + 2 * SMOOTH)

/* Write the results of the lanes that are decided: those that escaped, those known never to and, where the cap is
 * reached, the rest. `results` holds planes of `pixels` words: counts and, with SMOOTH, smooth steps and norms (float
 * bits). Where all lanes have pixels that lie as tiles, a tile's rows are `row_distance` words apart; else it is 0. */
static void advance_write(const advance_orbits *orbits, uint cap, bool cap_reached, global uint *results, uint pixels,
                          uint row_distance) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    const int_lanes alive = orbits->alive[v];
    uint plane[PLANES][LANES];
    const uint_lanes cap_lanes = (uint_lanes)(cap), count = select(min(orbits->count[v], cap_lanes), cap_lanes, alive);
    lanes_store(count, plane[0]);
#if SMOOTH
    const int_lanes inside = lanes_mask(count == cap_lanes);
    lanes_store(select(orbits->smooth_step[v], cap_lanes, inside), plane[1]);
    lanes_store(select(LANED(as_uint)(orbits->smooth_norm[v]), (uint_lanes)(0), inside), plane[2]);
#endif
    uint index[LANES];
    int undecided[LANES];
    lanes_store(orbits->index[v], index);
    const bool tile = row_distance && (cap_reached || !lanes_any(alive));
    if (!tile) lanes_store(cap_reached ? (int_lanes)(0) : alive, undecided);
    for (uint p = 0; p < PLANES; p++) {
      global uint *words = results + p * (size_t)pixels;
      if (tile) {
        UNROLL for (uint row = 0; row < LANE_ROWS; row++) {
          global uint *first = words + index[0] + row * row_distance;
          UNROLL for (uint column = 0; column < LANE_COLUMNS; column++)
            first[column] = plane[p][row * LANE_COLUMNS + column];
        }
      } else {
        for (uint l = 0; l < LANES; l++)
          if (index[l] != NO_PIXEL && !undecided[l]) words[index[l]] = plane[p][l];
      }
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
