/* Frames of films: light of keyframes, filtered over the area of each pixel, blended, and turned into bytes, as
 * mandelcl/film/assembly.py does it, to the last bit: whole numbers, and sums and products of floats in that order. A
 * work-item makes up to TILE pixels of a row. It first sums up columns of points, then pixels from these.
 *
 * TILE  a multiple of 4, whose bytes fill whole words
 * SPAN  the most columns of points under these pixels
 *
 * A keyframe has at least LANES columns. */
#if !defined(TILE) || !defined(SPAN)
#error "TILE and SPAN must be defined"
#endif
#if TILE % 4
#error "TILE must be a multiple of 4"
#endif

#define CHANNELS 3
#define PLACE_BITS 12

/* How the frame lies on a keyframe: its first words are those of the first points, the weights follow, tap by tap; in
 * `places`, if there is a finer grid, places along and down of its columns, then of its rows. */
typedef struct {
  global const float *light;
  uint2 points;  /* the keyframe's columns and rows */
  uint2 pixels;  /* the frame's, or the room for them */
  uint2 taps;
  global const uint *columns, *rows, *places;
} film_lying;

/* Fill in where the words begin, and return where those of what follows do. */
static global const uint *film_lay_out(film_lying *lies, global const uint *words, uint finer) {
  lies->columns = words;
  lies->rows = lies->columns + lies->pixels.x * (1 + lies->taps.x);
  lies->places = lies->rows + lies->pixels.y * (1 + lies->taps.y);
  return lies->places + 2 * finer * (lies->pixels.x + lies->pixels.y);
}

/* The light at places between points of a channel; x and y are from the first point's middle. */
static float_lanes film_between(global const float *light, uint2 points, int_lanes x, int_lanes y) {
  const int_lanes least = (int_lanes)(0), bits = (int_lanes)(PLACE_BITS), part = (int_lanes)((1 << PLACE_BITS) - 1);
  const int_lanes inner_x = clamp(x, least, (int_lanes)((((int)points.x - 1) << PLACE_BITS) - 1));
  const int_lanes inner_y = clamp(y, least, (int_lanes)((((int)points.y - 1) << PLACE_BITS) - 1));
  const float_lanes along = LANED(convert_float)(inner_x & part) * (float_lanes)(0x1p-12f);
  const float_lanes down = LANED(convert_float)(inner_y & part) * (float_lanes)(0x1p-12f);
  uint column[LANES], row[LANES];
  float corner[4][LANES];
  lanes_store(LANED(as_uint)(inner_x >> bits), column);
  lanes_store(LANED(as_uint)(inner_y >> bits), row);
  UNROLL for (uint l = 0; l < LANES; l++) {
    global const float *at = light + row[l] * (size_t)points.x + column[l];
    corner[0][l] = at[0];
    corner[1][l] = at[1];
    corner[2][l] = at[points.x];
    corner[3][l] = at[points.x + 1];
  }
  const float_lanes a = lanes_load(corner[0]), b = lanes_load(corner[1]);
  const float_lanes c = lanes_load(corner[2]), d = lanes_load(corner[3]);
  const float_lanes upper = a + (b - a) * along, lower = c + (d - c) * along;
  return upper + (lower - upper) * down;
}

/* LANES points of a row of a channel, or of the finer grid, from a column on. */
static float_lanes film_points(const film_lying *lies, global const float *light, uint turned, uint column, uint row) {
  if (!turned) return lanes_load(light + row * (size_t)lies->points.x + column);
  const uint columns = turned * lies->pixels.x, rows = turned * lies->pixels.y;
  global const uint *from = lies->places + column, *down = lies->places + 2 * columns + row;
  const int_lanes x = LANED(as_int)(lanes_load(from)) + (int_lanes)((int)down[0]);
  const int_lanes y = LANED(as_int)(lanes_load(from + columns)) + (int_lanes)((int)down[rows]);
  return film_between(light, lies->points, x, y);
}

/* A channel of `tile` pixels of a row, from the pixel `left` on. */
static void film_filter(const film_lying *lies, uint turned, uint channel, uint left, uint tile, uint row,
                        float *made) {
  const uint2 pixels = lies->pixels, taps = lies->taps;
  global const float *light = lies->light + channel * ((size_t)lies->points.x * lies->points.y);
  global const uint *firsts = lies->columns + left, *weights = firsts + pixels.x;
  /* The last vectors end where the row ends. */
  const uint most = (turned ? turned * pixels.x : lies->points.x) - LANES;
  const uint start = min(firsts[0], most), span = firsts[tile - 1] + taps.x - start;
  const uint top = lies->rows[row];
  float sums[SPAN + 2 * LANES];
  for (uint column = 0; column < span; column += LANES) {
    const uint from = min(start + column, most);
    float_lanes sum = (float_lanes)(as_float(lies->rows[pixels.y + row])) * film_points(lies, light, turned, from, top);
    for (uint k = 1; k < taps.y; k++)
      sum = sum + (float_lanes)(as_float(lies->rows[pixels.y * (1 + k) + row])) *
          film_points(lies, light, turned, from, top + k);
    lanes_store(sum, sums + (from - start));
  }
  for (uint pixel = 0; pixel < tile; pixel++) {
    const float *under = sums + (firsts[pixel] - start);
    float sum = as_float(weights[pixel]) * under[0];
    for (uint k = 1; k < taps.x; k++) sum = sum + as_float(weights[pixels.x * k + pixel]) * under[k];
    made[pixel] = sum;
  }
}

