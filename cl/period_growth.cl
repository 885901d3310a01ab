/* The growth of an orbit's derivative up to a period, as `PeriodSearch` of mandelcl/perturbation/period.py has it: one
 * work-item, and each operation rounded alone. Constants are those of period.py. */

#define GROWTH_STEPS 32
#define GROWTH_SMALL 0x1p-20
#define GROWTH_LARGE 0x1p4
#define GROWTH_NOWHERE_NEAR (-120)
#define GROWTH_FAR 300
#define GROWTH_NEAR 3
#define GROWTH_NONE (-2000) /* 2 to this is 0 */

/* (x + y·i)·2^exponent. */
typedef struct {
  double x, y;
  int exponent;
} growth_number;

static double growth_square(double x, double y) {
  const double xx = x * x, yy = y * y;
  return xx + yy;
}

/* The same number with its larger part in [1/2, 1), but for an exponent that would be below `least`. */
static growth_number growth_normal(growth_number value, int least) {
  int up, exponent = value.x == 0.0 && value.y == 0.0 ? 0 : value.exponent;
  frexp(fmax(fabs(value.x), fabs(value.y)), &up);
  up = max(up, least - exponent);
  const growth_number normal = {ldexp(value.x, -up), ldexp(value.y, -up), exponent + up};
  return normal;
}

/* Whether a value that is not 0, normalised, lies within the radius times the size of the derivative. */
static bool growth_reaches(growth_number value, growth_number derivative, double radius, int radius_exponent) {
  const double square = radius * radius, limit = square * growth_square(derivative.x, derivative.y);
  const int gap = radius_exponent + derivative.exponent - value.exponent;
  if (limit == 0.0) return false;
  return gap > GROWTH_NEAR || (gap >= -GROWTH_NEAR && growth_square(value.x, value.y) < ldexp(limit, 2 * gap));
}

/* The derivative behind a value of any size. */
static growth_number growth_step(growth_number value, growth_number derivative) {
  const double xx = value.x * derivative.x, yy = value.y * derivative.y;
  const double xy = value.x * derivative.y, yx = value.y * derivative.x;
  growth_number next = {2.0 * (xx - yy), 2.0 * (xy + yx), value.exponent + derivative.exponent};
  next = growth_normal(next, INT_MIN / 4);
  if (next.exponent < 0) {
    next.x = ldexp(next.x, max(next.exponent, GROWTH_NONE));
    next.y = ldexp(next.y, max(next.exponent, GROWTH_NONE));
    next.exponent = 0;
  }
  next.x += ldexp(1.0, max(-next.exponent, GROWTH_NONE));
  return next;
}

/* From the derivative in `values`, (x + y·i)·2^exponent, over so many values of an orbit, of which `index` is the place
 * of the first. Then `values` have the radius, and `state` has the exponent, that of the radius, and the growth below
 * which it stops, but for the first value. It stops at the period, and before a 0, too. Behind it `state` has the
 * exponent, how many values it passed, and whether the next is the period. */
kernel void period_growth(global const double *re, global const double *im, uint total, ulong index,
                          global double *values, global int *state) {
  growth_number derivative = {values[0], values[1], state[0]};
  const double radius = values[2], square_radius = radius * radius;
  const int radius_exponent = state[1], least = state[2];
  bool found = false;
  uint n = 0;
  while (n < total && (n == 0 || derivative.exponent >= least) && !(re[n] == 0.0 && im[n] == 0.0)) {
    double square = growth_square(re[n], im[n]);
    if (square < GROWTH_SMALL || square > GROWTH_LARGE) {
      growth_number value = {re[n], im[n], 0};
      value = growth_normal(value, INT_MIN / 4);
      found = growth_reaches(value, derivative, radius, radius_exponent);
      if (found) break;
      derivative = growth_step(value, derivative);
      n++;
    } else {
      const uint left = GROWTH_STEPS - (uint)((index + n) % GROWTH_STEPS), to = min(total, n + left);
      const int scale = radius_exponent + derivative.exponent;
      const bool near = scale >= GROWTH_NOWHERE_NEAR;
      const double one = ldexp(1.0, max(-derivative.exponent, GROWTH_NONE));
      const double limit = near ? ldexp(square_radius, 2 * min(scale, GROWTH_FAR)) : 0.0;
      double x = derivative.x, y = derivative.y;
      do {
        found = square < limit * growth_square(x, y);
        if (found) break;
        const double u = 2.0 * re[n], v = 2.0 * im[n], by_x = u * x, by_y = v * y, other_x = u * y, other_y = v * x;
        x = by_x - by_y + one;
        y = other_x + other_y;
        n++;
        if (n < to) square = growth_square(re[n], im[n]);
      } while (n < to && square >= GROWTH_SMALL && square <= GROWTH_LARGE);
      derivative.x = x;
      derivative.y = y;
      if (found) break;
    }
    derivative = growth_normal(derivative, 0);
  }
  values[0] = derivative.x;
  values[1] = derivative.y;
  state[0] = derivative.exponent;
  state[1] = (int)n;
  state[2] = found;
}
