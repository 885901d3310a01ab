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
    record.coefficient[k].e = (int_lanes)((int)words[10 * NUMBER_WORDS + k]);
  }
  record.length = words[TURN_RECORD_WORDS - 1] & TURN_LENGTH;
  record.quadratic = words[TURN_RECORD_WORDS - 1] > TURN_LENGTH;
  record.key = (int)turn_index(method, number)[1];
  return record;
}

static scaled turn_product(scaled a, scaled b) {
  const scaled product = {scaled_product(a.z, b.z), a.e + b.e};
  return product;
}

/* A·t + B·c, and in the lanes of the mask (D·t + E·c)·t + F·c² beside it. */
static scaled turn_over(const turn_record *record, scaled t, const orbit_constant *c, int_lanes quadratic) {
  const scaled linear = scaled_sum(turn_product(record->coefficient[0], t), turn_product(record->coefficient[1], c->c));
  if (!lanes_any(quadratic)) return linear;
  const scaled inner = scaled_sum(turn_product(record->coefficient[2], t), turn_product(record->coefficient[3], c->c));
  const scaled slope = {scaled_cut(inner.z), inner.e};
  const scaled by_t = turn_product(slope, t), by_c = turn_product(record->coefficient[4], c->square);
  const int_lanes e = max(linear.e, max(by_t.e, by_c.e));
  const number_real first = scaled_power(linear.e - e), second = scaled_power(by_t.e - e), third =
      scaled_power(by_c.e - e);
  const scaled all = {{fma(by_c.z.re, third, fma(by_t.z.re, second, linear.z.re * first)),
                       fma(by_c.z.im, third, fma(by_t.z.im, second, linear.z.im * first))}, e};
  return scaled_keep(linear, all, quadratic);
}
