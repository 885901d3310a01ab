"""mandelcl: the Mandelbrot set on every OpenCL device, with the same bits from each."""
