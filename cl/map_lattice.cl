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
  number_complex anchor;
  number_pitch pitch[MAP_PITCHES];
} pixel_map;

static pixel_map map_load(global const uint *words) {
  pixel_map map;
  map.anchor.re = number_load(words);
  map.anchor.im = number_load(words + NUMBER_WORDS);
  for (uint k = 0; k < MAP_PITCHES; k++) map.pitch[k] =
      number_load_pitch(words + 2 * NUMBER_WORDS + k * NUMBER_PITCH_WORDS);
  return map;
}

/* The point of a pixel: from the anchor along the rows, then along the columns, each rounded on its own. */
static number_complex map_point(int_lanes column, int_lanes row, const pixel_map *map) {
#if LATTICE_UPRIGHT
  number_complex point = {number_along(column, map->pitch[0], map->anchor.re),
                          number_along(row, map->pitch[0], map->anchor.im)};
#else
  number_complex point = {number_along(column, map->pitch[0], number_along(row, map->pitch[1], map->anchor.re)),
                          number_along(column, map->pitch[2], number_along(row, map->pitch[3], map->anchor.im))};
#endif
  return point;
}
