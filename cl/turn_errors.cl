/* How far an orbit may be from that of exact arithmetic, and whether its count is proved: what step_errors.cl is
 * made of.
 *
 * With w the orbit, z its difference as computed and E at least the distance to the exact one, each event makes of
 * E, exactly but for roundings and what a step leaves out, t = z·(2Z + z)          2|w|·E + E² a step
 * gain·(error of t) + what the record's bounds say w² + c                  2|w|·E + E² beside another Z        E The
 * roundings of an event are bounded by the sizes of what is rounded; u is NUMBER_UNIT. A value of the reference is
 * off by 2u at most. E is kept times 2^−e beside a difference (x, y)·2^e. Where it is not far below that, it is
 * infinite for good.
 *
 * An orbit that has left the disc of radius 2 or more does not come back. So a count n is proved where the exact
 * orbit is certainly inside at n − 1 and outside at n, and one at the iteration limit where it is inside there, or
 * at the iteration before. */

/* Words of a record's bounds, of which 7 are used: keys, but for a real type's second word, a float. A key k is the
 * number (1/2 + (k mod 256)/512)·2^(k >> 8). */
#define ERROR_WORDS 8
#define ERROR_MOST 0.0625f
#define ERROR_NOTHING (-(1 << 20)) /* an exponent below those of any view, of which 256 times as much is an int */

/* A record's bounds: gain·2^gain_e on the slope, `a` and the key `b` on the coefficients, keys of what is left out. */
typedef struct {
  number_real gain, a;
  int_lanes gain_e, b, left[4];
} error_bounds;

static number_real error_of_key(int_lanes key) {
  return number_from_upper(clamp(key + ((NUMBER_BIAS - 1) << 8), (int_lanes)(0),
                                 (int_lanes)((2 * NUMBER_BIAS + 1) << 8)));
}

/* A key of at least size·2^e. */
static int_lanes error_key(number_real size, int_lanes e) {
  return number_upper(size) - ((NUMBER_BIAS - 1) << 8) + (max(e, (int_lanes)(ERROR_NOTHING)) << 8) + 1;
}

/* From the sum of the keys of so many numbers, a key of at least their product: a key is a little below the logarithm,
 * and 256 above that of 1. */
#define ERROR_PRODUCT(numbers) (23 * (numbers) - 256 * ((numbers) - 1))

static number_real error_kept(number_real error) {
  const number_real more = error * (number_real)(NUMBER_MORE);
  return scaled_choose((number_real)(INFINITY), more, lanes_mask(more < (number_real)(ERROR_MOST)));
}

static error_bounds error_load(global const uint *method, uint number) {
  global const uint *words = method_part(method, METHOD_BOUNDS, ERROR_WORDS, number);
  const int gain = (int)words[0];
  error_bounds bounds;
  bounds.gain = number_from_upper((int_lanes)((gain & 255) | ((NUMBER_BIAS - 1) << 8)));
  bounds.gain_e = (int_lanes)(gain >> 8);
  bounds.a = (number_real)((number_scalar)as_float(words[1]));
  bounds.b = (int_lanes)((int)words[2]);
  for (uint k = 0; k < 4; k++) bounds.left[k] = (int_lanes)((int)words[3 + k]);
  return bounds;
}

/* The error of t times 2^−t.e: of z·(2Z + z), from that of z, where |w| is size·2^size_e. |2Z·z| is at most 4|t|, since
 * |z| ≤ |w|; a sum and a product make 3u|t| of their own. */
static number_real error_of_t(number_real error, number_real size, int_lanes size_e, int_lanes z_e, scaled t) {
  const int_lanes both_e = t.e - z_e;
  const number_real slope = fma(size + size, scaled_power_within(size_e - both_e),
                                error * scaled_power_within(z_e - both_e));
  return fma(error, slope, scaled_reach(t.z) * (number_real)(12 * NUMBER_UNIT));
}

#if !FORMULA_KNOWS_INSIDE
/* The same of any line. What it makes of E is at most d·(|w| + E)^(d − 1)·E. Its roundings are shares of what it makes
 * of z with nothing cancelled, at most d·(|Z| + |z|)^(d − 1)·|z|. A fold that the orbit crosses rounds in its place. */
static number_real error_of_line(number_real error, number_real size, int_lanes size_e, scaled reference, scaled z,
                                 scaled t, uint_lanes phase) {
  const int_lanes least = (int_lanes)(ERROR_NOTHING), degree = formula_lanes_degree(phase) - 1;
  const int_lanes z_e = max(z.e, least), w_e = max(size_e, least), t_e = max(t.e, least);
  const int_lanes m = max(max(reference.e, z.e), least);
  const number_real reach = scaled_reach(z.z);
  const number_real most_w = fma(error, scaled_power_within(z_e - w_e), size);
  const number_real most_z = fma(scaled_reach(reference.z), scaled_power_within(reference.e - m),
                                 reach * scaled_power_within(z.e - m));
  number_real units = (number_real)(FORMULA_ERROR_UNITS * NUMBER_UNIT);
#if FORMULA_FOLD_UNITS
  const scaled w = scaled_sum(reference, z);
  const number_real zero = (number_real)(0);
  const int_lanes crossed = (lanes_mask(w.z.re < zero) ^ lanes_mask(reference.z.re < zero)) |
                            (lanes_mask(w.z.im < zero) ^ lanes_mask(reference.z.im < zero));
  units += scaled_choose(zero, (number_real)(FORMULA_FOLD_UNITS * NUMBER_UNIT), crossed);
#endif
  const number_real through = formula_lanes_slope(most_w, phase) * error;
  const number_real rounded = formula_lanes_slope(most_z, phase) * units * reach;
  return fma(through, scaled_power_within(degree * w_e + z_e - t_e),
             rounded * scaled_power_within(degree * m + z_e - t_e)) * (number_real)(NUMBER_MORE);
}
#endif

