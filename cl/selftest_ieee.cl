/* Known answers for numbers of IEEE 754 alone: that nothing is fused which is not asked to be. */

static number_real selftest_real(global const uint *words, uint cases, uint real) {
  uint_lanes word[NUMBER_WORDS];
  ROLLED for (uint w = 0; w < NUMBER_WORDS; w++) word[w] = selftest_word(words, cases, real * NUMBER_WORDS + w);
  return number_unpack_real(word);
}

static void selftest_put_real(global uint *out, uint cases, uint real, number_real value) {
  ROLLED for (uint w = 0; w < NUMBER_WORDS; w++) {
    selftest_put(out, cases, real * NUMBER_WORDS + w, number_pack_real(value, w));
  }
}

/* in: a, b, c. out: the eight shapes ±(a·b ± c), ±(c ± a·b), none of which may be fused, then fma(a, b, c) and
 * fma(−a, b, c). */
KERNEL void selftest_shapes(global const uint *in, global uint *out, uint cases) {
  const number_real a = selftest_real(in, cases, 0), b = selftest_real(in, cases, 1), c = selftest_real(in, cases, 2);
  selftest_put_real(out, cases, 0, a * b + c);
  selftest_put_real(out, cases, 1, a * b - c);
  selftest_put_real(out, cases, 2, -(a * b + c));
  selftest_put_real(out, cases, 3, -(a * b - c));
  selftest_put_real(out, cases, 4, c + a * b);
  selftest_put_real(out, cases, 5, c - a * b);
  selftest_put_real(out, cases, 6, -(c + a * b));
  selftest_put_real(out, cases, 7, -(c - a * b));
#if ROUNDING_FUSED
  selftest_put_real(out, cases, 8, fma(a, b, c));
  selftest_put_real(out, cases, 9, fma(-a, b, c));
#endif
}

#if ROUNDING_FUSED
/* in: a. out: at least its root, as perturbation takes it. */
KERNEL void selftest_roots(global const uint *in, global uint *out, uint cases) {
  selftest_put_real(out, cases, 0, number_root_above(selftest_real(in, cases, 0)));
}

/* What fma costs, against a product and a sum: four chains of `steps` dependent ones. in: factor and term. */
#define SELFTEST_CHAINS(name, expression)                                                                   \
  KERNEL void name(global const uint *in, global uint *out, uint steps) {                                   \
    const number_real factor = number_load(in), term = number_load(in + NUMBER_WORDS);                      \
    number_real x[4] = {term, factor, -term, -factor};                                                      \
    for (uint step = 0; step < steps; step++) {                                                             \
      UNROLL for (uint k = 0; k < 4; k++) x[k] = expression;                                                \
    }                                                                                                       \
    const number_complex sums = {x[0] + x[1], x[2] + x[3]};                                                 \
    out[get_global_id(0)] = lanes_any(number_outside(sums, factor)) ? 1 : 0;                                \
  }
SELFTEST_CHAINS(selftest_fma_chains, fma(x[k], factor, term))
SELFTEST_CHAINS(selftest_sum_chains, x[k] * factor + term)
#endif
