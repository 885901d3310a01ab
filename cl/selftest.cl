/* Known answers: every operation on which the loop relies, on inputs and in shapes that drivers have got wrong. Built
 * with the LANES and the number of the loop; each work-item takes LANES cases. */

/* Words and reals of a case lie `cases` apart, so that a vector of cases is read at once. */
static uint_lanes selftest_word(global const uint *words, uint cases, uint word) {
  uint lane[LANES];
  ROLLED for (uint l = 0; l < LANES; l++) lane[l] = words[word * cases + get_global_id(0) * LANES + l];
  return lanes_load(lane);
}

static void selftest_put(global uint *out, uint cases, uint word, uint_lanes value) {
  uint lane[LANES];
  lanes_store(value, lane);
  ROLLED for (uint l = 0; l < LANES; l++) out[word * cases + get_global_id(0) * LANES + l] = lane[l];
}

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

/* in: z, c, R² and two whole numbers (column, row). out: the point c + (column, row)·R² (which has no meaning but
 * exercises number_point), z² + c and zero as saved state, then |z|² as float and the mask outside(R²). */
kernel void selftest_number(global const uint *in, global uint *out, uint cases) {
  const number_complex z = {selftest_real(in, cases, 0), selftest_real(in, cases, 1)};
  const number_complex c = {selftest_real(in, cases, 2), selftest_real(in, cases, 3)};
  const number_real radius_squared = selftest_real(in, cases, 4);
  const uint_lanes column = selftest_word(in, cases, 5 * NUMBER_WORDS);
  const uint_lanes row = selftest_word(in, cases, 5 * NUMBER_WORDS + 1);
  const number_complex results[3] = {number_point(LANED(as_int)(column), LANED(as_int)(row), c, radius_squared),
                                     number_step(z, c), number_zero()};
  ROLLED for (uint result = 0; result < 3; result++) {
    uint_lanes words[NUMBER_STATE_WORDS];
    number_pack(results[result], words);
    const number_complex again = number_unpack(words);
    number_pack(again, words);
    ROLLED for (uint w = 0; w < NUMBER_STATE_WORDS; w++) {
      selftest_put(out, cases, result * NUMBER_STATE_WORDS + w, words[w]);
    }
  }
  selftest_put(out, cases, 3 * NUMBER_STATE_WORDS, LANED(as_uint)(number_far_norm(number_far_from(z))));
  selftest_put(out, cases, 3 * NUMBER_STATE_WORDS + 1, LANED(as_uint)(number_outside(z, radius_squared)));
}

/* in: a, b, s. out: integer operations on 32 and 64 bits. */
kernel void selftest_integers(global const uint *in, global uint *out, uint cases) {
  const uint_lanes a = selftest_word(in, cases, 0), b = selftest_word(in, cases, 1), s = selftest_word(in, cases, 2);
  const ulong_lanes wide = LANED(convert_ulong)(a) * LANED(convert_ulong)(b);
  const ulong_lanes sum = LANED(convert_ulong)(a) + LANED(convert_ulong)(b);
  selftest_put(out, cases, 0, LANED(convert_uint)(wide));
  selftest_put(out, cases, 1, LANED(convert_uint)(wide >> (ulong_lanes)(32)));
  selftest_put(out, cases, 2, mul_hi(a, b));
  selftest_put(out, cases, 3, a * b);
  selftest_put(out, cases, 4, a + b);
  selftest_put(out, cases, 5, LANED(as_uint)(lanes_mask(a + b < a)));
  selftest_put(out, cases, 6, a - b);
  selftest_put(out, cases, 7, LANED(as_uint)(lanes_mask(a < b)));
  selftest_put(out, cases, 8, LANED(convert_uint)(sum >> (ulong_lanes)(32)));
  selftest_put(out, cases, 9, a << s);
  selftest_put(out, cases, 10, a >> s);
  selftest_put(out, cases, 11, LANED(convert_uint)((wide << LANED(convert_ulong)(s)) >> (ulong_lanes)(32)));
  selftest_put(out, cases, 12, LANED(as_uint)(LANED(as_int)(a) >> LANED(as_int)(s)));
  selftest_put(out, cases, 13, add_sat(a, b));
  selftest_put(out, cases, 14, select(a, b, lanes_mask(a < b)));
}

/* How fast: four chains a work-item, each of `steps` dependent steps; in[0] and in[1] are a point that stays
 * bounded. The result keeps the compiler from leaving the work out. */
kernel void selftest_speed(global const uint *in, global uint *out, uint steps) {
  const number_complex c = {number_load(in), number_load(in + NUMBER_WORDS)};
  number_complex z[4];
  UNROLL for (uint k = 0; k < 4; k++) z[k] = c;
  for (uint step = 0; step < steps; step++) {
    UNROLL for (uint k = 0; k < 4; k++) z[k] = number_step(z[k], c);
  }
  int_lanes outside = (int_lanes)(0);
  UNROLL for (uint k = 0; k < 4; k++) outside |= number_outside(z[k], c.re);
  out[get_global_id(0)] = lanes_any(outside) ? 1 : 0;
}
