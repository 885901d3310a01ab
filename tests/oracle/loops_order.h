/* The loops of one NUMBER in one ORDER.
 *
 * `view` is anchor_re, anchor_im, pitch, R² and the smooth radius squared; column and row are those of the anchor
 * pixel; rows first ≤ j < last are written into arrays of the whole picture. */
static inline NUMBER NAME(point)(int64_t steps, NUMBER pitch, NUMBER anchor) {
#if ORDER == SEPARATE
  return anchor + (NUMBER)steps * pitch;
#else
  return FMA((NUMBER)steps, pitch, anchor);
#endif
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

/* One pixel after the other. Steps and norms, where they are wanted, are those of smooth colouring. */
void NAME(plain)(const NUMBER *view, int64_t column, int64_t row, int64_t width, int64_t first, int64_t last,
                 uint32_t cap, uint32_t *counts, uint32_t limit, uint32_t *steps, float *norms) {
  fenv_t caller;
  fegetenv(&caller);
  fesetenv(FE_DFL_ENV);
  for (int64_t j = first; j < last; j++) {
    const NUMBER cy = NAME(point)(-(j - row), view[2], view[1]);
    for (int64_t i = 0; i < width; i++) {
      const NUMBER cx = NAME(point)(i - column, view[2], view[0]);
      const int64_t pixel = j * width + i;
      NUMBER x = 0, y = 0;
      uint32_t n = 0;
      while (n < cap && NAME(norm)(x, y) <= view[3]) {
        const NUMBER re = NAME(next_re)(x, y, cx);
        y = NAME(next_im)(x, y, cy);
        x = re;
        n++;
      }
      counts[pixel] = n;
      if (!steps || n == cap) continue;
      uint32_t extra = 0;
      while (extra < limit && NAME(norm)(x, y) <= view[4]) {
        const NUMBER re = NAME(next_re)(x, y, cx);
        y = NAME(next_im)(x, y, cy);
        x = re;
        extra++;
      }
      steps[pixel] = n + extra;
      norms[pixel] = (float)NAME(norm)(x, y);
    }
  }
  fesetenv(&caller);
}

/* The same counts, LANES pixels of a row at a time, for the compiler to vectorise. */
void NAME(lanes)(const NUMBER *view, int64_t column, int64_t row, int64_t width, int64_t first, int64_t last,
                 uint32_t cap, uint32_t *counts) {
  enum { LANES = 256 / sizeof(NUMBER) };
  fenv_t caller;
  fegetenv(&caller);
  fesetenv(FE_DFL_ENV);
  for (int64_t j = first; j < last; j++) {
    const NUMBER cy = NAME(point)(-(j - row), view[2], view[1]);
    for (int64_t i = 0; i < width; i += LANES) {
      NUMBER x[LANES], y[LANES], cx[LANES];
      WORD n[LANES], alive[LANES], any = 1;
      for (int l = 0; l < LANES; l++) {
        cx[l] = NAME(point)(i + l - column, view[2], view[0]);
        x[l] = y[l] = 0;
        n[l] = 0;
        alive[l] = i + l < width ? ~(WORD)0 : 0;
      }
      for (uint32_t done = 0; done < cap && any; done++) {
        any = 0;
        for (int l = 0; l < LANES; l++) {
          alive[l] &= NAME(norm)(x[l], y[l]) <= view[3] ? ~(WORD)0 : 0;
          n[l] -= alive[l];
          any |= alive[l];
          const NUMBER re = NAME(next_re)(x[l], y[l], cx[l]);
          y[l] = NAME(next_im)(x[l], y[l], cy);
          x[l] = re;
        }
      }
      for (int l = 0; l < LANES && i + l < width; l++) counts[j * width + i + l] = (uint32_t)n[l];
    }
  }
  fesetenv(&caller);
}
