/* What kernels behind those that advance orbits have in common: words of a plane, and functions that are read off
 * chords, as mandelcl/base/smooth.py does it. */

#define NEAREST(convert) JOIN(LANED(convert), _rte)

/* Chords: a start and a rise each, CHORD_BITS of a float's last bits long. `bits` are those above the first chord's. */
#define CHORD_BITS 14

static uint_lanes chords_along(uint_lanes bits) { return bits & (uint_lanes)((1u << CHORD_BITS) - 1); }

static void chords_read(global const uint *chords, uint_lanes bits, uint_lanes *start, uint_lanes *rise) {
  uint chord[LANES], starts[LANES], rises[LANES];
  lanes_store(bits >> (uint_lanes)(CHORD_BITS), chord);
  UNROLL for (uint l = 0; l < LANES; l++) {
    const uint2 pair = vload2(chord[l], chords);
    starts[l] = pair.x;
    rises[l] = pair.y;
  }
  *start = lanes_load(starts);
  *rise = lanes_load(rises);
}

/* The words of a plane, for the pixels from `first` on; behind the last pixel 0. */
static uint_lanes pixel_words(global const uint *words, uint first, uint pixels) {
  if (first + LANES <= pixels) return lanes_load(words + first);
  uint word[LANES];
  for (uint l = 0; l < LANES; l++) word[l] = first + l < pixels ? words[first + l] : 0;
  return lanes_load(word);
}
