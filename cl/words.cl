/* The article's arithmetic on arrays of NUMBER_WORDS 32-bit words, least significant first, for LANES numbers side by
 * side. Each operation works in place on z and returns what leaves it: carry, bits, remainder. A carry is found by
 * comparison (a sum is smaller than an addend exactly where it wrapped); comparing 64-bit sums gave the same code or
 * worse on every compiler here. */
#if NUMBER_WORDS < 1
#error "NUMBER_WORDS is not defined"
#endif

static uint_lanes words_truth(int_lanes mask) { return LANED(as_uint)(mask) & 1u; } /* 1 where true, 0 elsewhere */

static void words_zero(uint_lanes *z) {
  for (int k = 0; k < NUMBER_WORDS; k++) z[k] = (uint_lanes)0u;
}

static void words_copy(uint_lanes *z, const uint_lanes *x) {
  for (int k = 0; k < NUMBER_WORDS; k++) z[k] = x[k];
}

/* z += x + carry; returns the carry out. At most one of the two additions wraps. */
static uint_lanes words_add(uint_lanes *z, const uint_lanes *x, uint_lanes carry) {
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const uint_lanes sum = z[k] + x[k], with_carry = sum + carry;
    carry = words_truth(lanes_mask(sum < x[k]) | lanes_mask(with_carry < sum));
    z[k] = with_carry;
  }
  return carry;
}

/* z -= x + borrow; returns the borrow out. */
static uint_lanes words_subtract(uint_lanes *z, const uint_lanes *x, uint_lanes borrow) {
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const uint_lanes difference = z[k] - x[k], with_borrow = difference - borrow;
    borrow = words_truth(lanes_mask(z[k] < x[k]) | lanes_mask(difference < borrow));
    z[k] = with_borrow;
  }
  return borrow;
}

/* z = −z; returns 1 where z was not zero (the borrow of 0 − z). */
static uint_lanes words_negate(uint_lanes *z) {
  uint_lanes borrow = (uint_lanes)0u;
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const uint_lanes negative = (uint_lanes)0u - z[k] - borrow;
    borrow |= words_truth(lanes_mask(z[k] != 0u));
    z[k] = negative;
  }
  return borrow;
}

/* z = z·factor + carry; returns the word above. (2³² − 1)² + 2³² − 1 fits 64 bits. */
static uint_lanes words_multiply_word(uint_lanes *z, uint_lanes factor, uint_lanes carry) {
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const ulong_lanes product = LANED(convert_ulong)(z[k]) * LANED(convert_ulong)(factor) + LANED(convert_ulong)(carry);
    z[k] = LANED(convert_uint)(product & 0xffffffffUL);
    carry = LANED(convert_uint)(product >> 32);
  }
  return carry;
}

/* z = (remainder, z) / divisor; returns the remainder. remainder < divisor, so each quotient is one word. */
static uint_lanes words_divide_word(uint_lanes *z, uint_lanes divisor, uint_lanes remainder) {
  const ulong_lanes d = LANED(convert_ulong)(divisor);
  for (int k = NUMBER_WORDS - 1; k >= 0; k--) {
    const ulong_lanes n = LANED(convert_ulong)(remainder) << 32 | LANED(convert_ulong)(z[k]), quotient = n / d;
    z[k] = LANED(convert_uint)(quotient);
    remainder = LANED(convert_uint)(n - quotient * d);
  }
  return remainder;
}

/* z = z << bits, 0 … 31, with the low bits of `in` coming in; returns the bits that left. Through 64 bits, because a
 * shift by 32 is not one by 0. */
static uint_lanes words_shift_left(uint_lanes *z, uint_lanes bits, uint_lanes in) {
  const ulong_lanes by = LANED(convert_ulong)(bits);
  ulong_lanes out = LANED(convert_ulong)(in) & (((ulong_lanes)1UL << by) - 1UL);
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const ulong_lanes shifted = LANED(convert_ulong)(z[k]) << by | out;
    z[k] = LANED(convert_uint)(shifted & 0xffffffffUL);
    out = shifted >> 32;
  }
  return LANED(convert_uint)(out);
}

