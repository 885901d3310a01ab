/* The arithmetic of derivatives for float and double: plain numbers of the same type. A derivative is by a pixel's
 * side, but for a factor below 2, so what leaves the type's range is of an orbit that is no pixel's.
 *
 * With HAS_DERIVATIVES a formula's part defines its derivative. */
#define HAS_DERIVATIVES 1

typedef number_real derivative_real;
typedef number_complex derivative_point;
typedef number_complex derivative_complex;

/* 32-bit words of a saved derivative. */
#define DERIVATIVE_WORDS NUMBER_STATE_WORDS

/* Mask of lanes as number_keep takes it. */
static number_real derivative_choose(number_real value, number_real other, int_lanes mask) {
  return select(value, other, number_select_mask(mask));
}

static derivative_point derivative_point_from(number_complex z) {
  return z;
}

static derivative_point derivative_point_from_far(number_far z) {
  return z;
}

static derivative_point derivative_point_product(derivative_point a, derivative_point b) {
  const derivative_point product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return product;
}

static derivative_point derivative_point_square(derivative_point z) {
  const derivative_point square = {z.re * z.re - z.im * z.im, (z.re + z.re) * z.im};
  return square;
}

static derivative_point derivative_point_sum(derivative_point a, derivative_point b) {
  const derivative_point sum = {a.re + b.re, a.im + b.im};
  return sum;
}

/* With the sign of a part turned in the lanes of the mask. */
static derivative_point derivative_point_turn_re(derivative_point z, int_lanes mask) {
  const derivative_point turned = {derivative_choose(z.re, -z.re, mask), z.im};
  return turned;
}

static derivative_point derivative_point_turn_im(derivative_point z, int_lanes mask) {
  const derivative_point turned = {z.re, derivative_choose(z.im, -z.im, mask)};
  return turned;
}

static derivative_complex derivative_zero(void) {
  return number_zero();
}

/* 2^−k, and i·2^−k; 0 where there is no such number. */
static derivative_complex derivative_unit(int k) {
  const derivative_complex unit = {number_from_upper((int_lanes)(max(NUMBER_BIAS - k, 0)) << 8), (number_real)(0)};
  return unit;
}

static derivative_complex derivative_unit_up(int k) {
  const derivative_complex unit = derivative_unit(k), up = {unit.im, unit.re};
  return up;
}

static derivative_complex derivative_add(derivative_complex a, derivative_complex b) {
  const derivative_complex sum = {a.re + b.re, a.im + b.im};
  return sum;
}

static derivative_complex derivative_twice(derivative_complex a) {
  return derivative_add(a, a);
}

/* z·a. */
static derivative_complex derivative_times(derivative_point z, derivative_complex a) {
#if ROUNDING_FUSED
  const derivative_complex product = {fma(z.re, a.re, -(z.im * a.im)), fma(z.re, a.im, z.im * a.re)};
#else
  const derivative_complex product = {z.re * a.re - z.im * a.im, z.re * a.im + z.im * a.re};
#endif
  return product;
}

/* 2·z·a, with the sign of its imaginary part turned in the lanes of the mask. */
static derivative_complex derivative_square(derivative_point z, derivative_complex a, int_lanes turned) {
  const number_real re = z.re + z.re, im = z.im + z.im;
  const number_real up_re = derivative_choose(re, -re, turned), up_im = derivative_choose(im, -im, turned);
#if ROUNDING_FUSED
  const derivative_complex next = {fma(re, a.re, -(im * a.im)), fma(up_re, a.im, up_im * a.re)};
#else
  const derivative_complex next = {re * a.re - im * a.im, up_re * a.im + up_im * a.re};
#endif
  return next;
}

/* The same plus move. */
static derivative_complex derivative_square_add(derivative_point z, derivative_complex a, int_lanes turned,
                                                derivative_complex move) {
  const number_real re = z.re + z.re, im = z.im + z.im;
  const number_real up_re = derivative_choose(re, -re, turned), up_im = derivative_choose(im, -im, turned);
#if ROUNDING_FUSED
  const derivative_complex next = {fma(re, a.re, fma(-im, a.im, move.re)), fma(up_re, a.im, fma(up_im, a.re, move.im))};
#else
  const derivative_complex next = {(re * a.re - im * a.im) + move.re, (up_re * a.im + up_im * a.re) + move.im};
#endif
  return next;
}

static derivative_complex derivative_turn_re(derivative_complex a, int_lanes mask) {
  return derivative_point_turn_re(a, mask);
}

static derivative_complex derivative_turn_im(derivative_complex a, int_lanes mask) {
  return derivative_point_turn_im(a, mask);
}

static derivative_complex derivative_keep(derivative_complex a, derivative_complex other, int_lanes mask) {
  return number_keep(a, other, mask);
}

/* The parts rounded to float. */
static void derivative_parts(derivative_complex a, float_lanes *re, float_lanes *im) {
  *re = number_to_float(a.re);
  *im = number_to_float(a.im);
}

static void derivative_pack(derivative_complex a, uint_lanes *words) {
  number_pack(a, words);
}

static derivative_complex derivative_unpack(const uint_lanes *words) {
  return number_unpack(words);
}
