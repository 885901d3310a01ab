/* Fixed point of NUMBER_WORDS 32-bit words, 2 to 32; fp128 is 4. The part after it computes with its digits:
 * fixed_digits_double.cl on double-precision units, fixed_digits_long.cl on integers. Both give the same bits.
 *
 * NUMBER_WORDS     words of an encoded value
 * DOUBLE_DIGITS    1 where fixed_digits_double.cl follows, 0 where fixed_digits_long.cl does
 * DIGITS_UNROLLED  1 where loops over digits are written out, so that digits are registers; 0 where there are so many
 *                  that it would mostly take long to compile
 *
 * A value. Encoded, it is the article's: two's complement in units of 2^−(32·(NUMBER_WORDS − 1)), least significant
 * word first, the last word integral. Inside, it is FIXED_DIGITS digits of FIXED_BITS bits, most significant first.
 * Digit k counts units of 2^−(FIXED_BITS·(k + 1)) and has a sign. All but digit 0, which also holds the integral part,
 * are at most half a unit of the digit before.
 *     fp128: 2 digits of 48 bits, 96 fraction bits. 8 words: 5 of 46, 230. 32 words: 22 of 46, 1012.
 *
 * A step, exactly. x′ = (x + y)·(x − y) + cx and y′ = 2·x·y + cy, with sums and differences taken digit by digit. A
 * column is the products of digits i + j = k; those of k ≥ FIXED_DIGITS are dropped. Products of the last column are
 * added to the last digit of c one by one, i ascending, each sum rounded to a unit of the last digit, ties to even. All
 * else is exact, and carries to nearest make the result's digits (ties: see fixed_multiply_add in the oracle). Each of
 * D = FIXED_DIGITS roundings costs at most half a unit of the last digit, and so does each of the D − 1 products (pairs
 * of them, in x′) in the first dropped column; what is below that is less than 2⁻⁴⁰ units. So
 *     |error of x′|, |error of y′| < D − 1/2 units of the last digit: 1.5·2⁻⁹⁶ at fp128.
 * Seen: 1.45 there, 7.5 with 22 digits.
 * (u + v·i)·(x + y·i) + c is, each product and sum on its own, u·x + (−v·y + cx) and u·y + (v·x + cy).
 *
 * Range. R ≤ 2.3 up to 4 words (|z|² + |c| < 8), R ≤ 5 above (< 32): then every orbit is exact up to and including its
 * first z outside. Other formulas: all that a step from within the disc makes, below the same bounds. |c| < 2¹⁵. Where
 * an orbit that has left goes from there is not defined; where steps are not tested one by one, it stays outside.
 * Colouring to a larger radius goes on in float. */
#if NUMBER_WORDS < 2 || NUMBER_WORDS > 32
#error "NUMBER_WORDS must be 2 to 32"
#endif
#ifndef DOUBLE_DIGITS
#error "DOUBLE_DIGITS is not defined"
#endif
#ifndef SMOOTH_RADIUS_SQUARED
#error "SMOOTH_RADIUS_SQUARED is not defined"
#endif
#if NUMBER_WORDS <= 4
#define FIXED_BITS 48
#else
#define FIXED_BITS 46
#endif
#define FIXED_DIGITS ((32 * (NUMBER_WORDS - 1) + FIXED_BITS - 1) / FIXED_BITS)
#define FIXED_LAST (FIXED_DIGITS - 1)
#define FIXED_SPARE (FIXED_BITS * FIXED_DIGITS - 32 * (NUMBER_WORDS - 1)) /* bits below the encoded ones */
#define NUMBER_STATE_WORDS (4 * FIXED_DIGITS)
#define NUMBER_STEP_ERROR 0x1p-40f /* far more than any width's */

#ifndef DIGITS_UNROLLED
#error "DIGITS_UNROLLED is not defined"
#endif
#if DIGITS_UNROLLED
#define FIXED_LOOP UNROLL
#else
#define FIXED_LOOP ROLLED
#endif

