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

static void whole_add(const ulong *a, const ulong *b, ulong *sum) {
  ulong carry = 0;
  for (uint i = 0; i < LIMBS; i++) {
    const ulong one = a[i] + carry, both = one + b[i];
    carry = (ulong)(one < carry) + (ulong)(both < one);
    sum[i] = both;
  }
}

static void whole_subtract(const ulong *a, const ulong *b, ulong *difference) {
  ulong borrow = 0;
  for (uint i = 0; i < LIMBS; i++) {
    const ulong one = a[i] - borrow, both = one - b[i];
    borrow = (ulong)(one > a[i]) + (ulong)(both > one);
    difference[i] = both;
  }
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
  const ulong a_sign = (ulong)((long)a[LIMBS - 1] >> 63), b_sign = (ulong)((long)b[LIMBS - 1] >> 63);
  ulong borrow = 0, other = 0;
  for (uint i = 0; i < LIMBS; i++) {
    const ulong from = product[LIMBS + i], by_a = b[i] & a_sign, by_b = a[i] & b_sign;
    const ulong one = from - borrow, less = one - by_a;
    borrow = (ulong)(one > from) + (ulong)(less > one);
    const ulong two = less - other, rest = two - by_b;
    other = (ulong)(two > less) + (ulong)(rest > two);
    product[LIMBS + i] = rest;
  }
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

/* Whether the size of a value is 2^bits or more. */
static bool whole_reaches(const ulong *value, uint bits) {
  const uint first = bits >> 6, by = bits & 63;
  const ulong sign = (ulong)((long)value[LIMBS - 1] >> 63);
  ulong beyond = 0;
  for (uint i = 0; i < LIMBS; i++)
    if (i >= first) beyond |= (value[i] ^ sign) >> (i == first ? by : 0);
  return beyond != 0;
}
