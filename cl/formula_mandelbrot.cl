/* The Mandelbrot set: z₀ = 0, z ← z² + c. */
static number_complex formula_start(number_complex c) {
  return number_zero();
}

static number_complex formula_step(number_complex z, number_complex c) {
  return number_step(z, c);
}