#if DOUBLE_DIGITS
typedef double_lanes digit_lanes;
#else
typedef long_lanes digit_lanes;
#endif
typedef struct { digit_lanes digit[FIXED_DIGITS]; } number_real;
typedef struct { number_real re, im; } number_complex;

/* What the next part defines. A digit as a count of its units, and digit 0 of a point, which may be far out; digit k,
 * and digit k + 1, times 2^(FIXED_BITS·k); a·b + c, or 2·a·b + c; |z|² > R²; z′ of a step, as it came out or held back
 * where z is so far out that integers would wrap; an operation's result, or z where a coordinate has reached 64: within
 * a line, what has grown so far grows no more. */
static digit_lanes fixed_from_long(long_lanes units, int k);
static digit_lanes fixed_from_first(long_lanes units);
static long_lanes fixed_to_long(digit_lanes digit, int k);
static float_lanes fixed_first_to_float(digit_lanes digit, int k);
static float_lanes fixed_second_to_float(digit_lanes digit, int k);
static number_real fixed_multiply_add(const digit_lanes *a, const digit_lanes *b, number_real c, int twice);
static int_lanes fixed_outside(number_complex z, number_real radius_squared);
static number_complex fixed_hold(number_complex z, number_complex next);
static number_complex fixed_saturate(number_complex z, number_complex next);

/* Digits from integers of any size up to 2⁶² units: carried from the last up, to nearest. */
static number_real fixed_from_longs(const long_lanes *units) {
  number_real r;
  long_lanes carry = (long_lanes)0L;
  FIXED_LOOP for (int k = FIXED_LAST; k >= 0; k--) {
    const long_lanes sum = units[k] + carry;
    carry = k > 0 ? (sum + (1L << (FIXED_BITS - 1))) >> FIXED_BITS : (long_lanes)0L;
    r.digit[k] = fixed_from_long(sum - (carry << FIXED_BITS), k);
  }
  return r;
}

/* A coordinate under way from the anchor to a pixel: its digits as counts of their units. Digit 0 is modulo 2⁶⁴, so the
 * anchor, the distance between pixels and the way may be as large as they like where |c| < 2¹⁵ in the end. As a digit
 * of double none of them would be exact. */
typedef struct { long_lanes units[FIXED_DIGITS]; } number_place;

static long_lanes fixed_wrapping(long_lanes a, long_lanes b) {
  return LANED(as_long)(LANED(as_ulong)(a) + LANED(as_ulong)(b));
}

/* As fixed_from_longs, but that digit 0 may be of any size, and wraps. */
static number_place fixed_place(const long_lanes *units) {
  number_place place;
  long_lanes carry = (long_lanes)0L;
  FIXED_LOOP for (int k = FIXED_LAST; k > 0; k--) {
    const long_lanes sum = units[k] + carry;
    carry = (sum + (1L << (FIXED_BITS - 1))) >> FIXED_BITS;
    place.units[k] = sum - (carry << FIXED_BITS);
  }
  place.units[0] = fixed_wrapping(units[0], carry);
  return place;
}

static number_place number_place_from(number_real a) {
  number_place place;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) place.units[k] = fixed_to_long(a.digit[k], k);
  return place;
}

/* The point at which the way ends. */
static number_real number_placed(number_place place) {
  number_real r;
  r.digit[0] = fixed_from_first(place.units[0]);
  FIXED_LOOP for (int k = 1; k < FIXED_DIGITS; k++) r.digit[k] = fixed_from_long(place.units[k], k);
  return r;
}

/* The bits of the encoded value from a bit on (below 0 they are 0): FIXED_BITS of them, or all, with the sign. */
static long fixed_slice(global const uint *words, int bit, bool all) {
  const ulong sign = (int)words[NUMBER_WORDS - 1] < 0 ? ~0UL : 0UL;
  const int top = 32 * NUMBER_WORDS - bit;
  ulong slice = top < 64 ? sign << top : 0UL;
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const int shift = 32 * k - bit;
    if (shift > -32 && shift < 64) slice |= shift < 0 ? (ulong)words[k] >> -shift : (ulong)words[k] << shift;
  }
  return (long)(all ? slice : slice & ((1UL << FIXED_BITS) - 1));
}

