/* The records of long steps, for advance_turns.cl: which one is taken, and what it makes of an orbit. */
static global const uint *turn_record_words(global const uint *method, uint record) {
  return method_part(method, METHOD_RECORDS, TURN_RECORD_WORDS, record);
}

static global const uint *turn_index(global const uint *method, uint record) {
  return method_part(method, METHOD_INDEX, 2, record);
}

static uint turn_length(global const uint *method, uint record) {
  return turn_record_words(method, record)[TURN_RECORD_WORDS - 1] & TURN_LENGTH;
}

/* The records of the longest steps that begin at an index and hold for the lanes' keys; no longer than what the lanes
 * have left to the iteration limit. */
static uint_lanes turn_find(global const uint *method, uint index, int_lanes key, uint_lanes left, int_lanes mask) {
  const bool near = lanes_any(mask & lanes_mask(left < (uint_lanes)(method[METHOD_LONGEST])));
  uint_lanes found = (uint_lanes)(TURN_SINGLE);
  int_lanes holds = mask;
  for (uint level = 0; level < method[METHOD_LEVELS]; level++) {
    const uint shift = method[METHOD_SHIFT] + level * method[METHOD_SHIFT_STEP];
    const uint record = method[METHOD_FIRST_RECORD + level] + (index >> shift);
    global const uint *entry = turn_index(method, record);
    if (entry[0] != index) break;
    holds &= lanes_mask(key < (int_lanes)((int)entry[1]));
    if (near) holds &= lanes_mask(left >= (uint_lanes)(turn_length(method, record)));
    if (!lanes_any(holds)) break;
    found = select(found, (uint_lanes)(record), holds);
  }
  return found;
}

static turn_record turn_load(global const uint *method, uint number) {
  global const uint *words = turn_record_words(method, number);
  turn_record record;
  for (uint k = 0; k < 5; k++) {
    record.coefficient[k].z.re = (number_real)(method_real(words + 2 * k * NUMBER_WORDS));
    record.coefficient[k].z.im = (number_real)(method_real(words + (2 * k + 1) * NUMBER_WORDS));
    record.coefficient[k].e = (int_lanes)((int)words[2 * TURN_COEFFICIENTS * NUMBER_WORDS + k]);
  }
#if !FORMULA_ANALYTIC
  for (uint k = 0; k < 4; k++) {
    record.mirrored[k].re = (number_real)(method_real(words + (10 + 2 * k) * NUMBER_WORDS));
    record.mirrored[k].im = (number_real)(method_real(words + (11 + 2 * k) * NUMBER_WORDS));
  }
  record.turned = (words[TURN_RECORD_WORDS - 1] & TURN_TURNED) != 0;
#endif
  record.length = words[TURN_RECORD_WORDS - 1] & TURN_LENGTH;
  record.quadratic = (words[TURN_RECORD_WORDS - 1] & TURN_QUADRATIC) != 0;
  record.key = (int)turn_index(method, number)[1];
  return record;
}

static scaled turn_product(scaled a, scaled b) {
  const scaled product = {scaled_product(a.z, b.z), a.e + b.e};
  return product;
}

#if FORMULA_ANALYTIC
#define turn_of_t(record, t) (t)

/* A bound of the modulus of a coefficient's mantissa. */
static number_real turn_reach(const turn_record *record, uint k) {
  return scaled_reach(record->coefficient[k].z);
}

/* B·c. */
static scaled turn_of_c(const turn_record *record, uint k, scaled c) {
  return turn_product(record->coefficient[k], c);
}

/* F·c². */
static scaled turn_of_square(const turn_record *record, const orbit_constant *c) {
  return turn_product(record->coefficient[4], c->square);
}
#else
/* A bound of the sum of the moduli of the mantissas of a coefficient and of those of its group. */
static number_real turn_reach(const turn_record *record, uint k) {
  const number_real reach = scaled_reach(record->coefficient[k].z);
  if (k == 1) return reach + scaled_reach(record->mirrored[0]);
  if (k == 3) return reach + scaled_reach(record->mirrored[1]);
  return k == 4 ? reach + scaled_reach(record->mirrored[2]) + scaled_reach(record->mirrored[3]) : reach;
}

/* û: t, or its conjugate. */
static scaled turn_of_t(const turn_record *record, scaled t) {
  const scaled turned = {{t.z.re, record->turned ? -t.z.im : t.z.im}, t.e};
  return turned;
}

/* a·z + b·z̄. */
static number_complex turn_both(number_complex a, number_complex b, number_complex z) {
  const number_complex sum = {
      fma(b.im, z.im, fma(b.re, z.re, fma(a.re, z.re, -(a.im * z.im)))),
      fma(-b.re, z.im, fma(b.im, z.re, fma(a.re, z.im, a.im * z.re)))};
  return sum;
}

/* B·c + B̃·c̄ for k of 1, and E·c + Ẽ·c̄ for k of 3. */
static scaled turn_of_c(const turn_record *record, uint k, scaled c) {
  const scaled sum = {turn_both(record->coefficient[k].z, record->mirrored[k >> 1], c.z),
                      record->coefficient[k].e + c.e};
  return sum;
}

/* F·c² + G·|c|² + H·c̄². */
static scaled turn_of_square(const turn_record *record, const orbit_constant *c) {
  const number_complex both = turn_both(record->coefficient[4].z, record->mirrored[3], c->square.z);
  const number_complex g = record->mirrored[2];
  const scaled sum = {{fma(g.re, c->norm, both.re), fma(g.im, c->norm, both.im)},
                      record->coefficient[4].e + c->square.e};
  return sum;
}
#endif

/* A·û + B·c, and in the lanes of the mask (D·û + E·c)·û + F·c² beside it; with the terms of c̄, where there are any. */
static scaled turn_over(const turn_record *record, scaled t, const orbit_constant *c, int_lanes quadratic) {
  const scaled of_t = turn_of_t(record, t);
  const scaled linear = scaled_sum(turn_product(record->coefficient[0], of_t), turn_of_c(record, 1, c->c));
  if (!lanes_any(quadratic)) return linear;
  const scaled inner = scaled_sum(turn_product(record->coefficient[2], of_t), turn_of_c(record, 3, c->c));
  const scaled slope = {scaled_cut(inner.z), inner.e};
  const scaled by_t = turn_product(slope, of_t), by_c = turn_of_square(record, c);
  const int_lanes e = max(linear.e, max(by_t.e, by_c.e));
  const number_real first = scaled_power(linear.e - e), second = scaled_power(by_t.e - e), third =
      scaled_power(by_c.e - e);
  const scaled all = {{fma(by_c.z.re, third, fma(by_t.z.re, second, linear.z.re * first)),
                       fma(by_c.z.im, third, fma(by_t.z.im, second, linear.z.im * first))}, e};
  return scaled_keep(linear, all, quadratic);
}
