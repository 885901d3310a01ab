/* The map from pixels to the plane: an affine lattice. A pixel is given by its columns to the right of, and rows above,
 * the anchor.
 *
 * LATTICE_UPRIGHT   1: columns follow the real axis and rows the imaginary one, at one distance; 0: any matrix */
#ifndef LATTICE_UPRIGHT
#error "LATTICE_UPRIGHT is not defined"
#endif

/* Words: the anchor's real and imaginary part, then the pitch; or, of any matrix, how far a column leads along re, a
 * row upward along re, a column along im, a row upward along im. */
#if LATTICE_UPRIGHT
#define MAP_PITCHES 1
#else
#define MAP_PITCHES 4
#endif
#define MAP_WORDS (2 * NUMBER_WORDS + MAP_PITCHES * NUMBER_PITCH_WORDS)

typedef struct {
  number_place re, im;
  number_pitch pitch[MAP_PITCHES];
} pixel_map;

static pixel_map map_load(global const uint *words) {
  pixel_map map;
  map.re = number_load_place(words);
  map.im = number_load_place(words + NUMBER_WORDS);
  for (uint k = 0; k < MAP_PITCHES; k++) map.pitch[k] =
      number_load_pitch(words + 2 * NUMBER_WORDS + k * NUMBER_PITCH_WORDS);
  return map;
}

/* The point of a pixel: from the anchor along the rows, then along the columns, each rounded on its own. */
static number_complex map_point(int_lanes column, int_lanes row, const pixel_map *map) {
#if LATTICE_UPRIGHT
  const number_place re = number_along(column, map->pitch[0], map->re);
  const number_place im = number_along(row, map->pitch[0], map->im);
#else
  const number_place re = number_along(column, map->pitch[0], number_along(row, map->pitch[1], map->re));
  const number_place im = number_along(column, map->pitch[2], number_along(row, map->pitch[3], map->im));
#endif
  const number_complex point = {number_placed(re), number_placed(im)};
  return point;
}