static number_place number_load_place(global const uint *words) {
  long_lanes units[FIXED_DIGITS];
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++)
    units[k] = (long_lanes)fixed_slice(words, FIXED_BITS * (FIXED_LAST - k) - FIXED_SPARE, k == 0);
  return fixed_place(units);
}

static number_real number_load(global const uint *words) {
  return number_placed(number_load_place(words));
}

/* The distance between pixels, and what rounding it to an encoded value left over, in units of 2⁻³² of the last encoded
 * bit. Without the rest a pixel 2^k columns from the anchor would be off by up to 2^k half units. */
typedef struct { number_place value; long rest; } number_pitch;
#define NUMBER_PITCH_WORDS (NUMBER_WORDS + 1)

static number_pitch number_pitch_from(number_place value, int rest) {
  number_pitch pitch;
  pitch.value = value;
  pitch.rest = rest;
  return pitch;
}

static number_pitch number_load_pitch(global const uint *words) {
  return number_pitch_from(number_load_place(words), (int)words[NUMBER_WORDS]);
}

/* start + count·pitch to the nearest unit of the last digit (halves up), for |count| < 2³¹, and < 2¹⁸ where there are
 * more than 32 spare bits: a digit goes through the product in two parts, upper and lower. Only in digit 0 can any of
 * that wrap. */
static number_place number_along(int_lanes count, number_pitch pitch, number_place start) {
  long_lanes units[FIXED_DIGITS], carry = (long_lanes)0L;
  const long_lanes n = LANED(convert_long)(count);
#if FIXED_SPARE < 32
  const long_lanes rest = (n * pitch.rest + (1L << (31 - FIXED_SPARE))) >> (32 - FIXED_SPARE);
#else
  const long_lanes rest = (n * pitch.rest) << (FIXED_SPARE - 32);
#endif
  FIXED_LOOP for (int k = FIXED_LAST; k > 0; k--) {
    const long_lanes digit = pitch.value.units[k], upper = n * (digit >> 24);
    units[k] = start.units[k] + n * (digit & 0xffffffL) + carry + ((upper & ((1L << (FIXED_BITS - 24)) - 1)) << 24);
    carry = upper >> (FIXED_BITS - 24);
  }
  const long_lanes first = LANED(as_long)(LANED(as_ulong)(n) * LANED(as_ulong)(pitch.value.units[0]));
  units[0] = fixed_wrapping(fixed_wrapping(start.units[0], first), carry);
  units[FIXED_LAST] = fixed_wrapping(units[FIXED_LAST], rest);
  return fixed_place(units);
}

static number_complex number_zero(void) {
  number_complex z;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) z.re.digit[k] = z.im.digit[k] = (digit_lanes)0;
  return z;
}

/* Sums and differences are exact; their digits are carried to nearest. */
static number_real number_add(number_real a, number_real b) {
  long_lanes units[FIXED_DIGITS];
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) units[k] = fixed_to_long(a.digit[k], k) +
      fixed_to_long(b.digit[k], k);
  return fixed_from_longs(units);
}

static number_real number_negate(number_real a) {
  number_real negative;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) negative.digit[k] = -a.digit[k];
  return negative;
}

static number_real number_subtract(number_real a, number_real b) {
  return number_add(a, number_negate(b));
}

/* a·b + c as a step rounds it: each product of the last column to a unit of the last digit. */
static number_real number_multiply_add(number_real a, number_real b, number_real c) {
  return fixed_multiply_add(a.digit, b.digit, c, 0);
}

static number_real number_multiply(number_real a, number_real b) {
  return number_multiply_add(a, b, number_zero().re);
}

static number_real number_square(number_real a) {
  return number_multiply(a, a);
}

