/* Whole numbers of LIMBS words of 64 bits, in two's complement, the lowest word first: for orbits in units of 2^−bits.
 * One work-item computes one orbit, on a processor. */
#ifndef LIMBS
#error "LIMBS is not defined"
#endif

static void whole_load(global const ulong *from, ulong *value) {
  for (uint i = 0; i < LIMBS; i++) value[i] = from[i];
}

static void whole_store(const ulong *value, global ulong *to) {
  for (uint i = 0; i < LIMBS; i++) to[i] = value[i];
}

/* a + b and a − b, of so many words. The result may be where a is. */
static void whole_add(const ulong *a, const ulong *b, uint words, ulong *sum) {
  ulong carry = 0;
  for (uint i = 0; i < words; i++) {
    const ulong one = a[i] + carry, both = one + b[i];
    carry = (ulong)(one < carry) + (ulong)(both < one);
    sum[i] = both;
  }
}

static void whole_subtract(const ulong *a, const ulong *b, uint words, ulong *difference) {
  ulong borrow = 0;
  for (uint i = 0; i < words; i++) {
    const ulong from = a[i], one = from - borrow, rest = one - b[i];
    borrow = (ulong)(one > from) + (ulong)(rest > one);
    difference[i] = rest;
  }
}

/* The absolute value; returns all bits where the value is negative, else 0. */
static ulong whole_size(const ulong *value, ulong *size) {
  const ulong sign = (ulong)((long)value[LIMBS - 1] >> 63);
  ulong carry = sign & 1;
  for (uint i = 0; i < LIMBS; i++) {
    size[i] = (value[i] ^ sign) + carry;
    carry &= (ulong)(size[i] == 0);
  }
  return sign;
}

/* a·b, of twice as many words. */
static void whole_product(const ulong *a, const ulong *b, ulong *product) {
  for (uint i = 0; i < LIMBS; i++) product[i] = 0;
  for (uint i = 0; i < LIMBS; i++) {
    ulong carry = 0;
    for (uint j = 0; j < LIMBS; j++) {
      const ulong low = a[i] * b[j], one = low + product[i + j], both = one + carry;
      carry = mul_hi(a[i], b[j]) + (ulong)(one < low) + (ulong)(both < one);
      product[i + j] = both;
    }
    product[i + LIMBS] = carry;
  }
  if ((long)a[LIMBS - 1] < 0) whole_subtract(product + LIMBS, b, LIMBS, product + LIMBS);
  if ((long)b[LIMBS - 1] < 0) whole_subtract(product + LIMBS, a, LIMBS, product + LIMBS);
}

/* A number of twice as many words, divided by 2^bits and rounded down. */
static void whole_shifted(const ulong *value, uint bits, ulong *result) {
  const uint first = bits >> 6, by = bits & 63;
  const ulong sign = (ulong)((long)value[2 * LIMBS - 1] >> 63);
  for (uint i = 0; i < LIMBS; i++) {
    const ulong low = first + i < 2 * LIMBS ? value[first + i] : sign;
    const ulong high = first + i + 1 < 2 * LIMBS ? value[first + i + 1] : sign;
    result[i] = by ? (low >> by) | (high << (64 - by)) : low;
  }
}

/* The parts of (x + y·i)·(u + v·i), of twice as many words, by three products. */
static void whole_complex_parts(const ulong *x, const ulong *y, const ulong *u, const ulong *v, ulong *re, ulong *im) {
  ulong other[2 * LIMBS], one[LIMBS], two[LIMBS];
  whole_add(x, y, LIMBS, one);
  whole_add(u, v, LIMBS, two);
  whole_product(one, two, im);
  whole_product(x, u, re);
  whole_product(y, v, other);
  whole_subtract(im, re, 2 * LIMBS, im);
  whole_subtract(im, other, 2 * LIMBS, im);
  whole_subtract(re, other, 2 * LIMBS, re);
}

/* The same times 2^−bits, rounded down, which may be where x and y are. */
static void whole_complex_product(const ulong *x, const ulong *y, const ulong *u, const ulong *v, uint bits, ulong *re,
                                  ulong *im) {
  ulong one[2 * LIMBS], sum[2 * LIMBS];
  whole_complex_parts(x, y, u, v, one, sum);
  whole_shifted(one, bits, re);
  whole_shifted(sum, bits, im);
}

/* The parts of (x + y·i)²·2^−bits, rounded down, which may be where x and y are. */
static void whole_square(const ulong *x, const ulong *y, uint bits, ulong *re, ulong *im) {
  ulong sum[LIMBS], difference[LIMBS], product[2 * LIMBS];
  whole_add(x, y, LIMBS, sum);
  whole_subtract(x, y, LIMBS, difference);
  whole_product(x, y, product);
  whole_shifted(product, bits - 1, im);
  whole_product(sum, difference, product);
  whole_shifted(product, bits, re);
}

#if USE_FP64
/* The value as a double, rounded at each word. */
static double whole_double(const ulong *value, double unit) {
  ulong size[LIMBS];
  const ulong sign = whole_size(value, size);
  double scale = unit, sum = 0.0;
  for (uint i = 0; i < LIMBS; i++) {
    sum += (double)size[i] * scale;
    scale *= 0x1p64;
  }
  return sign ? -sum : sum;
}
#endif

/* Whether the size of a value of so many words is 2^bits or more. */
static bool whole_reaches(const ulong *value, uint words, uint bits) {
  const uint first = bits >> 6, by = bits & 63;
  const ulong sign = (ulong)((long)value[words - 1] >> 63);
  ulong beyond = 0;
  for (uint i = 0; i < words; i++)
    if (i >= first) beyond |= (value[i] ^ sign) >> (i == first ? by : 0);
  return beyond != 0;
}
