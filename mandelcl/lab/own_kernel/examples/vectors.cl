/* Good: PIXELS neighbours in a row at a time, as a vector. Their steps do not wait for each other, and a CPU makes all
 * of them with one instruction. When one of them leaves the disc, each goes on alone from where the stride began. */
#define STRIDE 8
#define PIXELS 8

/* The count of an orbit that has made n steps and is at x + yi. */
uint finish(real x, real y, real re, real im, uint n, uint cap) {
  while (cap - n >= STRIDE) {
    const real x_before = x, y_before = y;
    for (uint k = 0; k < STRIDE; k++) {
      const real next = x * x - y * y + re;
      y = 2 * x * y + im;
      x = next;
    }
    if (!(x * x + y * y <= 4)) {
      x = x_before;
      y = y_before;
      break;
    }
    n += STRIDE;
  }
  while (n < cap && x * x + y * y <= 4) {
    const real next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
    n++;
  }
  return n;
}

kernel void mandelbrot(global uint *counts, uint width, uint height, real left, real top, real pitch, uint cap) {
  const uint column = PIXELS * get_global_id(0), row = get_global_id(1);
  if (column >= width || row >= height) return; /* seven work-items of eight have nothing to do */

  const real8 ahead = (real8)(0, 1, 2, 3, 4, 5, 6, 7);
  const real8 re = left + ((real)column + ahead) * pitch;
  const real im = top - row * pitch;
  real8 x = 0, y = 0;
  uint n = 0;
  while (cap - n >= STRIDE) {
    const real8 x_before = x, y_before = y;
    for (uint k = 0; k < STRIDE; k++) {
      const real8 next = x * x - y * y + re;
      y = 2 * x * y + im;
      x = next;
    }
    if (!all(x * x + y * y <= 4)) {
      x = x_before;
      y = y_before;
      break;
    }
    n += STRIDE;
  }

  real xs[PIXELS], ys[PIXELS], res[PIXELS];
  vstore8(x, 0, xs);
  vstore8(y, 0, ys);
  vstore8(re, 0, res);
  for (uint k = 0; k < PIXELS && column + k < width; k++)
    counts[row * width + column + k] = finish(xs[k], ys[k], res[k], im, n, cap);
}
