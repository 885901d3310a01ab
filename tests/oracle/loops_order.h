/* The loops of one NUMBER in one ORDER.
 *
 * Column and row are those of the anchor pixel; rows first ≤ j < last are written into arrays of the whole picture. */
typedef struct {
  NUMBER re, im;     /* the anchor */
  NUMBER a, b, c, d; /* a step to the right is a + c·i, a step up b + d·i */
  NUMBER radius_squared, smooth_radius_squared;
  NUMBER constant_re, constant_im; /* of a Julia set */
} NAME(job);

typedef struct { NUMBER x, y, cx, cy; } NAME(orbit);

static inline NUMBER NAME(along)(int64_t steps, NUMBER step, NUMBER start) {
#if ORDER == SEPARATE
  return start + (NUMBER)steps * step;
#else
  return FMA((NUMBER)steps, step, start);
#endif
}

/* z₀ and c of the pixel `right` columns and `up` rows from the anchor: rows first, then columns. In an upright view
 * b and c are 0, and adding nothing to a number gives the number. */
static inline NAME(orbit) NAME(start)(const NAME(job) *job, int formula, int64_t right, int64_t up) {
  const NUMBER re = NAME(along)(right, job->a, NAME(along)(up, job->b, job->re));
  const NUMBER im = NAME(along)(right, job->c, NAME(along)(up, job->d, job->im));
  const NAME(orbit) julia = {re, im, job->constant_re, job->constant_im}, other = {0, 0, re, im};
  return formula == JULIA || formula == JULIA_OF_PROGRAM ? julia : other;
}

static inline NUMBER NAME(norm)(NUMBER x, NUMBER y) {
#if ORDER == SEPARATE
  return x * x + y * y;
#else
  return FMA(x, x, y * y);
#endif
}

static inline NUMBER NAME(next_re)(NUMBER x, NUMBER y, NUMBER cx) {
#if ORDER == SEPARATE
  return (x * x - y * y) + cx;
#elif ORDER == FUSED
  return FMA(x, x, FMA(-y, y, cx));
#else
  return FMA(x, x, -(y * y)) + cx;
#endif
}

static inline NUMBER NAME(next_im)(NUMBER x, NUMBER y, NUMBER cy) {
#if ORDER == SEPARATE
  return (x + x) * y + cy;
#elif ORDER == FUSED
  return FMA(x + x, y, cy);
#else
  return FMA(2, x * y, cy);
#endif
}

/* u + vi is (x + yi)². */
static inline void NAME(cube)(NUMBER *x, NUMBER *y, NUMBER cx, NUMBER cy) {
  const NUMBER v = (*x + *x) * *y;
#if ORDER == SEPARATE
  const NUMBER u = *x * *x - *y * *y;
  const NUMBER re = (u * *x - v * *y) + cx, im = (u * *y + v * *x) + cy;
#else
  const NUMBER u = FMA(*x, *x, -(*y * *y));
  const NUMBER re = FMA(u, *x, FMA(-v, *y, cx)), im = FMA(u, *y, FMA(v, *x, cy));
#endif
  *x = re;
  *y = im;
}

static inline void NAME(product)(NUMBER *x, NUMBER *y, NUMBER u, NUMBER v, NUMBER cx, NUMBER cy) {
#if ORDER == SEPARATE
  const NUMBER re = (*x * u - *y * v) + cx, im = (*x * v + *y * u) + cy;
#else
  const NUMBER re = FMA(*x, u, FMA(-*y, v, cx)), im = FMA(*x, v, FMA(*y, u, cy));
#endif
  *x = re;
  *y = im;
}

static void NAME(program)(uint32_t n, NUMBER *x, NUMBER *y, NUMBER cx, NUMBER cy) {
  const int32_t k = (int32_t)(n % (uint32_t)program.lines);
  NUMBER stored_x = *x, stored_y = *y;
  for (int32_t place = 0; place < program.lengths[k]; place++) {
    const operation made = program.line[k][place];
    const NUMBER re = *x, im = *y, cosine = (NUMBER)program.numbers[made.place];
    const NUMBER sine = (NUMBER)program.numbers[made.place + 1];
    switch (made.name) {
    case SQR_ADD:
      *x = NAME(next_re)(re, im, cx);
      *y = NAME(next_im)(re, im, cy);
      break;
    case SQR:
#if ORDER == SEPARATE
      *x = re * re - im * im;
#else
      *x = FMA(re, re, -(im * im));
#endif
      *y = (re + re) * im;
      break;
    case MUL: NAME(product)(x, y, stored_x, stored_y, 0, 0); break;
    case MUL_ADD: NAME(product)(x, y, stored_x, stored_y, cx, cy); break;
    case ROT: NAME(product)(x, y, cosine, sine, 0, 0); break;
    case ROT_ADD: NAME(product)(x, y, cosine, sine, cx, cy); break;
    case STORE:
      stored_x = re;
      stored_y = im;
      break;
    case ADD:
      *x = re + cx;
      *y = im + cy;
      break;
    case ABSX: *x = ABSOLUTE(re); break;
    case ABSY: *y = ABSOLUTE(im); break;
    case NEGX: *x = -re; break;
    case NEGY: *y = -im; break;
    }
  }
}

