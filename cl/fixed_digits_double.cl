/* The digits of number_fixed.cl as doubles: digit k is a multiple of unit(k) = 2^−(FIXED_BITS·(k + 1)).
 *
 * Adding magic(k) = 1.5·2⁵² units makes an fma round its exact result to a multiple of unit(k), as long as that stays
 * below 2⁵¹ units; a second fma returns what the first one rounded away, at most FIXED_BITS bits, exactly (the
 * error-free transformation of T. J. Dekker, 1971, at a fixed instead of a floating point). 2⁵¹ units are
 * 2^(51 − FIXED_BITS) units of the digit before: 8 up to 4 words, 32 above. Column 0 needs |z|² + |c| below that;
 * column k ≥ 1 adds at most |x₀| + |y₀| from the first and last product, (k − 1)/2 from the others, k/2 from what
 * column k − 1 loses and 1 from c and the carry: √2·R + k + 1/2 < 8 for 2 digits and R ≤ 2.3, < 32 for 22 digits and R
 * ≤ 5. Beyond, digits are lost but, as in any floating point, nothing wraps: an orbit that has left grows to infinity
 * and NaN.
 *
 * A step at fp128 is 24 operations, 11 fma and 13 additions. A product costs four, in the last column one. */

/* 2^exponent, for constants: exponents below −1022 are products of two, and exact down to 2⁻¹⁰⁷⁴. */
static double fixed_power(int exponent) { return as_double((ulong)(1023 + exponent) << 52); }
static double fixed_magic(int k) { return 1.5 * fixed_power(52 - FIXED_BITS * (k + 1)); }

static digit_lanes fixed_from_long(long_lanes units, int k) {
  const int bits = FIXED_BITS * (k + 1);
  return LANED(convert_double)(units) * fixed_power(-(bits / 2)) * fixed_power(-(bits - bits / 2));
}

/* A double has no room for all bits of a coordinate of 8 or more, or 32, with magic(0) added to it. What is cut off
 * makes the last bit odd: then z₁ = c is outside, and as a float it is the same as with all its bits (rounding to
 * odd). */
static digit_lanes fixed_from_first(long_lanes units) {
  const long_lanes odd = (units | ((units & 0x7ffL) + 0x7ffL)) & ~0x7ffL;
  const long_lanes far = LANED(convert_long)(lanes_mask((units ^ (units >> 63)) >= (long_lanes)(1L << 51)));
  return fixed_from_long(select(units, odd, far), 0);
}

static long_lanes fixed_to_long(digit_lanes digit, int k) {
  const int bits = FIXED_BITS * (k + 1);
  return LANED(convert_long)(digit * fixed_power(bits / 2) * fixed_power(bits - bits / 2));
}

/* Digit k, and digit k + 1, times 2^(FIXED_BITS·k). */
static float_lanes fixed_first_to_float(digit_lanes digit, int k) {
  return LANED(convert_float)(digit * fixed_power(FIXED_BITS * k));
}

static float_lanes fixed_second_to_float(digit_lanes digit, int k) {
  return fixed_first_to_float(digit, k);
}

/* Columns from the last up, so that an operand's digit is done with when its place in the result is known. 2·a·b is
 * computed by half, c's half included: the final fma double it at no cost. */
static number_real fixed_multiply_add(const digit_lanes *a, const digit_lanes *b, number_real c, int twice) {
  const double scale = twice ? 2.0 : 1.0, share = twice ? 0.5 : 1.0;
  number_real r;
  double_lanes below = (double_lanes)0.0, carry = (double_lanes)0.0; /* column k + 1, waiting for what column k loses */
  FIXED_LOOP for (int k = FIXED_LAST; k >= 0; k--) {
    double_lanes sum = (c.digit[k] + fixed_magic(k)) * share; /* the same each step: the compiler keeps it */
    double_lanes lost = (double_lanes)0.0;
    FIXED_LOOP for (int i = 0; i <= k; i++) {
      const double_lanes more = fma(a[i], b[k - i], sum);
      if (k < FIXED_LAST) {
        const double_lanes rest = fma(a[i], b[k - i], sum - more);
        lost = i == 0 ? rest : lost + rest;
      }
      sum = more;
    }
    /* Column k + 1 is complete. What exceeds half a unit of digit k goes to column k, less magic(k), which thus cancels
     * there; in the last column its own magic goes, too (both: 50 bits, exact). */
    if (k < FIXED_LAST) {
      const double_lanes whole = k == FIXED_LAST - 1 ? below + lost : fma((double_lanes)scale, below + lost, carry);
      const double_lanes left = k == FIXED_LAST - 1 ? (double_lanes)scale : (double_lanes)1.0;
      const double magic = k == FIXED_LAST - 1 ? fixed_magic(k) + fixed_magic(k + 1) : fixed_magic(k);
      carry = fma(left, whole, (double_lanes)-magic);
      r.digit[k + 1] = fma(left, whole, -(carry + magic));
    }
    below = sum;
  }
  r.digit[0] = fma((double_lanes)scale, below, FIXED_LAST > 0 ? carry : (double_lanes)-fixed_magic(0));
  return r;
}

/* Exact wherever |z|² is near R², which is all that the sign needs. */
static int_lanes fixed_outside(number_complex z, number_real radius_squared) {
  double_lanes excess = (double_lanes)0.0, carry = (double_lanes)0.0, below = (double_lanes)0.0;
  FIXED_LOOP for (int k = FIXED_LAST; k >= -1; k--) {
    double_lanes sum = (double_lanes)0.0, lost = (double_lanes)0.0;
    if (k >= 0) {
      sum = (double_lanes)fixed_magic(k);
      FIXED_LOOP for (int i = 0; 2 * i <= k; i++) {
        const double_lanes x = 2 * i < k ? z.re.digit[i] + z.re.digit[i] : z.re.digit[i];
        const double_lanes y = 2 * i < k ? z.im.digit[i] + z.im.digit[i] : z.im.digit[i];
        const double_lanes with_x = fma(x, z.re.digit[k - i], sum), with_y = fma(y, z.im.digit[k - i], with_x);
        lost += fma(x, z.re.digit[k - i], sum - with_x) + fma(y, z.im.digit[k - i], with_x - with_y);
        sum = with_y;
      }
      sum = (sum - fixed_magic(k)) - radius_squared.digit[k];
    }
    /* Column k + 1 is complete; its proper digit joins the excess, whose sign is that of the first digit that is not 0,
     * since those after it are together less than its unit. */
    const double_lanes whole = below + lost + carry;
    carry = k >= 0 ? (whole + fixed_magic(k)) - fixed_magic(k) : (double_lanes)0.0;
    excess += whole - carry;
    below = sum;
  }
  return lanes_mask(!(excess <= 0.0)); /* NaN is outside */
}

static number_complex fixed_hold(number_complex z, number_complex next) { return next; }
static number_complex fixed_saturate(number_complex z, number_complex next) { return next; }
