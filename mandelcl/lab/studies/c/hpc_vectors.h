/* Pixels side by side: the function NAME, in REAL, with WHOLE the integer of the same width; FUSED 1 has fused
 * multiply-adds, 0 rounds each operation.
 *
 * With `as_listed` a block ends as in the report's listing, once |z|² > 4 in all its pixels at one step. An orbit that
 * has become NaN never is, so blocks in which orbits leave at different steps may go on to the cap. Otherwise a block
 * ends once all have left. The counts are the same. */
#define JOIN_NAMES(a, b) a##_##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define LOCAL(name) JOIN(NAME, name)
#define VECTOR LOCAL(vector)
#define MASK LOCAL(mask)
#define LANES ((int)(32 / sizeof(REAL)))

typedef REAL VECTOR __attribute__((vector_size(32)));
typedef WHOLE MASK __attribute__((vector_size(32)));

/* a·b + c. */
static inline VECTOR LOCAL(multiply_add)(VECTOR a, VECTOR b, VECTOR c)
{
#if !FUSED
    return a * b + c;
#elif defined(__AVX2__) && defined(__FMA__)
    return _Generic((REAL)0,
        double: (VECTOR)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c),
        float: (VECTOR)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c));
#else
    VECTOR sum;
    for (int lane = 0; lane < LANES; lane++)
        sum[lane] = _Generic((REAL)0, double: fma, float: fmaf)(a[lane], b[lane], c[lane]);
    return sum;
#endif
}

/* Whether any lane of a mask is set. */
static inline int LOCAL(any)(MASK mask)
{
#if defined(__AVX2__) && defined(__FMA__)
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    WHOLE set = 0;
    for (int lane = 0; lane < LANES; lane++)
        set |= mask[lane];
    return set != 0;
#endif
}

void NAME(const double *view, int width, int bottom, int cap, int dynamic, int chunk, int threads, int as_listed,
          int first, int rows, unsigned *counts, const volatile int *stop)
{
    const VECTOR zero = {0}, two = zero + 2, four = zero + 4;
    const VECTOR left = zero + (REAL)view[0], lowest = zero + (REAL)view[1], step = zero + (REAL)view[2];
    const ptrdiff_t pixels = (ptrdiff_t)width * rows;
    set_schedule(dynamic, chunk);
    #pragma omp parallel for schedule(runtime) num_threads(threads)
    for (ptrdiff_t pixel = 0; pixel < pixels; pixel += LANES) {
        if (*stop)
            continue;
        VECTOR column = zero, row = zero;
        for (int lane = 0; lane < LANES; lane++) {
            column[lane] = (REAL)((pixel + lane) % width);
            row[lane] = (REAL)(bottom - (first + (pixel + lane) / width));
        }
        const VECTOR cx = LOCAL(multiply_add)(column, step, left), cy = LOCAL(multiply_add)(row, step, lowest);
        VECTOR x = zero, y = zero;
        MASK count = {0}, going = ~count;
        for (int n = 1; n < cap; n++) {
            const VECTOR product = x * y;
            x = LOCAL(multiply_add)(x, x, -(y * y)) + cx;
            y = LOCAL(multiply_add)(two, product, cy);
            const MASK outside = LOCAL(multiply_add)(x, x, y * y) > four;
            count |= outside & going & n;
            going &= ~outside;
            if (as_listed ? !LOCAL(any)(~outside) : !LOCAL(any)(going))
                break;
        }
        for (int lane = 0; lane < LANES && pixel + lane < pixels; lane++)
            counts[pixel + lane] = count[lane] ? (unsigned)count[lane] : (unsigned)cap;
    }
}
#undef JOIN_NAMES
#undef JOIN
#undef LOCAL
#undef VECTOR
#undef MASK
#undef LANES
#undef NAME
#undef FUSED
