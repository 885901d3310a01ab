/* The HPC report's two programs: one pixel after the other, and pixels side by side in vectors of 256 bits, both with
 * OpenMP threads. The first is the `separate` rounding; the second is too, or has the report's own order of operations
 * with fused multiply-adds.
 *
 * What all functions here share: `view` is the real part of column 0, the imaginary part of the row `bottom`, and the
 * distance between pixels; rows `first` to `first + rows` are counted downward from the top. `dynamic` and `chunk` are
 * OpenMP's schedule and how many iterations of the loop a thread takes at a time, 0 for what OpenMP prefers. A count is the
 * first step that is outside, or `cap`. Where `*stop` is not 0, what is left is not computed. */
#include <math.h>
#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

static void set_schedule(int dynamic, int chunk)
{
    omp_set_schedule(dynamic ? omp_sched_dynamic : omp_sched_static, chunk);
}

/* Whether vectors are the processor's own, with fused multiply-adds; otherwise the compiler does what it can. */
int has_vector_instructions(void)
{
#if defined(__AVX2__) && defined(__FMA__)
    return 1;
#else
    return 0;
#endif
}

#define NAME plain_hypot
#define OUTSIDE(x, y) (hypot(x, y) >= 2)
#include "hpc_plain.h"
#define NAME plain_root
#define OUTSIDE(x, y) (sqrt((x) * (x) + (y) * (y)) >= 2)
#include "hpc_plain.h"
#define NAME plain_norm
#define OUTSIDE(x, y) ((x) * (x) + (y) * (y) >= 4)
#include "hpc_plain.h"

#define REAL double
#define WHOLE int64_t
#define NAME vectors_double_fused
#define FUSED 1
#include "hpc_vectors.h"
#define NAME vectors_double_separate
#define FUSED 0
#include "hpc_vectors.h"
#undef REAL
#undef WHOLE
#define REAL float
#define WHOLE int32_t
#define NAME vectors_float_fused
#define FUSED 1
#include "hpc_vectors.h"
#define NAME vectors_float_separate
#define FUSED 0
#include "hpc_vectors.h"
