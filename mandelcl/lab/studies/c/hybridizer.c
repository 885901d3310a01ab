/* The Hybridizer post's program: float, each operation rounded, rows shared out between OpenMP threads as they come.
 *
 * `view` is the real part of column 0, the imaginary part of the row `bottom`, and the distance between pixels; rows
 * `first` to `first + rows` are counted downward from the top. A count is the first step that is outside, or `cap`.
 * Where `*stop` is not 0, what is left is not computed. */
#include <stddef.h>

static unsigned count(float cx, float cy, int cap)
{
    float x = 0, y = 0;
    int n = 0;
    for (; n < cap && x * x + y * y <= 4; n++) {
        const float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    return (unsigned)n;
}

void rows_of_counts(const double *view, int width, int bottom, int cap, int threads, int first, int rows,
                    unsigned *counts, const volatile int *stop)
{
    const float left = (float)view[0], lowest = (float)view[1], step = (float)view[2];
    #pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int row = 0; row < rows; row++) {
        if (*stop)
            continue;
        const float cy = lowest + (float)(bottom - first - row) * step;
        for (int column = 0; column < width; column++)
            counts[(ptrdiff_t)row * width + column] = count(left + (float)column * step, cy, cap);
    }
}
