/* Pixels that follow from rectangles, from their start: those that divide a rectangle into parts or, where `parts` is
 * 0, those inside it. `slots` is how many places a rectangle has for them (rectangles.cl says which pixel lies in
 * which); this launch takes `total` of all rectangles' slots, from `first` on. `ids` are the rectangles in `rectangles`
 * concerned. Of the rectangles in `ids`, listed[level] are worked on (see rectangles_listed). Pixels that `proved`
 * covers, a word for each child of each of these, get their count from there. */
KERNEL void advance_rectangles(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                               global const uint *rectangles, global const uint *ids, global const count_scalar *proved,
                               uint2 parts, uint2 most, uint outer, uint slots, uint first, uint total_slots,
                               global const uint *listed, uint level, uint strides, ulong max_iterations,
                               uint limit_reached, uint shortcuts, global uint *results, global uint *survivors,
                               global uint *survivor_total, uint capacity) {
  const uint total = rectangles_listed(listed, level, slots, total_slots);
  if ((uint)get_global_id(0) * VECTORS * LANES >= total) return;
  const advance_view view = advance_load_view(view_words, method_words, max_iterations);
  advance_orbits orbits;
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    uint columns[LANES], rows[LANES];
    int exists[LANES];
    ROLLED for (uint l = 0; l < LANES; l++) {
      const uint place = ((uint)get_global_id(0) * VECTORS + v) * LANES + l, slot = first + min(place, total - 1);
      const rectangle r = rectangles_load(rectangles, ids[slot / slots]);
      uint column = 0, row = 0;
      bool found;
      if (parts.x) {
        found = rectangles_dividing(r, slot % slots, parts, most, outer, &column, &row);
        const count_scalar count = found
            ? rectangles_covered(r, column, row, parts, proved + slot / slots * (parts.x * parts.y)) : 0;
        if (found && count != COUNT_NONE) {
          /* What judges the neighbours looks there before it is filled. */
          count_write(results, (size_t)row * size.x + column, (size_t)size.x * size.y, count);
          found = false;
        }
      } else {
        found = rectangles_inside(r, slot % slots, most, &column, &row);
      }
      exists[l] = found && place < total ? -1 : 0;
      columns[l] = column;
      rows[l] = row;
    }
    const uint_lanes x = lanes_load(columns), y = lanes_load(rows);
    const number_complex point = orbits_point(x, y, offset, &view);
    orbits_place(&orbits, v, orbit_start(point), orbit_constant_of(point, view.parameters, view.method),
                 y * (uint_lanes)(size.x) + x, lanes_load(exists));
  }
  advance_begin(&orbits, &view);
  advance_run(&orbits, 0, strides, shortcuts != 0, &view);
  orbits_finish(&orbits, max_iterations, limit_reached, results, size.x * size.y, 0, survivors, survivor_total,
                capacity);
}
