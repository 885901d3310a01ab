/* What float and double share. Each operation is written in the one order that the design fixes, so with denormals
 * kept every result is determined by IEEE 754.
 *
 * ROUNDING_FUSED          1: fma wherever a product is added to; 0: every operation rounded on its own
 * SMOOTH_RADIUS_SQUARED   where smooth colouring takes its measure, a whole number */
#ifndef ROUNDING_FUSED
#error "ROUNDING_FUSED is not defined"
#endif
#ifndef SMOOTH_RADIUS_SQUARED
#error "SMOOTH_RADIUS_SQUARED is not defined"
#endif

typedef struct { number_real re, im; } number_complex;

static number_real number_add(number_real a, number_real b) {
  return a + b;
}

static number_real number_subtract(number_real a, number_real b) {
  return a - b;
}

static number_real number_multiply(number_real a, number_real b) {
  return a * b;
}

/* a·b + c, rounded once. FMA_ZERO_SIGN is for a driver that gives a 0 the sign of the product. */
static number_real number_fma(number_real a, number_real b, number_real c) {
#ifdef FMA_ZERO_SIGN
  const number_real sum = fma(a, b, c);
  return select(sum, a * b + c, number_select_mask(lanes_mask(sum == (number_real)(0))));
#else
  return fma(a, b, c);
#endif
}

static number_real number_square(number_real a) {
  return a * a;
}

static number_real number_multiply_add(number_real a, number_real b, number_real c) {
#if ROUNDING_FUSED
  return number_fma(a, b, c);
#else
  return a * b + c;
#endif
}

static number_real number_negate(number_real a) {
  return -a;
}

static number_real number_absolute(number_real a) {
  return fabs(a);
}

static int_lanes number_less(number_real a, number_real b) {
  return lanes_mask(a < b);
}

static number_complex number_zero(void) {
  number_complex zero = {(number_real)(0), (number_real)(0)};
  return zero;
}

/* A coordinate under way from the anchor to a pixel, and the distance between pixels, are plain reals here. */
typedef number_real number_place, number_pitch;
#define NUMBER_PITCH_WORDS NUMBER_WORDS

static number_place number_load_place(global const uint *words) {
  return number_load(words);
}

static number_place number_place_from(number_real a) {
  return a;
}

static number_real number_placed(number_place place) {
  return place;
}

static number_pitch number_pitch_from(number_place value, int rest) {
  return value;
}

static number_pitch number_load_pitch(global const uint *words) {
  return number_load(words);
}

/* start + count·pitch. Counts are exact in the number: the host sees to it. */
static number_place number_along(int_lanes count, number_pitch pitch, number_place start) {
  return number_multiply_add(number_from_int(count), pitch, start);
}

/* z² + c. */
static number_complex number_square_add(number_complex z, number_complex c) {
#if ROUNDING_FUSED
  number_complex next = {number_fma(z.re, z.re, number_fma(-z.im, z.im, c.re)), number_fma(z.re + z.re, z.im, c.im)};
#else
  number_complex next = {(z.re * z.re - z.im * z.im) + c.re, (z.re + z.re) * z.im + c.im};
#endif
  return next;
}

/* z², a·b, a·b + c and z + c. */
static number_complex number_complex_square(number_complex z) {
#if ROUNDING_FUSED
  number_complex square = {number_fma(z.re, z.re, -(z.im * z.im)), (z.re + z.re) * z.im};
#else
  number_complex square = {z.re * z.re - z.im * z.im, (z.re + z.re) * z.im};
#endif
  return square;
}

static number_complex number_complex_multiply(number_complex a, number_complex b) {
#if ROUNDING_FUSED
  number_complex product = {number_fma(a.re, b.re, -(a.im * b.im)), number_fma(a.re, b.im, a.im * b.re)};
#else
  number_complex product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
#endif
  return product;
}

static number_complex number_complex_multiply_add(number_complex a, number_complex b, number_complex c) {
#if ROUNDING_FUSED
  number_complex next = {number_fma(a.re, b.re, number_fma(-a.im, b.im, c.re)),
                         number_fma(a.re, b.im, number_fma(a.im, b.re, c.im))};
#else
  number_complex next = {(a.re * b.re - a.im * b.im) + c.re, (a.re * b.im + a.im * b.re) + c.im};
#endif
  return next;
}

static number_complex number_complex_add(number_complex z, number_complex c) {
  number_complex sum = {z.re + c.re, z.im + c.im};
  return sum;
}

/* What follows z after a line of operations: an orbit that has left needs no holding. */
static number_complex number_hold(number_complex z, number_complex next) {
  return next;
}

static number_real number_norm_squared(number_complex z) {
  return number_multiply_add(z.re, z.re, z.im * z.im);
}

/* Mask of the lanes with |z|² > R². Written as "not within", so that a NaN after overflow is outside. */
static int_lanes number_outside(number_complex z, number_real radius_squared) {
  return lanes_mask(!(number_norm_squared(z) <= radius_squared));
}

/* `other` in the lanes of the mask, z in the rest. */
static number_complex number_keep(number_complex z, number_complex other, int_lanes mask) {
  number_complex kept = {select(z.re, other.re, number_select_mask(mask)),
                         select(z.im, other.im, number_select_mask(mask))};
  return kept;
}

/* Masks of the lanes in which both parts are equal, and of lanes among which these are: the latter costs less. */
static int_lanes number_equal(number_complex z, number_complex other) {
  return lanes_mask(z.re == other.re) & lanes_mask(z.im == other.im);
}

static int_lanes number_may_equal(number_complex z, number_complex other) {
  return lanes_mask(z.re == other.re);
}

/* An orbit on its way from the disc to the smooth radius goes on in the number itself. */
typedef number_complex number_far;
typedef number_real number_far_real;

static number_far number_far_from(number_complex z) {
  return z;
}

static number_far number_far_keep(number_far z, number_far other, int_lanes mask) {
  return number_keep(z, other, mask);
}

static number_far number_far_square_add(number_far z, number_far c) {
  return number_square_add(z, c);
}

static number_far number_far_square(number_far z) {
  return number_complex_square(z);
}

static number_far number_far_multiply(number_far a, number_far b) {
  return number_complex_multiply(a, b);
}

static number_far number_far_multiply_add(number_far a, number_far b, number_far c) {
  return number_complex_multiply_add(a, b, c);
}

static number_far number_far_add(number_far z, number_far c) {
  return number_complex_add(z, c);
}

static int_lanes number_far_outside(number_far z) {
  return number_outside(z, (number_real)(SMOOTH_RADIUS_SQUARED));
}

/* A part rounded to float. */
#define number_far_to_float(value) number_to_float(value)

/* |z|² rounded to float. */
static float_lanes number_far_norm(number_far z) {
  return number_to_float(number_norm_squared(z));
}

/* z as NUMBER_STATE_WORDS words a lane, and back, bit for bit. */
static void number_pack(number_complex z, uint_lanes *words) {
  for (uint word = 0; word < NUMBER_WORDS; word++) {
    words[word] = number_pack_real(z.re, word);
    words[NUMBER_WORDS + word] = number_pack_real(z.im, word);
  }
}

static number_complex number_unpack(const uint_lanes *words) {
  number_complex z = {number_unpack_real(words), number_unpack_real(words + NUMBER_WORDS)};
  return z;
}
