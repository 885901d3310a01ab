/* Counts of z² + c in fixed point of LIMBS words of 64 bits, of which 8 bits are before the point.
 *
 *     cc -O3 -march=native -DLIMBS=3 scripts/integer_counts.c -o integer_counts
 *     integer_counts ITERATIONS < points > counts
 *
 * Each line of input is the real and the imaginary part of c, in units of the last place: a sign and 16·LIMBS digits in
 * base 16. Each line of output is the first n with |z_n| > 2, or the limit. A product is cut, not rounded; no bound of
 * the error is kept, so the caller repeats counts with more limbs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINT = 8 };
typedef struct {
  uint64_t limb[LIMBS]; /* the lowest first; of signed numbers, in two's complement */
} fixed;

static inline fixed sum(fixed a, fixed b) {
  unsigned __int128 carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    carry += (unsigned __int128)a.limb[i] + b.limb[i];
    a.limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  return a;
}

static inline fixed difference(fixed a, fixed b) {
  uint64_t borrow = 0;
  for (int i = 0; i < LIMBS; i++) {
    const unsigned __int128 rest = (unsigned __int128)a.limb[i] - b.limb[i] - borrow;
    a.limb[i] = (uint64_t)rest;
    borrow = (uint64_t)(rest >> 64) & 1;
  }
  return a;
}

static inline fixed square(fixed a) {
  if (a.limb[LIMBS - 1] >> 63) a = difference((fixed){{0}}, a);
  uint64_t product[2 * LIMBS] = {0};
  for (int i = 0; i < LIMBS; i++) {
    unsigned __int128 carry = 0;
    for (int j = 0; j < LIMBS; j++) {
      carry += (unsigned __int128)a.limb[i] * a.limb[j] + product[i + j];
      product[i + j] = (uint64_t)carry;
      carry >>= 64;
    }
    product[i + LIMBS] = (uint64_t)carry;
  }
  for (int i = 0; i < LIMBS; i++)
    a.limb[i] = product[LIMBS + i] << POINT | product[LIMBS + i - 1] >> (64 - POINT);
  return a;
}

static int is_beyond_four(fixed a) {
  const uint64_t four = (uint64_t)4 << (64 - POINT);
  if (a.limb[LIMBS - 1] != four) return a.limb[LIMBS - 1] > four;
  for (int i = 0; i < LIMBS - 1; i++)
    if (a.limb[i]) return 1;
  return 0;
}

static int read_part(fixed *part) {
  char sign;
  if (scanf(" %c", &sign) != 1) return 0;
  for (int i = LIMBS - 1; i >= 0; i--) {
    unsigned long long limb;
    if (scanf("%16llx", &limb) != 1) return 0;
    part->limb[i] = limb;
  }
  if (sign == '-') *part = difference((fixed){{0}}, *part);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: integer_counts ITERATIONS\n"), 2;
  const uint64_t most = strtoull(argv[1], NULL, 10);
  fixed c_re, c_im;
  while (read_part(&c_re) && read_part(&c_im)) {
    fixed x = c_re, y = c_im;
    uint64_t n = 1;
    for (; n < most; n++) {
      const fixed xx = square(x), yy = square(y), norm = sum(xx, yy);
      if (is_beyond_four(norm)) break;
      y = sum(difference(square(sum(x, y)), norm), c_im);
      x = sum(difference(xx, yy), c_re);
    }
    printf("%llu\n", (unsigned long long)n);
    fflush(stdout);
  }
  return 0;
}
