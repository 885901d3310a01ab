/* What the line of a formula makes of a difference z from a reference in plain numbers, for step_plain.cl. No part of
 * `both`, which is the result, may be too small. With these exponents, which compilers know, few operations are left of
 * those on scaled numbers, and a power of two alone distinguishes what they round. */
static number_complex plain_delta(number_complex reference, number_complex z, const scaled_part *inner,
                                  number_complex *both) {
  const scaled from = {reference, (int_lanes)(0)}, by = {z, (int_lanes)(0)};
  *both = scaled_plain(formula_delta(0, from, by, inner));
  return *both;
}
