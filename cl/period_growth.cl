/* The growth of an orbit's derivative where no period can be, as `PeriodSearch` of mandelcl/perturbation/period.py has
 * it: one work-item, and each operation rounded alone. */

#define GROWTH_STEPS 32 /* between two looks at the exponent */

/* From the derivative in `values`, (x + y·i)·2^exponent, over so many values of an orbit, of which `index` is
 * the place of the first. It stops at a look where the exponent is below `least`, but for the
 * first, or from `most` on. `exponent[1]` is where it stopped. */
kernel void period_growth(global const double *re, global const double *im, uint total, ulong index,
                          int least, int most, global double *values, global int *exponent) {
  double x = values[0], y = values[1];
  int e = exponent[0];
  uint n = 0;
  while (n < total && e < most && (n == 0 || e >= least)) {
    const uint left = GROWTH_STEPS - (uint)((index + n) % GROWTH_STEPS), to = min(total, n + left);
    const double one = ldexp(1.0, max(-e, -2000));
    for (; n < to; n++) {
      const double u = 2.0 * re[n], v = 2.0 * im[n], by_x = u * x, by_y = v * y, other_x = u * y, other_y = v * x;
      x = by_x - by_y + one;
      y = other_x + other_y;
    }
    int up;
    frexp(fmax(fabs(x), fabs(y)), &up);
    up = max(up, -e);
    x = ldexp(x, -up);
    y = ldexp(y, -up);
    e += up;
  }
  values[0] = x;
  values[1] = y;
  exponent[0] = e;
  exponent[1] = (int)n;
}