/* Mask of the lanes below 0: a real has the sign of its first digit that is not 0. */
static int_lanes fixed_negative(number_real a) {
  int_lanes negative = (int_lanes)(0), open = (int_lanes)(-1);
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) {
    negative |= open & lanes_mask(a.digit[k] < (digit_lanes)0);
    open &= lanes_mask(a.digit[k] == (digit_lanes)0);
  }
  return negative;
}

static number_real number_absolute(number_real a) {
  const long_lanes negative = LANED(convert_long)(fixed_negative(a));
  number_real size;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) size.digit[k] = select(a.digit[k], -a.digit[k], negative);
  return size;
}

static int_lanes number_less(number_real a, number_real b) {
  return fixed_negative(number_subtract(a, b));
}

/* z² + c as it comes out. The imaginary part first: when sum and difference come to life, z has nothing left to do
 * (fewer spills on CPUs). */
INLINED void fixed_square_add(number_complex z, number_complex c, number_complex *next) {
  next->im = fixed_multiply_add(z.re.digit, z.im.digit, c.im, 1);
  digit_lanes sum[FIXED_DIGITS], difference[FIXED_DIGITS];
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) {
    sum[k] = z.re.digit[k] + z.im.digit[k];
    difference[k] = z.re.digit[k] - z.im.digit[k];
  }
  next->re = fixed_multiply_add(sum, difference, c.re, 0);
}

/* z² + c. */
static number_complex number_square_add(number_complex z, number_complex c) {
  number_complex next;
  fixed_square_add(z, c, &next);
  return fixed_hold(z, next);
}

/* Operations in the midst of a line: z², a·b, a·b + c and z + c. */
static number_complex number_complex_square(number_complex z) {
  number_complex square;
  fixed_square_add(z, number_zero(), &square);
  return fixed_saturate(z, square);
}

static number_complex number_complex_multiply_add(number_complex a, number_complex b, number_complex c) {
  number_complex next;
  next.re = number_multiply_add(a.re, b.re, number_multiply_add(number_negate(a.im), b.im, c.re));
  next.im = number_multiply_add(a.re, b.im, number_multiply_add(a.im, b.re, c.im));
  return fixed_saturate(a, next);
}

static number_complex number_complex_multiply(number_complex a, number_complex b) {
  return number_complex_multiply_add(a, b, number_zero());
}

static number_complex number_complex_add(number_complex z, number_complex c) {
  const number_complex sum = {number_add(z.re, c.re), number_add(z.im, c.im)};
  return sum;
}

/* What follows z after a line of operations, or z where that is so far out that it might come back. */
static number_complex number_hold(number_complex z, number_complex next) {
  return fixed_hold(z, next);
}

/* |z|² > R², where |z|² is the columns of both squares that a step would keep, without any rounding. */
static int_lanes number_outside(number_complex z, number_real radius_squared) {
  return fixed_outside(z, radius_squared);
}

/* `other` in the lanes of the mask, z in the rest. */
static number_complex number_keep(number_complex z, number_complex other, int_lanes mask) {
  const long_lanes wide = LANED(convert_long)(mask);
  number_complex kept;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) {
    kept.re.digit[k] = select(z.re.digit[k], other.re.digit[k], wide);
    kept.im.digit[k] = select(z.im.digit[k], other.im.digit[k], wide);
  }
  return kept;
}

/* Masks of the lanes in which both parts are equal, and of lanes among which these are: the latter costs less. */
static int_lanes number_equal(number_complex z, number_complex other) {
  int_lanes equal = (int_lanes)(-1);
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++)
    equal &= lanes_mask(z.re.digit[k] == other.re.digit[k]) & lanes_mask(z.im.digit[k] == other.im.digit[k]);
  return equal;
}

static int_lanes number_may_equal(number_complex z, number_complex other) {
  return lanes_mask(z.re.digit[FIXED_LAST] == other.re.digit[FIXED_LAST]);
}

/* An orbit on its way from the disc to the smooth radius goes on in float, with products and sums alone: the digits
 * have no room for it. */
typedef struct { float_lanes re, im; } number_far;
typedef float_lanes number_far_real;
#define number_far_real_from(value) (value)
#define number_far_to_float(value) (value)

