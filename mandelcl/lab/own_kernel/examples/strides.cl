/* Better: test once in STRIDE steps. An orbit that has left the disc does not come back, so nothing is missed; the
 * stride in which it left is made once more, with a test before each step, to find the step. */
#define STRIDE 8

kernel void mandelbrot(global uint *counts, uint width, uint height, real left, real top, real pitch, uint cap) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (column >= width || row >= height) return;

  const real re = left + column * pitch, im = top - row * pitch;
  real x = 0, y = 0;
  uint n = 0;
  while (cap - n >= STRIDE) {
    const real x_before = x, y_before = y;
    for (uint k = 0; k < STRIDE; k++) {
      const real next = x * x - y * y + re;
      y = 2 * x * y + im;
      x = next;
    }
    if (!(x * x + y * y <= 4)) { /* not "> 4": far outside, x and y become infinite, and then NaN */
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
  counts[row * width + column] = n;
}