/* The error of t + c times 2^−e, of which 3u are for the sum's rounding. */
static number_real error_single(number_real of_t, scaled t, const orbit_constant *c, int_lanes e) {
  return fma(of_t, scaled_power_within(t.e - e),
             fma(c->error, scaled_power_within(c->c.e - e), (number_real)(3 * NUMBER_UNIT)));
}

/* The error of a long step from t, times 2^−e: `error` is that of z, and `skipped` masks the lanes in which the
 * quadratic part was left out. A product and the sums make 4u of each product in the linear part. */
static number_real error_over(const error_bounds *bounds, const turn_record *record, number_real error,
                              number_real of_t,
                               scaled t, const orbit_constant *c, int_lanes skipped, int_lanes e) {
  const number_real unit = (number_real)(NUMBER_UNIT), reach = scaled_reach(t.z);
#if FORMULA_KNOWS_INSIDE
  const number_real through = fma(of_t, error * (number_real)(2.1f), of_t);
#else
  /* The record's bounds are for a t that is off by less than a quarter of what it may be. */
  const number_real through = scaled_choose((number_real)(INFINITY), of_t * (number_real)(1.0625f),
                                            lanes_mask(of_t * (number_real)(8) <= reach));
#endif
  const number_real by_t = bounds->gain * fma(reach * unit, bounds->a + (number_real)(4), through);
  const int_lanes b_e = record->coefficient[1].e;
  const number_real by_c = turn_reach(record, 1) * c->error;
  number_real sum = fma(by_t, scaled_power_within(t.e + bounds->gain_e - e),
                        fma(by_c, scaled_power_within(b_e + c->c.e - e), 3 * unit));
  const int_lanes t_key = error_key(reach, t.e), c_key = error_key(c->size, c->c.e);
  const int_lanes down = max(e, (int_lanes)(ERROR_NOTHING)) << 8, four = (int_lanes)(ERROR_PRODUCT(4)) - down;
  sum += error_of_key(bounds->b + c_key + ERROR_PRODUCT(2) - down);
  sum += error_of_key(bounds->left[0] + t_key + t_key + t_key + four);
  sum += error_of_key(bounds->left[1] + t_key + t_key + c_key + four);
  sum += error_of_key(bounds->left[2] + t_key + c_key + c_key + four);
  sum += error_of_key(bounds->left[3] + c_key + c_key + c_key + four);
  if (lanes_any(skipped)) {
    const scaled d = record->coefficient[2], et = record->coefficient[3], f = record->coefficient[4];
    number_real left = scaled_reach(d.z) * reach * reach * scaled_power_within(d.e + t.e + t.e - e);
    left += turn_reach(record, 3) * reach * c->size * scaled_power_within(et.e + t.e + c->c.e - e);
    left += turn_reach(record, 4) * c->size * c->size * scaled_power_within(f.e + c->c.e + c->c.e - e);
    sum += scaled_choose((number_real)(0), left, skipped);
  }
  return sum;
}

/* What adding z and the reference to give w may be off by, times 2^−e: u|w| and 2u|Z|, and what is left of the unit. */
static number_real error_of_sum(number_real size, scaled reference, int_lanes e) {
  const number_real by = scaled_reach(reference.z) * scaled_power_within(reference.e - e);
  return fma(by, (number_real)(2 * NUMBER_UNIT), size * (number_real)(2 * NUMBER_UNIT));
}

/* The error of z ← w, where w is size·2^size_e, times 2^−e. */
static number_real error_rebased(number_real error, int_lanes z_e, scaled reference, number_real size, int_lanes size_e,
                                 int_lanes e) {
  return fma(error, scaled_power_within(z_e - e),
             error_of_sum(size, reference, size_e) * scaled_power_within(size_e - e) + (number_real)(2 * NUMBER_UNIT));
}

/* The orbit as a plain number: |w| and how far it is from the exact one. */
typedef struct {
  number_real size, error;
} error_place;

static error_place error_placed(number_real error, int_lanes z_e, scaled reference, number_real size,
                                int_lanes size_e) {
  const number_real power = scaled_power_within(size_e);
  const error_place place = {size * power,
                             fma(error, scaled_power_within(z_e), error_of_sum(size, reference, size_e) * power)};
  return place;
}

/* Masks of the lanes in which the exact orbit is certainly inside, or outside. */
static int_lanes error_inside(error_place place, number_real radius_squared) {
  const number_real radius = number_root_above(radius_squared), more = (number_real)(NUMBER_MORE);
  return lanes_mask((place.size + place.error) * more * more * more <= radius);
}

static int_lanes error_outside(error_place place, number_real radius_squared) {
  const number_real radius = number_root_above(radius_squared), more = (number_real)(NUMBER_MORE);
  return lanes_mask(place.size >= (radius + place.error) * more * more * more);
}
