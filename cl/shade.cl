/* Colours: from a block's results to places in a palette's table, or to their colours, as mandelcl/base/smooth.py and
 * mandelcl/colour/cycles.py do it, to the last bit. Everything is whole numbers but for single sums and conversions of
 * floats, which every device rounds alike. A work-item shades LANES pixels.
 *
 * PLANE_COUNTS, PLANE_SMOOTH  where these planes' words begin
 * FRACTIONS   1 where the smooth fraction counts
 * ROOTED      1 where a bend of the count, such as its fourth root, advances the palette, 0 where the count does
 * INDEXED     1 where a pixel is a byte, its place in the table; 0 where it is three, red, green and blue
 * DITHERED    1 where these three are rounded with thresholds, as mandelcl/colour/quantising.py does it */
#if !defined(FRACTIONS) || !defined(ROOTED) || !defined(INDEXED) || !defined(DITHERED) || !defined(PLANE_COUNTS) || \
    (FRACTIONS && !defined(PLANE_SMOOTH))
#error "FRACTIONS, ROOTED, INDEXED, DITHERED, PLANE_COUNTS and, with FRACTIONS, PLANE_SMOOTH must be defined"
#endif
#if INDEXED && DITHERED
#error "places are not dithered"
#endif
#if LANES % 4
#error "LANES must be a multiple of 4, whose colours fill whole words"
#endif

/* The high 32 bits of phase·size, where `phase` is a fraction of a cycle in 2⁻³² or 2⁻⁶⁴. */
#if ROOTED
#define BEND_BITS 0x41000000u /* 8 as a float's bits, and the largest float below 2⁵¹ */
#define MOST_BITS 0x58ffffffu

/* `bent` is 8 + count, with the fraction where it counts. */
static uint_lanes shade_rooted(float_lanes bent, global const uint *roots, uint size) {
  const float_lanes least = max(bent, (float_lanes)(8.0f));
  const uint_lanes bits = min(LANED(as_uint)(least), (uint_lanes)(MOST_BITS)) - BEND_BITS;
  uint_lanes start, rise;
  chords_read(roots, bits, &start, &rise);
  return mul_hi(start + chords_along(bits) * rise, (uint_lanes)(size));
}
#else
static ulong shade_wide(uint2 words) { return ((ulong)words.y << 32) | words.x; }

static uint_lanes shade_linear(ulong_lanes phase, uint size) {
  const ulong_lanes word = (ulong_lanes)(32), sizes = (ulong_lanes)(size);
  const ulong_lanes low = ((phase & (ulong_lanes)(0xffffffffu)) * sizes) >> word;
  return LANED(convert_uint)(((phase >> word) * sizes + low) >> word);
}
#endif

#if DITHERED
#define SHADE_SIDE 8 /* pixels after which thresholds repeat, in rows and columns */
#define SHADE_THRESHOLDS (SHADE_SIDE * SHADE_SIDE)

/* The colour of a place as a word: red in the low byte, then green and blue. `values` has the thresholds, row by row,
 * and then three channels for each place, 0 to 255. */
static uint shade_dithered(uint place, uint column, uint row, global const float *values) {
  const float threshold = values[row % SHADE_SIDE * SHADE_SIDE + column % SHADE_SIDE];
  const float3 scaled = vload3(place, values + SHADE_THRESHOLDS) + (float3)(threshold);
  const uint3 channels = convert_uint3(clamp(rint(scaled), (float3)(0.0f), (float3)(255.0f)));
  return channels.x | channels.y << 8 | channels.z << 16;
}
#endif

/* `colours` has a word for each place, the last for inside: red, green and blue from the low byte on. Where they are
 * dithered, `values` has them instead; `corner` is the first pixel's column and row, and a row has `columns` pixels. */
static void shade_put(uint_lanes place, uint first, global const uint *colours, global const float *values,
                      uint2 corner, uint columns, global uint *pixels) {
  uint places[LANES];
  lanes_store(place, places);
#if INDEXED
  UNROLL for (uint l = 0; l < LANES; l += 4)
    pixels[(first + l) / 4] = places[l] | places[l + 1] << 8 | places[l + 2] << 16 | places[l + 3] << 24;
#else
  uint colour[LANES];
#if DITHERED
  uint column = first % columns, row = first / columns;
  UNROLL for (uint l = 0; l < LANES; l++) {
    colour[l] = shade_dithered(places[l], corner.x + column, corner.y + row, values);
    column++;
    if (column == columns) {
      column = 0;
      row++;
    }
  }
#else
  UNROLL for (uint l = 0; l < LANES; l++) colour[l] = colours[places[l]];
#endif
  UNROLL for (uint l = 0; l < LANES; l += 4) {
    const uint a = colour[l], b = colour[l + 1], c = colour[l + 2], d = colour[l + 3];
    global uint *four = pixels + (first + l) / 4 * 3;
    four[0] = a | b << 24;
    four[1] = b >> 8 | c << 16;
    four[2] = c >> 16 | d << 8;
  }
#endif
}

/* Shade `total` pixels. `logarithms` and `roots` are chords. The phase is `start` + count·`per_count` +
 * fraction·`per_unit`, each the low and the high word of a fraction of 64 bits. `pixels` has room for a multiple of
 * LANES of them. `colours`, `values`, `corner` and `columns` are those of shade_put. */
KERNEL void shade(global const uint *results, uint total, uint max_iterations, global const uint *logarithms,
                  global const uint *roots, uint2 per_count, uint2 per_unit, uint2 start, uint size,
                  global const uint *colours, global const float *values, uint2 corner, uint columns,
                  global uint *pixels) {
  const uint first = get_global_id(0) * LANES;
  if (first >= total) return;
  const uint_lanes count = pixel_words(results + PLANE_COUNTS * (size_t)total, first, total);
#if FRACTIONS
  global const uint *smooth = results + PLANE_SMOOTH * (size_t)total;
  const float_lanes fraction = smooth_fraction(count, pixel_words(smooth, first, total),
                                              pixel_words(smooth + total, first, total), logarithms);
#endif
#if ROOTED
#if FRACTIONS
  const float_lanes bent = NEAREST(convert_float)(count) + (fraction + (float_lanes)(7.0f));
#else
  const float_lanes bent = NEAREST(convert_float)(count) + (float_lanes)(8.0f);
#endif
  const uint_lanes place = shade_rooted(bent, roots, size);
#else
  ulong_lanes phase = LANED(convert_ulong)(count) * (ulong_lanes)(shade_wide(per_count)) +
      (ulong_lanes)(shade_wide(start));
#if FRACTIONS
  const long_lanes units = LANED(convert_long)(fraction * (float_lanes)(0x1p26f));
  phase += LANED(as_ulong)(units) * (ulong_lanes)(shade_wide(per_unit));
#endif
  const uint_lanes place = shade_linear(phase, size);
#endif
  const uint_lanes inside = (uint_lanes)(size);
  const uint_lanes coloured = select(place, inside, lanes_mask(count == (uint_lanes)(max_iterations)));
  shade_put(coloured, first, colours, values, corner, columns, pixels);
}
