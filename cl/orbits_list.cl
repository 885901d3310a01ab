/* The pixels of a block that `pixels` names, `total` of them, row·width + column each, from their start. */
KERNEL void advance_list(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                         global const uint *pixels, uint total, uint strides, ulong max_iterations, uint limit_reached,
                         uint shortcuts, global uint *results, global uint *survivors, global uint *survivor_total,
                         uint capacity) {
  const advance_view view = advance_load_view(view_words, method_words, max_iterations);
  const uint_lanes lane = orbits_lane_numbers();
  advance_orbits orbits;
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const uint_lanes slot = (uint_lanes)(((uint)get_global_id(0) * VECTORS + v) * LANES) + lane;
    uint slots[LANES];
    lanes_store(min(slot, (uint_lanes)(total - 1)), slots);
    for (uint l = 0; l < LANES; l++) slots[l] = pixels[slots[l]];
    const uint_lanes index = lanes_load(slots);
    const number_complex point = orbits_point(index % (uint_lanes)(size.x), index / (uint_lanes)(size.x), offset,
                                              &view);
    orbits_place(&orbits, v, orbit_start(point), orbit_constant_of(point, view.parameters, view.method), index,
                 lanes_mask(slot < (uint_lanes)(total)));
  }
  advance_begin(&orbits, &view);
  advance_run(&orbits, 0, strides, shortcuts != 0, &view);
  orbits_finish(&orbits, max_iterations, limit_reached, results, size.x * size.y, 0, survivors, survivor_total,
                capacity);
}
