/* One pixel after the other, in double: the function NAME, in which an orbit is outside where OUTSIDE(x, y). */
void NAME(const double *view, int width, int bottom, int cap, int dynamic, int chunk, int threads, int first, int rows,
          unsigned *counts, const volatile int *stop)
{
    const ptrdiff_t pixels = (ptrdiff_t)width * rows;
    set_schedule(dynamic, chunk);
    #pragma omp parallel for schedule(runtime) num_threads(threads)
    for (ptrdiff_t pixel = 0; pixel < pixels; pixel++) {
        if (*stop)
            continue;
        const double cx = (double)(pixel % width) * view[2] + view[0];
        const double cy = (double)(bottom - (first + pixel / width)) * view[2] + view[1];
        double x = 0, y = 0;
        int n = 1;
        for (; n < cap; n++) {
            const double next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            if (OUTSIDE(x, y))
                break;
        }
        counts[pixel] = (unsigned)n;
    }
}
#undef NAME
#undef OUTSIDE
