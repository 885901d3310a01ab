/* The arithmetic of derivatives for fixed point: integers with an exponent, since a derivative grows like the zoom, and
 * devices without double are to give the same bits. Points are rounded to float, which is enough: their errors do not
 * add up but like those of a walk.
 *
 * With HAS_DERIVATIVES a formula's part defines its derivative. */
#define HAS_DERIVATIVES 1

/* (re + i·im)·2^e. */
typedef float_lanes derivative_real;
typedef struct { float_lanes re, im; int_lanes e; } derivative_point;

/* (re + i·im)·2^(e − 29), the larger part from 2²⁷ to 2²⁹ in size; 0 has the exponent DERIVATIVE_NOTHING. */
typedef struct { int_lanes re, im, e; } derivative_complex;
#define DERIVATIVE_NOTHING (-(1 << 28))
#define DERIVATIVE_WORDS 3

/* Two digits below this have fewer bits than a float. */
#define DERIVATIVE_FEW (0x1p-22f / (1UL << FIXED_BITS))

static derivative_complex derivative_zero(void) {
  const derivative_complex zero = {(int_lanes)(0), (int_lanes)(0), (int_lanes)(DERIVATIVE_NOTHING)};
  return zero;
}

/* 2^−k, and i·2^−k. */
static derivative_complex derivative_unit(int k) {
  const derivative_complex unit = {(int_lanes)(1 << 28), (int_lanes)(0), (int_lanes)(1 - k)};
  return unit;
}

static derivative_complex derivative_unit_up(int k) {
  const derivative_complex unit = {(int_lanes)(0), (int_lanes)(1 << 28), (int_lanes)(1 - k)};
  return unit;
}

/* Parts of at most 2³⁰ in size, normalised; a shift to the right rounds down. The larger part may be half as large as
 * it could be: its exponent is that of a float, which is rounded. */
static derivative_complex derivative_normal(int_lanes re, int_lanes im, int_lanes e) {
  const int_lanes larger = max(LANED(as_int)(abs(re)), LANED(as_int)(abs(im)));
  const int_lanes lead = 155 - (LANED(as_int)(LANED(convert_float)(larger)) >> 23);
  const int_lanes left = clamp(lead, (int_lanes)(0), (int_lanes)(29)), right = max(-lead, (int_lanes)(0));
  const derivative_complex normal = {(re << left) >> right, (im << left) >> right,
                                     select(e - lead, (int_lanes)(DERIVATIVE_NOTHING), lanes_mask(larger == 0))};
  return normal;
}

/* 2^e for e from −126 to 127. */
static float_lanes derivative_power(int_lanes e) {
  return LANED(as_float)((clamp(e, (int_lanes)(-126), (int_lanes)(127)) + 127) << 23);
}

/* A point as a derivative is written; parts are rounded towards 0. */
static derivative_complex derivative_of_point(derivative_point z) {
  const float_lanes larger = max(fabs(z.re), fabs(z.im));
  const int_lanes by = max((LANED(as_int)(larger) >> 23) - 126, (int_lanes)(-90));
  const float_lanes power = derivative_power(29 - by);
  const derivative_complex same = {LANED(convert_int)(z.re * power), LANED(convert_int)(z.im * power),
                                   select(z.e + by, (int_lanes)(DERIVATIVE_NOTHING), lanes_mask(larger == 0.0f))};
  return same;
}

/* A digit and the one after it, times 2^(FIXED_BITS·k). */
static float_lanes derivative_digits(const digit_lanes *digits, int k) {
  const int next = k < FIXED_LAST ? k + 1 : k;
  const float_lanes upper = fixed_first_to_float(digits[k], k), lower = fixed_second_to_float(digits[next], k);
  return k < FIXED_LAST ? upper + lower : upper;
}

/* z by its first two digits, or by later ones where these have few bits. */
static derivative_point derivative_point_from(number_complex z) {
  derivative_point point = {derivative_digits(z.re.digit, 0), derivative_digits(z.im.digit, 0), (int_lanes)(0)};
  ROLLED for (int k = 1; k < FIXED_DIGITS; k++) {
    const int_lanes small = lanes_mask(max(fabs(point.re), fabs(point.im)) < DERIVATIVE_FEW) &
                            lanes_mask(point.e == (int_lanes)(-FIXED_BITS * (k - 1)));
    if (!lanes_any(small)) break;
    point.re = select(point.re, derivative_digits(z.re.digit, k), small);
    point.im = select(point.im, derivative_digits(z.im.digit, k), small);
    point.e = select(point.e, (int_lanes)(-FIXED_BITS * k), small);
  }
  return point;
}

static derivative_point derivative_point_from_far(number_far z) {
  const derivative_point point = {z.re, z.im, (int_lanes)(0)};
  return point;
}

