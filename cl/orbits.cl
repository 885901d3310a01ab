/* What all sources of orbits share: each fills a work-item's orbits and hands them to the loop.
 *
 * Of a block, a vector is a tile of LANE_COLUMNS columns of pixels; a work-item's vectors lie below each other, and a
 * work-group takes a tile of work-items. */
/* 0, 1, 2 … */
static uint_lanes orbits_lane_numbers(void) {
  uint lane[LANES];
  for (uint l = 0; l < LANES; l++) lane[l] = l;
  return lanes_load(lane);
}

/* The point of pixels of a block whose corner pixel (0, 0) is `offset` columns and rows (upward) from the anchor. */
static number_complex orbits_point(uint_lanes column, uint_lanes row, int2 offset, const advance_view *view) {
  return map_point((int_lanes)(offset.x) + LANED(as_int)(column), (int_lanes)(offset.y) - LANED(as_int)(row),
                   &view->map);
}

/* The points of pixels at places of a list, which has row·width + column of each. */
static number_complex orbits_listed_point(uint_lanes place, global const uint *pixels, int2 offset, uint2 size,
                                          const advance_view *view) {
  uint pixel[LANES];
  lanes_store(place, pixel);
  for (uint l = 0; l < LANES; l++) pixel[l] = pixels[pixel[l]];
  const uint_lanes index = lanes_load(pixel);
  return orbits_point(index % (uint_lanes)(size.x), index / (uint_lanes)(size.x), offset, view);
}

/* Put an orbit vector into place v: nothing known of it yet but where it is. */
static void orbits_place(advance_orbits *orbits, uint v, orbit_state state, orbit_constant c, uint_lanes index,
                         int_lanes exists) {
  orbits->state[v] = state;
  orbits->c[v] = c;
  orbits->alive[v] = exists;
  orbits->index[v] = select((uint_lanes)(NO_PIXEL), index, exists);
  orbits->count[v] = (count_lanes)(0);
#if FOLLOWED
  orbits->smooth_step[v] = (count_lanes)(0);
  orbits->smooth_norm[v] = (float_lanes)(0);
#endif
#if DISTANCE
  orbits->slope_re[v] = orbits->slope_im[v] = (float_lanes)(0);
#endif
#if LAST
  orbits->last_re[v] = orbits->last_im[v] = (float_lanes)(0);
#endif
#if TRAIL
  UNROLL for (uint k = 0; k < TRAIL_TERMS; k++)
    orbits->trail_before[v][k] = orbits->trail_after[v][k] = (float_lanes)(0);
#if METHOD_BEHIND
  orbits->behind[v] = orbit_z(state);
#endif
#endif
#if CERTIFIED
  orbits->certified[v] = (int_lanes)(0);
#endif
}

/* Take what advance_pack keeps beside the states of vector v. */
static void orbits_unpack_behind(advance_orbits *orbits, uint v, const uint_lanes words[ORBIT_SAVED_WORDS]) {
#if TRAIL && METHOD_BEHIND
  orbits->behind[v] = number_unpack(words + ORBIT_STATE_WORDS);
#endif
}

static void orbits_finish(const advance_orbits *orbits, count_scalar max_iterations, uint limit_reached,
                          global uint *results, uint pixels, uint row_distance, global uint *survivors,
                          global uint *survivor_total, uint capacity) {
  advance_write(orbits, max_iterations, limit_reached != 0, results, pixels, row_distance);
  if (!limit_reached) advance_save(orbits, survivors, survivor_total, capacity);
}
