/* Numbers with an exponent of their own, for the method `perturbation`: complex numbers of the number's reals, and what
 * an operation of a formula makes of a difference from a reference.
 *
 * Operations that see HAS_SCALED define operation_NAME_delta, which cl/README.md describes. */
#define HAS_SCALED

/* The exponent of 0, and its key: below all others. */
#define SCALED_NOTHING (-(1 << 28))
#define SCALED_NO_KEY (-0x7fffffff)

/* (re + i·im)·2^e: the larger part in [1/2, 1) where it is normalised. */
typedef struct {
  number_complex z;
  int_lanes e;
} scaled;

/* 2^e for |e| < NUMBER_BIAS, and 0 for less. */
static number_real scaled_power(int_lanes e) {
  return number_from_upper(max(e + NUMBER_BIAS, (int_lanes)(0)) << 8);
}

/* The same for any e: at most 2^(NUMBER_BIAS + 1), which no bound holds. */
static number_real scaled_power_within(int_lanes e) {
  return number_from_upper(clamp(e + NUMBER_BIAS, (int_lanes)(0), (int_lanes)(2 * NUMBER_BIAS + 1)) << 8);
}

static number_real scaled_choose(number_real value, number_real other, int_lanes mask) {
  return select(value, other, number_select_mask(mask));
}

static scaled scaled_keep(scaled value, scaled other, int_lanes mask) {
  const scaled kept = {number_keep(value.z, other.z, mask), select(value.e, other.e, mask)};
  return kept;
}

/* The parts, with 0 for those that are too small to count. No product of two that are left is a denormal number, so
 * that a device that has none computes the same. */
static number_complex scaled_cut(number_complex z) {
  const number_real zero = (number_real)(0), least = (number_real)(NUMBER_CUT);
  const number_complex cut = {scaled_choose(z.re, zero, lanes_mask(fabs(z.re) < least)),
                              scaled_choose(z.im, zero, lanes_mask(fabs(z.im) < least))};
  return cut;
}

static number_real scaled_larger(number_complex z) {
  return max(fabs(z.re), fabs(z.im));
}

/* At least |z|, and at most 1.09 times it. */
static number_real scaled_reach(number_complex z) {
  const number_real re = fabs(z.re), im = fabs(z.im);
  return fma(min(re, im), (number_real)(0.4143f), max(re, im)) * (number_real)(NUMBER_MORE);
}

/* z·2^e, normalised. */
static scaled scaled_from(number_complex z, int_lanes e) {
  const number_real larger = scaled_larger(z);
  const int_lanes by = (number_upper(larger) >> 8) - (NUMBER_BIAS - 1);
  const number_real power = scaled_power(-by);
  const number_complex parts = {z.re * power, z.im * power};
  const scaled normal = {scaled_cut(parts),
                         select(e + by, (int_lanes)(SCALED_NOTHING), lanes_mask(larger == (number_real)(0)))};
  return normal;
}

/* exponent·256 + the eight bits after the first of the larger part: in the order of the larger parts. */
static int_lanes scaled_key(number_complex z, int_lanes e) {
  const number_real larger = scaled_larger(z);
  const int_lanes key = number_upper(larger) - ((NUMBER_BIAS - 1) << 8) + (e << 8);
  return select(key, (int_lanes)(SCALED_NO_KEY), lanes_mask(larger == (number_real)(0)));
}

static number_complex scaled_product(number_complex a, number_complex b) {
  const number_complex product = {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
  return product;
}

/* a + b, not normalised: both at the larger exponent. */
static scaled scaled_sum(scaled a, scaled b) {
  const int_lanes e = max(a.e, b.e);
  const number_real by_a = scaled_power(a.e - e), by_b = scaled_power(b.e - e);
  const scaled sum = {{fma(a.z.re, by_a, b.z.re * by_b), fma(a.z.im, by_a, b.z.im * by_b)}, e};
  return sum;
}

/* The plain number; 0 where it is too small for one. */
static number_complex scaled_plain(scaled value) {
  const number_real power = scaled_power(min(value.e, (int_lanes)(NUMBER_BIAS)));
  const number_complex plain = {value.z.re * power, value.z.im * power};
  return plain;
}

static number_real scaled_norm(number_complex z) {
  return fma(z.re, z.re, z.im * z.im);
}

/* A value of the reference, and by how much an orbit's differs from it. */
typedef struct {
  scaled from, by;
} scaled_beside;

/* A real number x·2^e: a part of a value. */
typedef struct {
  number_real x;
  int_lanes e;
} scaled_part;

static scaled_part scaled_re(scaled value) {
  const scaled_part part = {value.z.re, value.e};
  return part;
}

static scaled_part scaled_im(scaled value) {
  const scaled_part part = {value.z.im, value.e};
  return part;
}

/* An exponent of a product, no less than that of 0. */
static int_lanes scaled_exponent(int_lanes e) {
  return max(e, (int_lanes)(SCALED_NOTHING));
}

/* The product of two differences from values of the reference, less theirs: (A + a)·(B + b) − A·B. */
static scaled scaled_product_delta(scaled_beside a, scaled_beside b) {
  const scaled sum = scaled_sum(b.from, b.by);
  const scaled first = {scaled_product(a.by.z, scaled_cut(sum.z)), scaled_exponent(a.by.e + sum.e)};
  const scaled second = {scaled_product(a.from.z, b.by.z), scaled_exponent(a.from.e + b.by.e)};
  const scaled both = scaled_sum(first, second), delta = {scaled_cut(both.z), both.e};
  return delta;
}

/* 2^e for an exponent that is not too small, at most 2^NUMBER_BIAS. */
static number_real scaled_power_up(int_lanes e) {
  return number_from_upper(clamp(e + NUMBER_BIAS, (int_lanes)(0), (int_lanes)(2 * NUMBER_BIAS)) << 8);
}

/* |X + x| − |X| for x·2^e at its exponent: x or −x, unless X + x lies on the other side of 0. X is brought to that
 * exponent, where it may overflow or vanish but keeps its side; x is not touched, so that no device's denormal numbers
 * decide. */
static number_real scaled_fold_delta(scaled_part part, number_real by, int_lanes e) {
  const number_real zero = (number_real)(0), from = part.x * scaled_power_up(part.e - e), sum = from + by;
  const int_lanes negative = lanes_mask(from < zero);
  const int_lanes crossed = (~negative & ~lanes_mask(sum >= zero)) | (negative & lanes_mask(sum > zero));
  const number_real value = scaled_choose(by, from + sum, crossed);
  return scaled_choose(value, -value, negative ^ crossed);
}

/* The absolute value of a part at another exponent. */
static number_real scaled_fold(scaled_part part, int_lanes e) {
  return fabs(part.x) * scaled_power(min(part.e - e, (int_lanes)(NUMBER_BIAS)));
}