static derivative_point derivative_point_product(derivative_point a, derivative_point b) {
  const derivative_point product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, a.e + b.e};
  return product;
}

static derivative_point derivative_point_square(derivative_point z) {
  const derivative_point square = {z.re * z.re - z.im * z.im, (z.re + z.re) * z.im, z.e + z.e};
  return square;
}

/* The sum at the larger exponent: what is far below it is lost. */
static derivative_point derivative_point_sum(derivative_point a, derivative_point b) {
  const int_lanes e = max(a.e, b.e);
  const float_lanes by_a = derivative_power(a.e - e), by_b = derivative_power(b.e - e);
  const derivative_point sum = {a.re * by_a + b.re * by_b, a.im * by_a + b.im * by_b, e};
  return sum;
}

/* With the sign of a part turned in the lanes of the mask. */
static derivative_point derivative_point_turn_re(derivative_point z, int_lanes mask) {
  const derivative_point turned = {select(z.re, -z.re, mask), z.im, z.e};
  return turned;
}

static derivative_point derivative_point_turn_im(derivative_point z, int_lanes mask) {
  const derivative_point turned = {z.re, select(z.im, -z.im, mask), z.e};
  return turned;
}

/* z·a, not normalised: parts of at most 2²⁹ in size. */
static derivative_complex derivative_product(derivative_point z, derivative_complex a) {
  const derivative_complex by = derivative_of_point(z);
  const int_lanes re = by.re << 1, im = by.im << 1, a_re = a.re << 1, a_im = a.im << 1;
  const derivative_complex product = {mul_hi(re, a_re) - mul_hi(im, a_im), mul_hi(re, a_im) + mul_hi(im, a_re),
                                      by.e + a.e + 1};
  return product;
}

/* a + b, of parts of at most 2²⁹ in size. */
static derivative_complex derivative_add(derivative_complex a, derivative_complex b) {
  const int_lanes e = max(a.e, b.e), most = (int_lanes)(31), by_a = min(e - a.e, most), by_b = min(e - b.e, most);
  return derivative_normal((a.re >> by_a) + (b.re >> by_b), (a.im >> by_a) + (b.im >> by_b), e);
}

static derivative_complex derivative_twice(derivative_complex a) {
  const derivative_complex twice = {a.re, a.im, a.e + 1};
  return twice;
}

/* z·a. */
static derivative_complex derivative_times(derivative_point z, derivative_complex a) {
  const derivative_complex product = derivative_product(z, a);
  return derivative_normal(product.re, product.im, product.e);
}

static derivative_complex derivative_turn_re(derivative_complex a, int_lanes mask) {
  const derivative_complex turned = {select(a.re, -a.re, mask), a.im, a.e};
  return turned;
}

static derivative_complex derivative_turn_im(derivative_complex a, int_lanes mask) {
  const derivative_complex turned = {a.re, select(a.im, -a.im, mask), a.e};
  return turned;
}

/* 2·z·a, with the sign of its imaginary part turned in the lanes of the mask. */
static derivative_complex derivative_square(derivative_point z, derivative_complex a, int_lanes turned) {
  return derivative_turn_im(derivative_twice(derivative_times(z, a)), turned);
}

/* The same plus move, where the product is not normalised. */
static derivative_complex derivative_square_add(derivative_point z, derivative_complex a, int_lanes turned,
                                                derivative_complex move) {
  return derivative_add(derivative_turn_im(derivative_twice(derivative_product(z, a)), turned), move);
}

static derivative_complex derivative_keep(derivative_complex a, derivative_complex other, int_lanes mask) {
  const derivative_complex kept = {select(a.re, other.re, mask), select(a.im, other.im, mask),
                                   select(a.e, other.e, mask)};
  return kept;
}

/* The parts rounded to float; 0 where they are below those of any distance. */
static void derivative_parts(derivative_complex a, float_lanes *re, float_lanes *im) {
  const int_lanes small = lanes_mask(a.e < (int_lanes)(-80));
  const float_lanes power = derivative_power(a.e - 29);
  *re = select(LANED(convert_float)(a.re) * power, (float_lanes)(0), small);
  *im = select(LANED(convert_float)(a.im) * power, (float_lanes)(0), small);
}

static void derivative_pack(derivative_complex a, uint_lanes *words) {
  words[0] = LANED(as_uint)(a.re);
  words[1] = LANED(as_uint)(a.im);
  words[2] = LANED(as_uint)(a.e);
}

static derivative_complex derivative_unpack(const uint_lanes *words) {
  const derivative_complex a = {LANED(as_int)(words[0]), LANED(as_int)(words[1]), LANED(as_int)(words[2])};
  return a;
}
