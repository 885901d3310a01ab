/* Naive: one work-item for each pixel, and the loop as a textbook has it. */
kernel void mandelbrot(global uint *counts, uint width, uint height, real left, real top, real pitch, uint cap) {
  const uint column = get_global_id(0), row = get_global_id(1);
  if (column >= width || row >= height) return; /* work-groups reach beyond the picture */

  const real re = left + column * pitch, im = top - row * pitch; /* the pixel's c */
  real x = 0, y = 0;                                             /* z = x + yi */
  uint n = 0;
  while (n < cap && x * x + y * y <= 4) {
    const real next = x * x - y * y + re;
    y = 2 * x * y + im;
    x = next;
    n++;
  }
  counts[row * width + column] = n;
}
