/* All pixels of rows first_row … first_row + rows − 1 of a block of `size` pixels, from their start. Reads nothing but
 * the view: a position follows from the work-item's id. */
KERNEL void advance_block(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                          uint first_row, uint rows, uint strides, ulong max_iterations, uint limit_reached,
                          uint shortcuts, global uint *results, global uint *survivors, global uint *survivor_total,
                          uint capacity) {
  const advance_view view = advance_load_view(view_words, method_words, max_iterations);
  const uint_lanes lane = orbits_lane_numbers();
  const uint_lanes column = (uint_lanes)((uint)get_global_id(0) * LANE_COLUMNS) + lane % (uint_lanes)(LANE_COLUMNS);
  const uint_lanes top = (uint_lanes)((uint)get_global_id(1) * (VECTORS * LANE_ROWS)) +
      lane / (uint_lanes)(LANE_COLUMNS);
  advance_orbits orbits;
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const uint_lanes band_row = top + (uint_lanes)(v * LANE_ROWS);
    const uint_lanes row = band_row + (uint_lanes)(first_row);
    const int_lanes exists = lanes_mask(column < (uint_lanes)(size.x)) & lanes_mask(band_row < (uint_lanes)(rows));
    const number_complex point = orbits_point(column, row, offset, &view);
    orbits_place(&orbits, v, orbit_start(point), orbit_constant_of(point, view.parameters, view.method),
                 row * (uint_lanes)(size.x) + column, exists);
  }
  const bool whole = ((uint)get_global_id(0) + 1) * LANE_COLUMNS <= size.x
                     && ((uint)get_global_id(1) + 1) * (VECTORS * LANE_ROWS) <= rows;
  advance_from_start(&orbits, strides, shortcuts != 0, &view);
  orbits_finish(&orbits, max_iterations, limit_reached, results, size.x * size.y, whole ? size.x : 0, survivors,
                survivor_total, capacity);
}
