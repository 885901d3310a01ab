/* The multiprecision article's first version of fp128: sign and magnitude, word by word in plain OpenCL C, a pixel a
 * work-item. It has the entry points of the loop, with the same arguments, and so is launched, continued and read as
 * that is.
 *
 * A real is a sign, −1, 0 or 1, and a magnitude of NUMBER_WORDS words, least significant first, the last one integral:
 * sign · Σ word[k] · 2^(32 (k − last)). The sign is 0 exactly where the magnitude is.
 *
 * Sums and differences are exact. A product is cut off towards 0. With i and j the places of two words, counted from 0
 * at the top, of the product of these words come in
 *     i + j < NUMBER_WORDS    both halves,
 *     i + j = NUMBER_WORDS    the upper half alone,
 *     i + j > NUMBER_WORDS    neither.
 * What is left out is below 5 units of the last word, with four words.
 *
 * A step, in this order: x², y²; outside where x² + y² > R²; x′ = (x² − y²) + cx; y′ = (x·y + x·y) + cy.
 * c = anchor + count · pitch, where the pitch is rounded to a whole unit of the last word.
 * No magnitude reaches 2³² where |c| < 2¹⁵ and R² ≤ 5.29: then |x′|, |y′| < R² + |c| + 1, and their squares are below
 * 2³¹. */
#ifndef STRIDE
#error "STRIDE is not defined"
#endif
#if LANES != 1
#error "LANES must be 1"
#endif
#define LAST (NUMBER_WORDS - 1)
#define SIGN_BIT 0x80000000u /* of a saved magnitude's last word, which is below 2³¹ */

typedef struct { int sign; uint word[NUMBER_WORDS]; } signed_real;
typedef struct { signed_real re, im; } signed_complex;

static signed_real signed_zero(void) {
  signed_real zero;
  zero.sign = 0;
  words_zero(zero.word);
  return zero;
}

static signed_real signed_negate(signed_real x) {
  signed_real negative;
  negative.sign = -x.sign;
  words_copy(negative.word, x.word);
  return negative;
}

static signed_real signed_add(signed_real x, signed_real y) {
  if (x.sign == 0) return y;
  if (y.sign == 0) return x;
  signed_real sum;
  if (x.sign == y.sign) {
    sum.sign = x.sign;
    words_copy(sum.word, x.word);
    words_add(sum.word, y.word, 0);
    return sum;
  }
  const int order = words_compare(x.word, y.word);
  if (order == 0) return signed_zero();
  sum.sign = order > 0 ? x.sign : y.sign;
  words_copy(sum.word, order > 0 ? x.word : y.word);
  words_subtract(sum.word, order > 0 ? y.word : x.word, 0);
  return sum;
}

static signed_real signed_multiply(signed_real x, signed_real y) {
  ulong column[NUMBER_WORDS]; /* what weighs as each word of the product: at most 2 NUMBER_WORDS halves */
  signed_real product;
  for (int k = 0; k < NUMBER_WORDS; k++) column[k] = 0;
  for (int i = 0; i < NUMBER_WORDS; i++) {
    for (int j = 0; j < NUMBER_WORDS; j++) {
      const int k = i + j - LAST; /* the word as which the lower half weighs; the upper half is one above */
      if (k < -1) continue;
      const ulong words = (ulong)x.word[i] * (ulong)y.word[j];
      if (k >= 0) column[k] += words & 0xffffffffUL;
      if (k < LAST) column[k + 1] += words >> 32;
    }
  }
  ulong carry = 0;
  for (int k = 0; k < NUMBER_WORDS; k++) {
    carry += column[k];
    product.word[k] = (uint)(carry & 0xffffffffUL);
    carry >>= 32;
  }
  product.sign = words_is_zero(product.word) ? 0 : x.sign * y.sign;
  return product;
}

/* A real from two's complement, as the host encodes it. */
static signed_real signed_from(const uint *words) {
  signed_real x;
  words_copy(x.word, words);
  const int negative = (words[LAST] & SIGN_BIT) != 0;
  if (negative) words_negate(x.word);
  x.sign = words_is_zero(x.word) ? 0 : negative ? -1 : 1;
  return x;
}

static void load_words(uint *words, global const uint *from) {
  for (int k = 0; k < NUMBER_WORDS; k++) words[k] = from[k];
}

