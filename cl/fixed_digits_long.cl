/* The digits of number_fixed.cl as 64-bit integers that count their units; products have 128 bits. For devices without
 * double, or with few double units. It rounds as the fma of fixed_digits_double.cl do, so all bits agree. */
#define FIXED_MASK ((1L << FIXED_BITS) - 1)
#define FIXED_HALF (1L << (FIXED_BITS - 1))
#define FIXED_FAR (1L << (FIXED_BITS + 3)) /* 8: outside for every R; steps and norms from below it do not wrap */
#define FIXED_LARGE (1L << (FIXED_BITS + 6)) /* 64 */

static digit_lanes fixed_from_long(long_lanes units, int k) { return units; }
static digit_lanes fixed_from_first(long_lanes units) { return units; }
static long_lanes fixed_to_long(digit_lanes digit, int k) { return digit; }

/* Digit k, and digit k + 1, times 2^(FIXED_BITS·k). */
static float_lanes fixed_first_to_float(digit_lanes digit, int k) {
  return LANED(convert_float)(digit) * (1.0f / (1UL << FIXED_BITS));
}

static float_lanes fixed_second_to_float(digit_lanes digit, int k) {
  const float unit = 1.0f / (1UL << FIXED_BITS);
  return LANED(convert_float)(digit) * (unit * unit);
}

/* sum + fraction / 2^FIXED_BITS to nearest, ties to even. Adding one less than a half, and one more if the sum is odd,
 * carries exactly when it must. */
static long_lanes fixed_round(long_lanes sum, long_lanes fraction) {
  return sum + (((fraction & FIXED_MASK) + (sum & 1L) + (FIXED_HALF - 1)) >> FIXED_BITS);
}

/* ⌊a·b / 2^FIXED_BITS⌋ */
static long_lanes fixed_high(long_lanes a, long_lanes b) {
  return (mul_hi(a, b) << (64 - FIXED_BITS)) | (((a * b) >> FIXED_BITS) & ((1L << (64 - FIXED_BITS)) - 1));
}

static number_real fixed_multiply_add(const digit_lanes *a, const digit_lanes *b, number_real c, int twice) {
  number_real r;
  long_lanes below = (long_lanes)0L, carry = (long_lanes)0L; /* column k + 1, waiting for what column k loses */
  FIXED_LOOP for (int k = FIXED_LAST; k >= 0; k--) {
    long_lanes sum = c.digit[k], lost = (long_lanes)0L;
    FIXED_LOOP for (int i = 0; i <= k; i++) {
      const long_lanes left = a[i] << twice, product = left * b[k - i];
      const long_lanes more = fixed_round(sum + fixed_high(left, b[k - i]), product);
      lost += product - ((more - sum) << FIXED_BITS);
      sum = more;
    }
    if (k < FIXED_LAST) { /* column k + 1 is complete: what exceeds half a unit of digit k goes to column k */
      const long_lanes whole = below + lost + carry;
      carry = fixed_round(whole >> FIXED_BITS, whole);
      r.digit[k + 1] = whole - (carry << FIXED_BITS);
    }
    below = sum;
  }
  r.digit[0] = below + carry;
  return r;
}

/* All ones where a coordinate is at least `limit` units of the first digit, less one. */
static long_lanes fixed_beyond(number_complex z, long limit) {
  const long_lanes x = z.re.digit[0], y = z.im.digit[0];
  return ((limit - (x ^ (x >> 63))) | (limit - (y ^ (y >> 63)))) >> 63;
}

/* All ones where a coordinate is 8 or more. */
static long_lanes fixed_far(number_complex z) {
  return fixed_beyond(z, FIXED_FAR);
}

static int_lanes fixed_outside(number_complex z, number_real radius_squared) {
  long_lanes below = (long_lanes)0L, carry = (long_lanes)0L, any_bit = (long_lanes)0L;
  FIXED_LOOP for (int k = FIXED_LAST; k >= 0; k--) {
    long_lanes sum = -radius_squared.digit[k], lost = (long_lanes)0L;
    FIXED_LOOP for (int i = 0; 2 * i <= k; i++) {
      const int twice = 2 * i < k;
      const long_lanes x = z.re.digit[i] << twice, y = z.im.digit[i] << twice;
      sum += fixed_high(x, z.re.digit[k - i]) + fixed_high(y, z.im.digit[k - i]);
      lost += ((x * z.re.digit[k - i]) & FIXED_MASK) + ((y * z.im.digit[k - i]) & FIXED_MASK);
    }
    const long_lanes whole = below + lost + carry;
    any_bit |= whole & FIXED_MASK;
    carry = whole >> FIXED_BITS;
    below = sum;
  }
  below += carry;
  return lanes_mask(below > 0L) | (lanes_mask(below == 0L) & lanes_mask(any_bit != 0L)) |
      lanes_mask(fixed_far(z) != 0L);
}

/* z in the lanes of the mask, `next` in the rest. */
static number_complex fixed_kept(number_complex z, number_complex next, long_lanes mask) {
  number_complex kept;
  FIXED_LOOP for (int k = 0; k < FIXED_DIGITS; k++) {
    kept.re.digit[k] = next.re.digit[k] ^ ((next.re.digit[k] ^ z.re.digit[k]) & mask);
    kept.im.digit[k] = next.im.digit[k] ^ ((next.im.digit[k] ^ z.im.digit[k]) & mask);
  }
  return kept;
}

/* An orbit far outside stays where it is: it must not wrap and come back. */
static number_complex fixed_hold(number_complex z, number_complex next) {
  return fixed_kept(z, next, fixed_far(z));
}

/* Nor may what a line makes on the way: from below 64, a product of two is below 2¹³. */
static number_complex fixed_saturate(number_complex z, number_complex next) {
  return fixed_kept(z, next, fixed_beyond(z, FIXED_LARGE));
}
