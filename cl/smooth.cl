/* Counts and smooth fractions, of a block's results: what a host would make of them. A work-item makes LANES pixels.
 *
 * PLANE_COUNTS, PLANE_SMOOTH  where these planes' words begin */
#if !defined(PLANE_COUNTS) || !defined(PLANE_SMOOTH)
#error "PLANE_COUNTS and PLANE_SMOOTH must be defined"
#endif

/* `values` are the counts of `total` pixels, then the bits of their fractions, which are 0 inside. */
KERNEL void smooth(global const uint *results, uint total, uint max_iterations, global const uint *logarithms,
                   global uint *values) {
  const uint first = get_global_id(0) * LANES;
  if (first >= total) return;
  const uint_lanes count = pixel_words(results + PLANE_COUNTS * (size_t)total, first, total);
  global const uint *plane = results + PLANE_SMOOTH * (size_t)total;
  const float_lanes fraction = smooth_fraction(count, pixel_words(plane, first, total),
                                               pixel_words(plane + total, first, total), logarithms);
  const int_lanes inside = lanes_mask(count == (uint_lanes)(max_iterations));
  const uint_lanes bits = select(LANED(as_uint)(fraction), (uint_lanes)(0), inside);
  global uint *fractions = values + total;
  if (first + LANES <= total) {
    lanes_store(count, values + first);
    lanes_store(bits, fractions + first);
    return;
  }
  uint counts[LANES], last[LANES];
  lanes_store(count, counts);
  lanes_store(bits, last);
  for (uint l = 0; first + l < total; l++) {
    values[first + l] = counts[l];
    fractions[first + l] = last[l];
  }
}