/* anchor + count · pitch. */
static signed_real signed_along(int count, global const uint *pitch_words, global const uint *anchor_words) {
  uint along[NUMBER_WORDS], anchor[NUMBER_WORDS];
  load_words(along, pitch_words);
  load_words(anchor, anchor_words);
  words_multiply_word(along, abs(count), 0);
  if (count < 0) words_negate(along);
  words_add(along, anchor, 0);
  return signed_from(along);
}

static uint saved_word(signed_real x, int k) {
  return x.word[k] | (k == LAST && x.sign < 0 ? SIGN_BIT : 0);
}

/* Word k of a list is in its row k + 1; row 0 holds the indices. */
static signed_real load_saved(global const uint *saved, uint capacity, uint slot, uint first_row) {
  signed_real x;
  for (uint k = 0; k < NUMBER_WORDS; k++) x.word[k] = saved[(first_row + k) * (size_t)capacity + slot];
  const int negative = (x.word[LAST] & SIGN_BIT) != 0;
  x.word[LAST] &= ~SIGN_BIT;
  x.sign = words_is_zero(x.word) ? 0 : negative ? -1 : 1;
  return x;
}

static void save(signed_real x, global uint *survivors, uint capacity, uint slot, uint first_row) {
  for (uint k = 0; k < NUMBER_WORDS; k++)
    survivors[(first_row + k) * (size_t)capacity + slot] = saved_word(x, (int)k);
}

/* Iterate a pixel's orbit from z, which it reached at n, for `strides` strides or until it is outside; then write its
 * count, or save it for the next launch. `view_words` are R², the anchor, re before im, and the pitch. */
static void advance(signed_complex first, uint n, uint index, global const uint *view_words, int2 offset, uint2 size,
                    uint strides, uint max_iterations, uint limit_reached, global uint *results, global uint *survivors,
                    global uint *survivor_total, uint capacity) {
  const int right = offset.x + (int)(index % size.x), up = offset.y - (int)(index / size.x);
  global const uint *anchor = view_words + NUMBER_WORDS, *pitch = view_words + 3 * NUMBER_WORDS;
  const signed_real cx = signed_along(right, pitch, anchor), cy = signed_along(up, pitch, anchor + NUMBER_WORDS);
  uint radius_squared[NUMBER_WORDS];
  load_words(radius_squared, view_words);
  signed_complex z = first;
  for (uint step = 0; step < strides * STRIDE; step++) {
    const signed_real xx = signed_multiply(z.re, z.re), yy = signed_multiply(z.im, z.im), norm = signed_add(xx, yy);
    if (words_compare(norm.word, radius_squared) > 0) {
      results[index] = min(n + step, max_iterations);
      return;
    }
    const signed_real xy = signed_multiply(z.re, z.im);
    const signed_complex next = {signed_add(signed_add(xx, signed_negate(yy)), cx), signed_add(signed_add(xy, xy), cy)};
    z = next;
  }
  if (limit_reached) {
    results[index] = max_iterations;
    return;
  }
  const uint slot = atomic_inc(survivor_total);
  survivors[slot] = index;
  save(z.re, survivors, capacity, slot, 1);
  save(z.im, survivors, capacity, slot, 1 + NUMBER_WORDS);
}

/* All pixels of rows first_row … first_row + rows − 1 of a block of `size` pixels, from z = 0. */
KERNEL void advance_block(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                          uint first_row, uint rows, uint strides, ulong max_iterations, uint limit_reached,
                          uint shortcuts, global uint *results, global uint *survivors, global uint *survivor_total,
                          uint capacity) {
  const uint column = (uint)get_global_id(0), row = (uint)get_global_id(1);
  if (column >= size.x || row >= rows) return;
  const signed_complex zero = {signed_zero(), signed_zero()};
  advance(zero, 0, (first_row + row) * size.x + column, view_words, offset, size, strides, max_iterations,
          limit_reached, results, survivors, survivor_total, capacity);
}

/* The `total` orbits of a block that an earlier launch saved at iteration n. There are no lists of pixels here. */
KERNEL void advance_survivors(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                              ulong n, uint strides, ulong max_iterations, uint limit_reached, uint shortcuts,
                              global uint *results, global const uint *saved, uint total, global const uint *pixels,
                              uint listed, global uint *survivors, global uint *survivor_total, uint capacity) {
  const uint slot = (uint)get_global_id(0);
  if (slot >= total) return;
  const signed_complex z = {load_saved(saved, capacity, slot, 1), load_saved(saved, capacity, slot, 1 + NUMBER_WORDS)};
  advance(z, n, saved[slot], view_words, offset, size, strides, max_iterations, limit_reached, results, survivors,
          survivor_total, capacity);
}
