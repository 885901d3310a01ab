/* The loop as the published programs write it: one pixel at a time, tested after each step. The counts are those of the
 * kernels of a render; the speed is that of a program written down from the definition.
 *
 * LINEAR       1: the launch has one dimension and runs over all pixels, row by row; 0: one for columns, one for rows
 * SQUARE_ROOT  1: an orbit is outside where not |z| < 2, whatever R² is; 0: where not |z|² ≤ R²
 * EARLY_EXIT   1: pixels in the large cardioid and in the disc at its left are not iterated
 *
 * However many work-items there are, they take all pixels, each those that lie a whole launch apart. `offset` is as in
 * study_published_order.cl; `view_words` hold anchor, pitch and R². LANES is 1. */
#ifndef LINEAR
#error "LINEAR is not defined"
#endif
#ifndef SQUARE_ROOT
#error "SQUARE_ROOT is not defined"
#endif
#ifndef EARLY_EXIT
#error "EARLY_EXIT is not defined"
#endif
#if LANES != 1
#error "LANES must be 1"
#endif

/* Whether the iteration needs no tests: |c| lies in one of the two largest components, by their equations. */
static int study_plain_inside(number_complex c) {
  const number_real x = c.re - (number_real)(0.25), y2 = c.im * c.im;
  const number_real q = sqrt(x * x + y2), left = c.re + (number_real)(1);
  return c.re <= q - (q + q) * q + (number_real)(0.25) || left * left + y2 < (number_real)(0.0625);
}

static int study_plain_outside(number_complex z, number_real radius_squared) {
#if SQUARE_ROOT
  return !(sqrt(number_norm_squared(z)) < (number_real)(2));
#else
  return number_outside(z, radius_squared);
#endif
}

static uint study_plain_count(number_complex c, number_real radius_squared, uint max_iterations) {
#if EARLY_EXIT
  if (study_plain_inside(c)) return max_iterations;
#endif
  number_complex z = number_zero();
  for (uint n = 1; n < max_iterations; n++) {
    z = number_square_add(z, c);
    if (study_plain_outside(z, radius_squared)) return n;
  }
  return max_iterations;
}

static void study_plain_pixel(global const uint *view_words, int2 offset, uint width, uint column, uint row,
                              uint max_iterations, global uint *counts) {
  const number_pitch pitch = number_load_pitch(view_words + 2 * NUMBER_WORDS);
  const number_place left = number_load_place(view_words), top = number_load_place(view_words + NUMBER_WORDS);
  const number_complex c = {number_placed(number_along(offset.x + (int)column, pitch, left)),
                            number_placed(number_along(offset.y - (int)row, pitch, top))};
  counts[row * width + column] = study_plain_count(c, number_load(view_words + 3 * NUMBER_WORDS), max_iterations);
}

kernel void study_plain(global const uint *view_words, int2 offset, uint2 size, uint first_row, uint rows,
                        uint max_iterations, global uint *counts) {
#if LINEAR
  const uint end = (first_row + rows) * size.x, pixels = (uint)get_global_size(0);
  for (uint pixel = first_row * size.x + (uint)get_global_id(0); pixel < end; pixel += pixels)
    study_plain_pixel(view_words, offset, size.x, pixel % size.x, pixel / size.x, max_iterations, counts);
#else
  const uint end = first_row + rows, columns_on = (uint)get_global_size(0), rows_on = (uint)get_global_size(1);
  for (uint row = first_row + (uint)get_global_id(1); row < end; row += rows_on)
    for (uint column = (uint)get_global_id(0); column < size.x; column += columns_on)
      study_plain_pixel(view_words, offset, size.x, column, row, max_iterations, counts);
#endif
}
