/* The HPC report's own order of operations, which is neither of the two roundings: c = fma(column, pitch, anchor), x′ =
 * fma(x, x, −(y·y)) + cx, y′ = fma(2, x·y, cy), tested at each step. `offset` is the columns to the right of, and rows
 * above, the anchor at which the picture's pixel (0, 0) lies. A work-item takes LANES pixels of a row. */
kernel void study_published_order(global const uint *view_words, int2 offset, uint2 size, uint first_row,
                                  uint max_iterations, global uint *counts) {
  uint lane[LANES];
  for (uint l = 0; l < LANES; l++) lane[l] = l;
  const uint_lanes column = (uint_lanes)((uint)get_global_id(0) * LANES) + lanes_load(lane);
  const uint row = first_row + (uint)get_global_id(1);
  const number_real pitch = number_load(view_words + 2 * NUMBER_WORDS);
  const number_complex c = {
      fma(number_from_int((int_lanes)(offset.x) + LANED(as_int)(column)), pitch, number_load(view_words)),
      fma(number_from_int((int_lanes)(offset.y - (int)row)), pitch, number_load(view_words + NUMBER_WORDS))};
  number_complex z = number_zero();
  uint_lanes count = (uint_lanes)(max_iterations);
  int_lanes going = lanes_mask(column < (uint_lanes)(size.x));
  for (uint n = 1; n < max_iterations && lanes_any(going); n++) {
    const number_complex next = {fma(z.re, z.re, -(z.im * z.im)) + c.re, fma((number_real)(2), z.re * z.im, c.im)};
    z = next;
    const int_lanes outside = going & lanes_mask(!(fma(z.re, z.re, z.im * z.im) <= (number_real)(4)));
    count = select(count, (uint_lanes)(n), outside);
    going &= ~outside;
  }
  lanes_store(count, lane);
  for (uint l = 0; l < LANES; l++) {
    const uint own = (uint)get_global_id(0) * LANES + l;
    if (own < size.x) counts[row * size.x + own] = lane[l];
  }
}
