/* Behind whole.cl: the terms of a return map in t = w², or its derivative by c, as `whole_jets` and `whole_slope` of
 * mandelcl/perturbation/map_jets.py have them: with as many digits again at the beginning of each block. */

#define WHOLE_LEAST 0x1p-30 /* of a product of 2|Z| within a block */
#define WHOLE_BLOCK 65      /* iterations of one */
#define WHOLE_ORDER 16      /* the highest */
#define WHOLE_ROOM 8        /* bits of a number that an iteration may take */

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

/* Add (p + q·i)·(r + s·i)·2^−shift, rounded down, to x + y·i; returns whether it might have too few words. */
static bool whole_add_product(const ulong *p, const ulong *q, const ulong *r, const ulong *s, long shift, ulong *x,
                              ulong *y) {
  ulong re[2 * LIMBS], im[2 * LIMBS], part[LIMBS];
  if (shift < 0) return true;
  const uint bits = (uint)min(shift, (long)(128 * LIMBS)), most = bits + 64 * LIMBS - WHOLE_ROOM;
  whole_complex_parts(p, q, r, s, re, im);
  whole_shifted(re, bits, part);
  whole_add(x, part, LIMBS, x);
  whole_shifted(im, bits, part);
  whole_add(y, part, LIMBS, y);
  return whole_reaches(re, 2 * LIMBS, most) || whole_reaches(im, 2 * LIMBS, most);
}

/* Go on with `value`, the parts of f_10, f_20, … up to an order, each times 2 to its `scale`, over so many values of an
 * orbit. With `adds` it is the derivative by c: 1 is added at each. `product` is that of the block, of so many
 * iterations; the last scale says how many these are. Where a value might have too few words, `failed` is 1. */
kernel void whole_jets(global const ulong *re, global const ulong *im, global const double *sizes, uint words,
                       uint total, uint drop, uint less, uint digits, uint order, uint adds, uint room,
                       global ulong *value, global long *scale, global double *product, global uint *failed) {
  ulong x[WHOLE_ORDER][LIMBS], y[WHOLE_ORDER][LIMBS], u[LIMBS], v[LIMBS];
  long exponent[WHOLE_ORDER], done = scale[order];
  double grown = product[0];
  bool fails = false;
  const double most = ldexp(1.0, (int)room);
  for (uint k = 0; k < order; k++) {
    whole_load(value + (2 * k) * LIMBS, x[k]);
    whole_load(value + (2 * k + 1) * LIMBS, y[k]);
    exponent[k] = scale[k];
  }
  for (uint n = 0; n < total; n++) {
    if (done == 0) {
      for (uint k = 0; k < order; k++) {
        const int length = max(whole_length(x[k]), whole_length(y[k])), by = (int)digits - length;
        if (length) {
          whole_scale(x[k], by);
          whole_scale(y[k], by);
          exponent[k] -= by;
        } else {
          exponent[k] = -(long)digits;
        }
      }
    }
    whole_place(re, words, n, drop, u);
    whole_place(im, words, n, drop, v);
    for (uint k = order; k-- > 0;) { /* each from those before it, as they are before the iteration */
      whole_complex_product(x[k], y[k], u, v, less, x[k], y[k]);
      for (uint i = 0; 2 * i < k; i++) {
        const uint j = k - 1 - i;
        const long shift = exponent[k] - exponent[i] - exponent[j] - (i != j);
        fails |= whole_add_product(x[i], y[i], x[j], y[j], shift, x[k], y[k]);
      }
      if (k > 0) fails |= whole_reaches(x[k], LIMBS, 64 * LIMBS - WHOLE_ROOM) ||
                          whole_reaches(y[k], LIMBS, 64 * LIMBS - WHOLE_ROOM);
    }
    if (adds && exponent[0] <= 0) {
      const ulong bit = (ulong)(-exponent[0]);
      for (uint i = 0; i < LIMBS; i++) u[i] = bit >> 6 == i ? (ulong)1 << (bit & 63) : 0;
      whole_add(x[0], u, LIMBS, x[0]);
      fails |= bit >= 64 * LIMBS - 2;
    }
    grown *= 2.0 * sizes[n];
    done++;
    fails |= !(grown <= most);
    if (grown < WHOLE_LEAST || done == WHOLE_BLOCK) {
      grown = 1.0;
      done = 0;
    }
  }
  for (uint k = 0; k < order; k++) {
    whole_store(x[k], value + (2 * k) * LIMBS);
    whole_store(y[k], value + (2 * k + 1) * LIMBS);
    scale[k] = exponent[k];
  }
  scale[order] = done;
  product[0] = grown;
  if (fails) failed[0] = 1;
}
