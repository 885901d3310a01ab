/* Behind whole.cl: the products of 2·Z_1, 2·Z_2, …, or the derivative by c, as `whole_jets` and `whole_slope` of
 * mandelcl/perturbation/map_jets.py have them: with as many digits again at the beginning of each block. */

#define WHOLE_LEAST 0x1p-30 /* of a product of 2|Z| within a block */
#define WHOLE_BLOCK 65      /* iterations of one */

/* How many bits the size of a value has. */
static int whole_length(const ulong *value) {
  ulong size[LIMBS];
  int length = 0;
  whole_size(value, size);
  for (int i = 0; i < LIMBS; i++)
    if (size[i]) length = 64 * i + 64 - (int)clz(size[i]);
  return length;
}

/* The value times 2^by, or divided by 2^−by and rounded down. */
static void whole_scale(ulong *value, int by) {
  ulong wide[2 * LIMBS];
  const ulong sign = (ulong)((long)value[LIMBS - 1] >> 63);
  if (by <= 0) {
    for (uint i = 0; i < 2 * LIMBS; i++) wide[i] = i < LIMBS ? value[i] : sign;
    whole_shifted(wide, (uint)(-by), value);
  } else {
    for (uint i = 0; i < 2 * LIMBS; i++) wide[i] = i < LIMBS ? 0 : value[i - LIMBS];
    whole_shifted(wide, (uint)(64 * LIMBS - by), value);
  }
}

/* One of many numbers of so many words, divided by 2^drop and rounded down. */
static void whole_place(global const ulong *numbers, uint words, uint place, uint drop, ulong *value) {
  const uint first = drop >> 6, by = drop & 63;
  global const ulong *from = numbers + (size_t)words * place;
  const ulong sign = (ulong)((long)from[words - 1] >> 63);
  for (uint i = 0; i < LIMBS; i++) {
    const ulong low = first + i < words ? from[first + i] : sign;
    const ulong high = first + i + 1 < words ? from[first + i + 1] : sign;
    value[i] = by ? (low >> by) | (high << (64 - by)) : low;
  }
}

/* Go on with `value`, two numbers times 2^scale, over so many values of an orbit. With `adds`, 1 is added at each.
 * `product` is that of the block, of so many iterations; `scale[1]` says how many these are. Where a value might have
 * too few words, `failed` is 1. */
kernel void whole_linear(global const ulong *re, global const ulong *im, global const double *sizes, uint words,
                         uint total, uint drop, uint less, uint digits, uint adds, uint room,
                         global ulong *value, global long *scale, global double *product, global uint *failed) {
  ulong x[LIMBS], y[LIMBS], u[LIMBS], v[LIMBS];
  whole_load(value, x);
  whole_load(value + LIMBS, y);
  long exponent = scale[0], done = scale[1];
  double grown = product[0];
  const double most = ldexp(1.0, (int)room);
  for (uint n = 0; n < total; n++) {
    if (done == 0) {
      const int length = max(whole_length(x), whole_length(y)), by = (int)digits - length;
      if (length) {
        whole_scale(x, by);
        whole_scale(y, by);
        exponent -= by;
      } else {
        exponent = -(long)digits;
      }
    }
    whole_place(re, words, n, drop, u);
    whole_place(im, words, n, drop, v);
    whole_complex_product(x, y, u, v, less, x, y);
    if (adds && exponent <= 0) {
      const ulong bit = (ulong)(-exponent);
      for (uint i = 0; i < LIMBS; i++) u[i] = bit >> 6 == i ? (ulong)1 << (bit & 63) : 0;
      whole_add(x, u, LIMBS, x);
      if (bit >= 64 * LIMBS - 2) failed[0] = 1;
    }
    grown *= 2.0 * sizes[n];
    done++;
    if (!(grown <= most)) failed[0] = 1;
    if (grown < WHOLE_LEAST || done == WHOLE_BLOCK) {
      grown = 1.0;
      done = 0;
    }
  }
  whole_store(x, value);
  whole_store(y, value + LIMBS);
  scale[0] = exponent;
  scale[1] = done;
  product[0] = grown;
}