/* A real rounded to float: its first digit, to nearest. */
static float_lanes number_to_float(number_real x) {
  return LANED(convert_float)(fixed_to_long(x.digit[0], 0)) * (1.0f / (1UL << FIXED_BITS));
}

/* |x| by its first two digits. */
static float_lanes fixed_leading(number_real x) {
#if FIXED_DIGITS > 1
  const float_lanes second = LANED(convert_float)(fixed_to_long(x.digit[1], 1));
  return fabs(fma(second, (float_lanes)(1.0f / (1UL << FIXED_BITS) / (1UL << FIXED_BITS)), number_to_float(x)));
#else
  return fabs(number_to_float(x));
#endif
}

/* At least |z|, and at most 2⁻¹⁸ of it and 2⁻⁸⁸ more: what is left of a part is at most half a unit of its last digit
 * here. */
static float_lanes number_reach(number_complex z) {
  const float_lanes re = fixed_leading(z.re), im = fixed_leading(z.im);
  const float_lanes larger = max(max(re, im), (float_lanes)(0x1p-96f)), ratio = min(re, im) / larger;
  return larger * sqrt(fma(ratio, ratio, (float_lanes)(1.0f))) * (1.0f + 0x1p-19f) + 0x1p-89f;
}

static number_far number_far_from(number_complex z) {
  number_far far = {number_to_float(z.re), number_to_float(z.im)};
  return far;
}

static number_far number_far_keep(number_far z, number_far other, int_lanes mask) {
  number_far kept = {select(z.re, other.re, mask), select(z.im, other.im, mask)};
  return kept;
}

static number_far number_far_square_add(number_far z, number_far c) {
  number_far next = {(z.re * z.re - z.im * z.im) + c.re, (z.re + z.re) * z.im + c.im};
  return next;
}

static number_far number_far_square(number_far z) {
  const number_far square = {z.re * z.re - z.im * z.im, (z.re + z.re) * z.im};
  return square;
}

static number_far number_far_multiply(number_far a, number_far b) {
  const number_far product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return product;
}

static number_far number_far_multiply_add(number_far a, number_far b, number_far c) {
  const number_far next = {(a.re * b.re - a.im * b.im) + c.re, (a.re * b.im + a.im * b.re) + c.im};
  return next;
}

static number_far number_far_add(number_far z, number_far c) {
  const number_far sum = {z.re + c.re, z.im + c.im};
  return sum;
}

static float_lanes number_far_norm(number_far z) {
  return z.re * z.re + z.im * z.im;
}

static int_lanes number_far_outside(number_far z) {
  return lanes_mask(!(number_far_norm(z) <= (float)(SMOOTH_RADIUS_SQUARED)));
}

/* Each digit as a 64-bit count of units, low word first: those of re, then of im. For orbits that are still inside. */
static void number_pack(number_complex z, uint_lanes *words) {
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) {
    const ulong_lanes re = LANED(as_ulong)(fixed_to_long(z.re.digit[k], k));
    const ulong_lanes im = LANED(as_ulong)(fixed_to_long(z.im.digit[k], k));
    words[2 * k] = LANED(convert_uint)(re & 0xffffffffUL);
    words[2 * k + 1] = LANED(convert_uint)(re >> 32);
    words[2 * (FIXED_DIGITS + k)] = LANED(convert_uint)(im & 0xffffffffUL);
    words[2 * (FIXED_DIGITS + k) + 1] = LANED(convert_uint)(im >> 32);
  }
}

static long_lanes fixed_unpack(const uint_lanes *words) {
  return LANED(as_long)(LANED(convert_ulong)(words[0]) | LANED(convert_ulong)(words[1]) << 32);
}

static number_complex number_unpack(const uint_lanes *words) {
  number_complex z;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) {
    z.re.digit[k] = fixed_from_long(fixed_unpack(words + 2 * k), k);
    z.im.digit[k] = fixed_from_long(fixed_unpack(words + 2 * (FIXED_DIGITS + k)), k);
  }
  return z;
}
