/* The multiprecision article's first version of fp128 in C: sign and magnitude, words of 32 bits extended to 64. What it
 * computes, to the last bit, is defined in cl/study_sign_magnitude.cl. */
#include <stdint.h>

#define WORDS 4
#define LAST (WORDS - 1)
#define MASK 0xffffffffu

/* Magnitudes have the least significant word first, the integral one last; the sign is 0 where all words are. */
typedef struct { int sign; uint32_t word[WORDS]; } Real;

static int is_zero(const uint32_t *x)
{
    uint32_t any = 0;
    for (int k = 0; k < WORDS; ++k) any |= x[k];
    return any == 0;
}

static int compare(const uint32_t *x, const uint32_t *y)
{
    for (int k = LAST; k >= 0; --k)
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    return 0;
}

static void add_words(uint32_t *z, const uint32_t *x)
{
    uint64_t carry = 0;
    for (int k = 0; k < WORDS; ++k) {
        carry += (uint64_t)z[k] + x[k];
        z[k] = (uint32_t)(carry & MASK);
        carry >>= 32;
    }
}

static void subtract_words(uint32_t *z, const uint32_t *x)
{
    uint64_t borrow = 0;
    for (int k = 0; k < WORDS; ++k) {
        const uint64_t difference = (uint64_t)z[k] - x[k] - borrow;
        z[k] = (uint32_t)(difference & MASK);
        borrow = difference >> 63;
    }
}

static void negate_words(uint32_t *z)
{
    const Real zero = {0};
    Real negative = zero;
    subtract_words(negative.word, z);
    for (int k = 0; k < WORDS; ++k) z[k] = negative.word[k];
}

static Real add(Real x, Real y)
{
    if (x.sign == 0) return y;
    if (y.sign == 0) return x;
    if (x.sign == y.sign) {
        add_words(x.word, y.word);
        return x;
    }
    const int order = compare(x.word, y.word);
    const Real zero = {0};
    if (order == 0) return zero;
    if (order < 0) {
        subtract_words(y.word, x.word);
        return y;
    }
    subtract_words(x.word, y.word);
    return x;
}

static Real negate(Real x)
{
    x.sign = -x.sign;
    return x;
}

static Real multiply(Real x, Real y)
{
    uint64_t column[WORDS] = {0};
    for (int i = 0; i < WORDS; ++i) {
        for (int j = 0; j < WORDS; ++j) {
            const int k = i + j - LAST;  /* the word as which the lower half weighs */
            if (k < -1) continue;
            const uint64_t words = (uint64_t)x.word[i] * y.word[j];
            if (k >= 0) column[k] += words & MASK;
            if (k < LAST) column[k + 1] += words >> 32;
        }
    }
    Real product;
    uint64_t carry = 0;
    for (int k = 0; k < WORDS; ++k) {
        carry += column[k];
        product.word[k] = (uint32_t)(carry & MASK);
        carry >>= 32;
    }
    product.sign = is_zero(product.word) ? 0 : x.sign * y.sign;
    return product;
}

/* anchor + count * pitch, all in two's complement, as a real. */
static Real along(int count, const uint32_t *pitch, const uint32_t *anchor)
{
    const uint32_t times = count < 0 ? 0u - (uint32_t)count : (uint32_t)count;
    Real x;
    uint64_t carry = 0;
    for (int k = 0; k < WORDS; ++k) {
        carry += (uint64_t)pitch[k] * times;
        x.word[k] = (uint32_t)(carry & MASK);
        carry >>= 32;
    }
    if (count < 0) negate_words(x.word);
    add_words(x.word, anchor);
    const int negative = x.word[LAST] >> 31;
    if (negative) negate_words(x.word);
    x.sign = is_zero(x.word) ? 0 : negative ? -1 : 1;
    return x;
}

static uint32_t count_of(Real cx, Real cy, const uint32_t *radius_squared, uint32_t cap)
{
    const Real zero = {0};
    Real x = zero, y = zero;
    for (uint32_t n = 0; n < cap; ++n) {
        const Real xx = multiply(x, x), yy = multiply(y, y);
        if (compare(add(xx, yy).word, radius_squared) > 0) return n;
        const Real xy = multiply(x, y);
        x = add(add(xx, negate(yy)), cx);
        y = add(add(xy, xy), cy);
    }
    return cap;
}

/* The counts of some rows, width a row, by so many threads; where *stop is not 0, no further row is begun. `view` is R^2,
 * the anchor, re before im, and the pitch, encoded as for the kernels; pixel (0, 0) lies `right` columns to the right of
 * the anchor, and `up` rows above it. */
void sign_magnitude_rows(const uint32_t *view, int right, int up, int width, uint32_t cap, int first, int rows,
                         int threads, uint32_t *counts, const volatile int *stop)
{
    const uint32_t *re = view + WORDS, *im = re + WORDS, *pitch = im + WORDS;
    #pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int row = 0; row < rows; ++row) {
        if (*stop) continue;
        const Real cy = along(up - (first + row), pitch, im);
        for (int column = 0; column < width; ++column)
            counts[(int64_t)row * width + column] = count_of(along(right + column, pitch, re), cy, view, cap);
    }
}