/* How far the deeper keyframe's share has grown at a place along one of its sides. */
static float film_from_edges(int place, int most, float per_unit) {
  const int inner = min(place, most - place);
  const float ramp = min(convert_float(inner + (1 << (PLACE_BITS - 1))) * per_unit, 1.0f);
  return inner < 0 ? 0.0f : ramp * ramp * (3.0f - 2.0f * ramp);
}

/* The deeper keyframe's shares in `tile` pixels; returns whether there are any. `words` are places along and down of
 * columns, then of rows; last places along and down; what the share grows by in each; and its whole. */
static uint film_shares(global const uint *words, uint2 pixels, uint left, uint tile, uint row, float *shares) {
  global const uint *columns = words + left, *rows = words + 2 * pixels.x + row;
  global const uint *others = words + 2 * (pixels.x + pixels.y);
  const int2 from = (int2)((int)rows[0], (int)rows[pixels.y]), most = (int2)((int)others[0], (int)others[1]);
  const float2 per_unit = (float2)(as_float(others[2]), as_float(others[3]));
  uint any = 0;
  for (uint pixel = 0; pixel < tile; pixel++) {
    const int x = (int)columns[pixel] + from.x, y = (int)columns[pixels.x + pixel] + from.y;
    const float grown = min(film_from_edges(x, most.x, per_unit.x), film_from_edges(y, most.y, per_unit.y));
    shares[pixel] = grown * as_float(others[4]);
    any |= shares[pixel] > 0;
  }
  return any;
}

/* The byte for an amount of light; `bytes` has four in a word. */
static uint film_byte(float light, global const uint *bytes) {
  const uint step = convert_uint_rtz(min(max(light, 0.0f), 1.0f) * 65535.0f + 0.5f);
  return (bytes[step >> 2] >> (8 * (step & 3))) & 255;
}

/* Make a frame of size.x × size.y pixels, size.x a multiple of 4, each row in tiles of `tile` pixels. Keyframes are
 * red, green and blue light, each row by row. `words` say how the frame lies on the one that covers it and, if that
 * has taps, on the deeper one, and the shares of this. `turned` is how many samples a pixel has along each side before
 * they are filtered, 0 where it has none. */
KERNEL void film_frame(global const float *base, uint2 base_size, uint2 base_taps, global const float *deeper,
                       uint2 deeper_size, uint2 deeper_taps, global const uint *words, uint turned, uint2 size,
                       uint tile, global const uint *bytes, global uint *pixels) {
  const uint tiles = (size.x + tile - 1) / tile, item = get_global_id(0);
  const uint row = item / tiles, left = (item - row * tiles) * tile;
  if (row >= size.y) return;
  const uint across = min(tile, size.x - left);
  film_lying below = {base, base_size, size, base_taps, 0, 0, 0};
  film_lying above = {deeper, deeper_size, size, deeper_taps, 0, 0, 0};
  float made[TILE], laid[TILE], shares[TILE];
  uint found[TILE * CHANNELS / 4];
  global const uint *behind = film_lay_out(&below, words, turned);
  uint lay_over = 0;
  if (deeper_taps.x) {
    behind = film_lay_out(&above, behind, turned);
    lay_over = film_shares(behind, size, left, across, row, shares);
  }
  for (uint k = 0; k < across / 4 * CHANNELS; k++) found[k] = 0;
  for (uint channel = 0; channel < CHANNELS; channel++) {
    film_filter(&below, turned, channel, left, across, row, made);
    if (lay_over) {
      film_filter(&above, turned, channel, left, across, row, laid);
      for (uint k = 0; k < across; k++) made[k] = made[k] + (laid[k] - made[k]) * shares[k];
    }
    for (uint k = 0; k < across; k++) {
      const uint byte = k * CHANNELS + channel;
      found[byte / 4] |= film_byte(made[k], bytes) << (8 * (byte % 4));
    }
  }
  global uint *to = pixels + (row * (size_t)size.x + left) / 4 * CHANNELS;
  for (uint k = 0; k < across / 4 * CHANNELS; k++) to[k] = found[k];
}
