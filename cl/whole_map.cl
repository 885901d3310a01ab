/* Behind whole.cl: steps of the return map of one c, with a bound on how far w is off, as `PointMap` of
 * mandelcl/perturbation/exact_maps.py has them. */

/* The words of `reals`: what is given, with what j·f_j is behind them, and what is returned. */
enum { WHOLE_UNIT, WHOLE_LEAVES, WHOLE_A, WHOLE_OFF, WHOLE_UP, WHOLE_HOPELESS, WHOLE_ERROR, WHOLE_LEAST, WHOLE_SLOPES };

/* The words of `counts`. */
enum { WHOLE_DONE, WHOLE_LEAST_AT, WHOLE_LOST };

/* The value as a double, rounded at each word. */
static double whole_double(const ulong *value, double unit) {
  const ulong sign = (ulong)((long)value[LIMBS - 1] >> 63);
  ulong carry = sign & 1;
  double scale = unit, size = 0.0;
  for (uint i = 0; i < LIMBS; i++) {
    const ulong word = (value[i] ^ sign) + carry;
    carry &= (ulong)(word == 0);
    size += (double)word * scale;
    scale *= 0x1p64;
  }
  return sign ? -size : size;
}

/* (x·u − y·v)·2^−bits + a, the product rounded down. */
static void whole_difference(const ulong *x, const ulong *u, const ulong *y, const ulong *v, uint bits, const ulong *a,
                             ulong *result) {
  ulong one[2 * LIMBS], other[2 * LIMBS];
  whole_product(x, u, one);
  whole_product(y, v, other);
  ulong borrow = 0;
  for (uint i = 0; i < 2 * LIMBS; i++) {
    const ulong from = one[i] - borrow, rest = from - other[i];
    borrow = (ulong)(from > one[i]) + (ulong)(rest > from);
    one[i] = rest;
  }
  whole_shifted(one, bits, result);
  whole_add(result, a, result);
}

/* (x·v + y·u)·2^−bits + a, the product rounded down. */
static void whole_sum(const ulong *x, const ulong *v, const ulong *y, const ulong *u, uint bits, const ulong *a,
                      ulong *result) {
  ulong one[2 * LIMBS], other[2 * LIMBS];
  whole_product(x, v, one);
  whole_product(y, u, other);
  ulong carry = 0;
  for (uint i = 0; i < 2 * LIMBS; i++) {
    const ulong from = one[i] + carry, both = from + other[i];
    carry = (ulong)(from < carry) + (ulong)(both < from);
    one[i] = both;
  }
  whole_shifted(one, bits, result);
  whole_add(result, a, result);
}

/* Up to so many steps from w, the first of `numbers`, until it is out of the map; w is written there again. Behind it
 * are f_0 and, of a map of that order, f_j·2^(j·t_bits) from the last on. */
kernel void whole_map(global ulong *numbers, uint bits, uint t_bits, uint order, uint steps, uint slopes,
                      global double *reals, global uint *counts) {
  const double unit = reals[WHOLE_UNIT], leaves = reals[WHOLE_LEAVES], up = reals[WHOLE_UP];
  const double bend = 1.1 * reals[WHOLE_A];
  double error = reals[WHOLE_ERROR], least = INFINITY;
  ulong x[LIMBS], y[LIMBS], u[LIMBS], v[LIMBS], re[LIMBS], im[LIMBS], a[LIMBS], next[LIMBS], product[2 * LIMBS];
  whole_load(numbers, x);
  whole_load(numbers + LIMBS, y);
  uint done = 0, least_at = 0;
  bool lost = false;
  while (true) {
    const double p = whole_double(x, unit), q = whole_double(y, unit), square = p * p + q * q;
    if (done && square < least) {
      least = square;
      least_at = done;
    }
    if (done == steps || !(square < leaves)) break;
    const double t_re = p * p - q * q, t_im = 2.0 * p * q;
    double s = 0.0, t = 0.0;
    for (uint j = slopes - 1; j > 0; j--) {
      const double from_re = s + reals[WHOLE_SLOPES + 2 * j], from_im = t + reals[WHOLE_SLOPES + 2 * j + 1];
      s = from_re * t_re - from_im * t_im;
      t = from_re * t_im + from_im * t_re;
    }
    s += reals[WHOLE_SLOPES];
    t += reals[WHOLE_SLOPES + 1];
    const double gain = 2.0 * sqrt(square * (s * s + t * t)) * up;
    error = ((gain + bend * error) * error + reals[WHOLE_OFF]) * up;
    if (!(error < reals[WHOLE_HOPELESS])) {
      lost = true;
      break;
    }
    whole_add(x, y, re);
    whole_subtract(x, y, im);
    whole_product(re, im, product);
    whole_shifted(product, bits + t_bits, u);
    whole_product(x, y, product);
    whole_shifted(product, bits - 1 + t_bits, v);
    global const ulong *term = numbers + 4 * LIMBS;
    whole_load(term, x);
    whole_load(term + LIMBS, y);
    for (uint j = 1; j <= order; j++) {
      term = j < order ? term + 2 * LIMBS : numbers + 2 * LIMBS;
      whole_load(term, re);
      whole_load(term + LIMBS, im);
      whole_difference(x, u, y, v, bits, re, next);
      whole_sum(x, v, y, u, bits, im, a);
      for (uint i = 0; i < LIMBS; i++) {
        x[i] = next[i];
        y[i] = a[i];
      }
    }
    done++;
  }
  whole_store(x, numbers);
  whole_store(y, numbers + LIMBS);
  reals[WHOLE_ERROR] = error;
  reals[WHOLE_LEAST] = least;
  counts[WHOLE_DONE] = done;
  counts[WHOLE_LEAST_AT] = least_at;
  counts[WHOLE_LOST] = lost;
}
