/* Behind whole.cl: steps of the return map of one c, with a bound on how far w is off, as `PointMap` of
 * mandelcl/perturbation/exact_maps.py has them. */

/* The words of `reals`: what is given, with what j·f_j is behind them, and what is returned. */
enum { WHOLE_UNIT, WHOLE_LEAVES, WHOLE_A, WHOLE_OFF, WHOLE_UP, WHOLE_HOPELESS, WHOLE_ERROR, WHOLE_LEAST, WHOLE_SLOPES };

/* The words of `counts`. */
enum { WHOLE_DONE, WHOLE_LEAST_AT, WHOLE_LOST };

/* Up to so many steps from w, the first of `numbers`, until it is out of the map; w is written there again. Behind it
 * are f_0 and, of a map of that order, f_j·2^(j·t_bits) from the last on. */
kernel void whole_map(global ulong *numbers, uint bits, uint t_bits, uint order, uint steps, uint slopes,
                      global double *reals, global uint *counts) {
  const double unit = reals[WHOLE_UNIT], leaves = reals[WHOLE_LEAVES], up = reals[WHOLE_UP];
  const double bend = 1.1 * reals[WHOLE_A];
  double error = reals[WHOLE_ERROR], least = INFINITY;
  ulong x[LIMBS], y[LIMBS], u[LIMBS], v[LIMBS], re[LIMBS], im[LIMBS];
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
    whole_square(x, y, bits + t_bits, u, v);
    global const ulong *term = numbers + 4 * LIMBS;
    whole_load(term, x);
    whole_load(term + LIMBS, y);
    for (uint j = 1; j <= order; j++) {
      term = j < order ? term + 2 * LIMBS : numbers + 2 * LIMBS;
      whole_load(term, re);
      whole_load(term + LIMBS, im);
      whole_complex_product(x, y, u, v, bits, x, y);
      whole_add(x, re, LIMBS, x);
      whole_add(y, im, LIMBS, y);
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