static ALWAYS_INLINE void NAME(step)(int formula, uint32_t n, NUMBER *x, NUMBER *y, NUMBER cx, NUMBER cy) {
  if (formula >= PROGRAM) {
    NAME(program)(n, x, y, cx, cy);
    return;
  }
  if (formula == MULTIBROT_3) {
    NAME(cube)(x, y, cx, cy);
    return;
  }
  const NUMBER re = formula == BURNING_SHIP ? ABSOLUTE(*x) : *x, im = formula == BURNING_SHIP ? ABSOLUTE(*y) : *y;
  *x = NAME(next_re)(re, im, cx);
  *y = NAME(next_im)(re, im, cy);
}

/* One pixel after the other. Steps and norms, where they are wanted, are those of smooth colouring. */
void NAME(plain)(const NAME(job) *job, int formula, int64_t column, int64_t row, int64_t width, int64_t first,
                 int64_t last, uint32_t cap, uint32_t *counts, uint32_t limit, uint32_t *steps, float *norms) {
  fenv_t caller;
  fegetenv(&caller);
  fesetenv(FE_DFL_ENV);
  for (int64_t j = first; j < last; j++) {
    for (int64_t i = 0; i < width; i++) {
      NAME(orbit) z = NAME(start)(job, formula, i - column, row - j);
      const int64_t pixel = j * width + i;
      uint32_t n = 0;
      while (n < cap && NAME(norm)(z.x, z.y) <= job->radius_squared) {
        NAME(step)(formula, n, &z.x, &z.y, z.cx, z.cy);
        n++;
      }
      counts[pixel] = n;
      if (!steps || n == cap) continue;
      uint32_t extra = 0;
      while (extra < limit && NAME(norm)(z.x, z.y) <= job->smooth_radius_squared) {
        NAME(step)(formula, n + extra, &z.x, &z.y, z.cx, z.cy);
        extra++;
      }
      steps[pixel] = n + extra;
      norms[pixel] = (float)NAME(norm)(z.x, z.y);
    }
  }
  fesetenv(&caller);
}

/* The same counts, LANES pixels of a row at a time, for the compiler to vectorise; `formula` is a constant to it. */
static ALWAYS_INLINE void NAME(lanes_of)(const NAME(job) *job, int formula, int64_t column, int64_t row, int64_t width,
                                         int64_t first, int64_t last, uint32_t cap, uint32_t *counts) {
  enum { LANES = 256 / sizeof(NUMBER) };
  for (int64_t j = first; j < last; j++) {
    for (int64_t i = 0; i < width; i += LANES) {
      NUMBER x[LANES], y[LANES], cx[LANES], cy[LANES];
      WORD n[LANES], alive[LANES], any = 1;
      for (int l = 0; l < LANES; l++) {
        const NAME(orbit) z = NAME(start)(job, formula, i + l - column, row - j);
        x[l] = z.x;
        y[l] = z.y;
        cx[l] = z.cx;
        cy[l] = z.cy;
        n[l] = 0;
        alive[l] = i + l < width ? ~(WORD)0 : 0;
      }
      for (uint32_t done = 0; done < cap && any; done++) {
        any = 0;
        for (int l = 0; l < LANES; l++) {
          alive[l] &= NAME(norm)(x[l], y[l]) <= job->radius_squared ? ~(WORD)0 : 0;
          n[l] -= alive[l];
          any |= alive[l];
          NAME(step)(formula, done, &x[l], &y[l], cx[l], cy[l]);
        }
      }
      for (int l = 0; l < LANES && i + l < width; l++) counts[j * width + i + l] = (uint32_t)n[l];
    }
  }
}

void NAME(lanes)(const NAME(job) *job, int formula, int64_t column, int64_t row, int64_t width, int64_t first,
                 int64_t last, uint32_t cap, uint32_t *counts) {
  fenv_t caller;
  fegetenv(&caller);
  fesetenv(FE_DFL_ENV);
  if (formula == MANDELBROT) NAME(lanes_of)(job, MANDELBROT, column, row, width, first, last, cap, counts);
  if (formula == JULIA) NAME(lanes_of)(job, JULIA, column, row, width, first, last, cap, counts);
  if (formula == BURNING_SHIP) NAME(lanes_of)(job, BURNING_SHIP, column, row, width, first, last, cap, counts);
  if (formula == MULTIBROT_3) NAME(lanes_of)(job, MULTIBROT_3, column, row, width, first, last, cap, counts);
  if (formula >= PROGRAM) NAME(plain)(job, formula, column, row, width, first, last, cap, counts, 0, 0, 0);
  fesetenv(&caller);
}
