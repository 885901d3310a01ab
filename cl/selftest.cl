/* Known answers: every operation on which the loop relies, on inputs and in shapes that drivers have got wrong. Built
 * with the LANES, the number and the formula of the loop; each work-item takes LANES cases. */

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

static number_complex selftest_complex(global const uint *words, uint cases, uint place) {
  uint_lanes word[NUMBER_STATE_WORDS];
  ROLLED for (uint w = 0; w < NUMBER_STATE_WORDS; w++) {
    word[w] = selftest_word(words, cases, place * NUMBER_STATE_WORDS + w);
  }
  return number_unpack(word);
}

static void selftest_put_complex(global uint *out, uint cases, uint place, number_complex z) {
  uint_lanes word[NUMBER_STATE_WORDS];
  number_pack(z, word);
  ROLLED for (uint w = 0; w < NUMBER_STATE_WORDS; w++) {
    selftest_put(out, cases, place * NUMBER_STATE_WORDS + w, word[w]);
  }
}

/* in, as saved state: z, c, and R² and a pitch as the parts of a third; then whole numbers: column, row and the pitch's
 * rest. out, as saved state: the point c + (column, row)·pitch, zero, and the formula's steps from z, one a phase; then
 * |z|² as float and the mask outside(R²). */
KERNEL void selftest_number(global const uint *in, global uint *out, uint cases) {
  const number_complex z = selftest_complex(in, cases, 0), c = selftest_complex(in, cases, 1);
  const number_complex view = selftest_complex(in, cases, 2);
  const uint_lanes column = selftest_word(in, cases, 3 * NUMBER_STATE_WORDS);
  const uint_lanes row = selftest_word(in, cases, 3 * NUMBER_STATE_WORDS + 1);
  const int rest = (int)in[(3 * NUMBER_STATE_WORDS + 2) * cases]; /* one for all cases */
  const number_pitch pitch = number_pitch_from(number_place_from(view.im), rest);
  const number_place re = number_along(LANED(as_int)(column), pitch, number_place_from(c.re));
  const number_place im = number_along(LANED(as_int)(row), pitch, number_place_from(c.im));
  const number_complex point = {number_placed(re), number_placed(im)};
  selftest_put_complex(out, cases, 0, point);
  selftest_put_complex(out, cases, 1, number_zero());
  ROLLED for (uint phase = 0; phase < FORMULA_PHASES; phase++) {
    selftest_put_complex(out, cases, 2 + phase, formula_step(z, c, phase));
  }
  const uint rest_of_out = (2 + FORMULA_PHASES) * NUMBER_STATE_WORDS;
  selftest_put(out, cases, rest_of_out, LANED(as_uint)(number_far_norm(number_far_from(z))));
  selftest_put(out, cases, rest_of_out + 1, LANED(as_uint)(number_outside(z, view.re)));
}

/* in: a, b, s. out: integer operations on 32 and 64 bits. */
KERNEL void selftest_integers(global const uint *in, global uint *out, uint cases) {
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

/* in: a, b. out: both halves of products of factors that a compiler knows to be short. */
KERNEL void selftest_short_products(global const uint *in, global uint *out, uint cases) {
  const uint_lanes a = selftest_word(in, cases, 0) & 0xffffffu, b = selftest_word(in, cases, 1) & 0xffffffu;
  const int_lanes c = LANED(as_int)(a << 8) >> 8, d = LANED(as_int)(b << 8) >> 8;
  const ulong_lanes square = LANED(convert_ulong)(a) * LANED(convert_ulong)(a);
  const ulong_lanes product = LANED(convert_ulong)(a) * LANED(convert_ulong)(b);
  const long_lanes with_sign = LANED(convert_long)(c) * LANED(convert_long)(d);
  const long_lanes mixed = LANED(convert_long)(a) * LANED(convert_long)(d);
  selftest_put(out, cases, 0, LANED(convert_uint)(square >> (ulong_lanes)(32)));
  selftest_put(out, cases, 1, LANED(convert_uint)(product));
  selftest_put(out, cases, 2, LANED(convert_uint)(product >> (ulong_lanes)(32)));
  selftest_put(out, cases, 3, LANED(convert_uint)(LANED(as_ulong)(with_sign)));
  selftest_put(out, cases, 4, LANED(convert_uint)(LANED(as_ulong)(with_sign) >> (ulong_lanes)(32)));
  selftest_put(out, cases, 5, LANED(convert_uint)(LANED(as_ulong)(mixed)));
  selftest_put(out, cases, 6, LANED(convert_uint)(LANED(as_ulong)(mixed) >> (ulong_lanes)(32)));
  selftest_put(out, cases, 7, LANED(as_uint)(mul_hi(c, d)));
}

/* How fast: SPEED_CHAINS chains a work-item, each of `steps` dependent steps; in[0] and in[1] are a point that stays
 * bounded. The result keeps the compiler from leaving the work out. */
KERNEL void selftest_speed(global const uint *in, global uint *out, uint steps) {
  const number_complex c = {number_load(in), number_load(in + NUMBER_WORDS)};
  number_complex z[SPEED_CHAINS];
  UNROLL for (uint k = 0; k < SPEED_CHAINS; k++) z[k] = c;
  for (uint step = 0; step < steps; step++) {
    UNROLL for (uint k = 0; k < SPEED_CHAINS; k++) z[k] = formula_step(z[k], c, step % FORMULA_PHASES);
  }
  int_lanes outside = (int_lanes)(0);
  UNROLL for (uint k = 0; k < SPEED_CHAINS; k++) outside |= number_outside(z[k], c.re);
  out[get_global_id(0)] = lanes_any(outside) ? 1 : 0;
}

/* How many iterations a loop really makes: some drivers stop a work-item's loops, silently, after so many. in: where to
 * stop, and a value that is never met, so that the loop can be neither left out nor solved. */
kernel void selftest_loop(global const uint *in, global uint *out) {
  uint made = 0;
  for (uint value = 1; made < in[0] && value != in[1]; value = value * 5u + 2u) made++;
  out[get_global_id(0)] = made;
}
