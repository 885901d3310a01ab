/* What z² makes of a difference z from a reference in plain numbers, for step_plain.cl: z·(2Z + z). `both` is 2Z + z,
 * no part of which may be too small. */
static number_complex plain_delta(number_complex reference, number_complex z, const scaled_part *inner,
                                  number_complex *both) {
  const number_real two = (number_real)(2);
  both->re = fma(two, reference.re, z.re);
  both->im = fma(two, reference.im, z.im);
  return scaled_product(z, *both);
}
