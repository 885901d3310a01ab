/* The orbits of a block that were saved at iteration n: `total` entries of `saved`, laid out as advance_save does. If
 * `listed` is not 0, their indices are places in a list of so many `pixels`, as in advance_list. */
KERNEL void advance_survivors(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                              ulong n, uint strides, ulong max_iterations, uint limit_reached, uint shortcuts,
                              global uint *results, global const uint *saved, uint total, global const uint *pixels,
                              uint listed, global uint *survivors, global uint *survivor_total, uint capacity) {
  const advance_view view = advance_load_view(view_words, method_words, max_iterations);
  const uint_lanes lane = orbits_lane_numbers();
  advance_orbits orbits;
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const uint_lanes slot = (uint_lanes)(((uint)get_global_id(0) * VECTORS + v) * LANES) + lane;
    uint slots[LANES], word[ORBIT_SAVED_WORDS + 1][LANES];
    lanes_store(min(slot, (uint_lanes)(total - 1)), slots);
    for (uint w = 0; w <= ORBIT_SAVED_WORDS; w++) {
      for (uint l = 0; l < LANES; l++) word[w][l] = saved[w * (size_t)capacity + slots[l]];
    }
    const uint_lanes index = lanes_load(word[0]);
    uint_lanes words[ORBIT_SAVED_WORDS];
    for (uint w = 0; w < ORBIT_SAVED_WORDS; w++) words[w] = lanes_load(word[w + 1]);
    const number_complex point =
        listed ? orbits_listed_point(index, pixels, offset, size, &view)
               : orbits_point(index % (uint_lanes)(size.x), index / (uint_lanes)(size.x), offset, &view);
    orbits_place(&orbits, v, orbit_unpack(words), orbit_constant_of(point, view.parameters, view.method), index,
                 lanes_mask(slot < (uint_lanes)(total)));
    orbits_unpack_behind(&orbits, v, words);
  }
  advance_run(&orbits, n, strides, shortcuts != 0, &view);
  orbits_finish(&orbits, max_iterations, limit_reached, results, listed ? listed : size.x * size.y, 0, survivors,
                survivor_total, capacity);
}