/* z = z >> bits, 0 … 31, with the low bits of `in` coming in at the top; returns the bits that left. */
static uint_lanes words_shift_right(uint_lanes *z, uint_lanes bits, uint_lanes in) {
  const ulong_lanes by = LANED(convert_ulong)(bits), kept = ((ulong_lanes)1UL << by) - 1UL;
  ulong_lanes above = LANED(convert_ulong)(in) & kept;
  for (int k = NUMBER_WORDS - 1; k >= 0; k--) {
    const ulong_lanes pair = above << 32 | LANED(convert_ulong)(z[k]);
    above = pair & kept;
    z[k] = LANED(convert_uint)((pair >> by) & 0xffffffffUL);
  }
  return LANED(convert_uint)(above);
}

/* −1, 0 or 1 as x is below, equal to or above y. The last word that differs decides. */
static int_lanes words_compare(const uint_lanes *x, const uint_lanes *y) {
  int_lanes order = (int_lanes)0;
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const int_lanes below = lanes_mask(x[k] < y[k]), above = lanes_mask(x[k] > y[k]);
    order = (order & ~(below | above)) | below | (above & 1);
  }
  return order;
}

static int_lanes words_is_zero(const uint_lanes *z) {
  uint_lanes any_bit = (uint_lanes)0u;
  for (int k = 0; k < NUMBER_WORDS; k++) any_bit |= z[k];
  return lanes_mask(any_bit == 0u);
}

/* The index of the highest bit set, or −1. */
static int_lanes words_highest_bit(const uint_lanes *z) {
  int_lanes highest = (int_lanes)-1;
  for (int k = 0; k < NUMBER_WORDS; k++) {
    const int_lanes here = lanes_mask(z[k] != 0u), index = 32 * k + 31 - LANED(as_int)(clz(z[k]));
    highest = (highest & ~here) | (index & here);
  }
  return highest;
}

/* product (2·NUMBER_WORDS words) = x·y. A product, a word and a carry fit 64 bits: (2³² − 1)² + 2·(2³² − 1). */
static void words_multiply(uint_lanes *product, const uint_lanes *x, const uint_lanes *y) {
  for (int k = 0; k < 2 * NUMBER_WORDS; k++) product[k] = (uint_lanes)0u;
  for (int i = 0; i < NUMBER_WORDS; i++) {
    ulong_lanes carry = (ulong_lanes)0UL;
    for (int j = 0; j < NUMBER_WORDS; j++) {
      carry += LANED(convert_ulong)(x[i]) * LANED(convert_ulong)(y[j]) + LANED(convert_ulong)(product[i + j]);
      product[i + j] = LANED(convert_uint)(carry & 0xffffffffUL);
      carry >>= 32;
    }
    product[i + NUMBER_WORDS] = LANED(convert_uint)(carry);
  }
}

/* product (2·NUMBER_WORDS words) = x·x: each product of two different words once, doubled; then those of equal ones. */
static void words_square(uint_lanes *product, const uint_lanes *x) {
  for (int k = 0; k < 2 * NUMBER_WORDS; k++) product[k] = (uint_lanes)0u;
  for (int i = 0; i < NUMBER_WORDS; i++) {
    ulong_lanes carry = (ulong_lanes)0UL;
    for (int j = i + 1; j < NUMBER_WORDS; j++) {
      carry += LANED(convert_ulong)(x[i]) * LANED(convert_ulong)(x[j]) + LANED(convert_ulong)(product[i + j]);
      product[i + j] = LANED(convert_uint)(carry & 0xffffffffUL);
      carry >>= 32;
    }
    product[i + NUMBER_WORDS] = LANED(convert_uint)(carry);
  }
  ulong_lanes carry = (ulong_lanes)0UL, top_bit = (ulong_lanes)0UL;
  for (int i = 0; i < NUMBER_WORDS; i++) {
    const ulong_lanes square = LANED(convert_ulong)(x[i]) * LANED(convert_ulong)(x[i]);
    const ulong_lanes low = LANED(convert_ulong)(product[2 * i]), high = LANED(convert_ulong)(product[2 * i + 1]);
    carry += ((low << 1 | top_bit) & 0xffffffffUL) + (square & 0xffffffffUL);
    product[2 * i] = LANED(convert_uint)(carry & 0xffffffffUL);
    carry = (carry >> 32) + ((high << 1 | low >> 31) & 0xffffffffUL) + (square >> 32);
    product[2 * i + 1] = LANED(convert_uint)(carry & 0xffffffffUL);
    carry >>= 32;
    top_bit = high >> 31;
  }
}
