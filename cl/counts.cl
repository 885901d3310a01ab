/* Counts of iterations, as wide as the job's limit needs: mandelcl/core/counts.py decides.
 *
 * COUNT_BITS  32 or 64
 *
 * A kernel is given counts as ulong, whatever their width, and keeps them in COUNT_WORDS words of 32 bits, the low one
 * first. */
#ifndef COUNT_BITS
#error "COUNT_BITS is not defined"
#endif
#if COUNT_BITS == 64
#define COUNT_TYPE ulong
#define counts_convert LANED(convert_ulong) /* of uint_lanes */
#define counts_low LANED(convert_uint)      /* the low words */
#define counts_saturated JOIN(LANED(convert_uint), _sat) /* as uint_lanes: the largest one for all that are larger */
#define counts_select(value, other, mask) select(value, other, LANED(convert_long)(mask))
#elif COUNT_BITS == 32
#define COUNT_TYPE uint
#define counts_convert(lanes) (lanes)
#define counts_low(counts) (counts)
#define counts_saturated(counts) (counts)
#define counts_select(value, other, mask) select(value, other, mask)
#else
#error "COUNT_BITS must be 32 or 64"
#endif
#define COUNT_WORDS (COUNT_BITS / 32)

typedef COUNT_TYPE count_scalar;
typedef LANED(COUNT_TYPE) count_lanes;

/* In place of a count: an orbit that is known never to escape, above any limit; of rectangles, none is known. */
#define COUNT_NONE (~(count_scalar)(0))

/* Counts as they are saved. */
static void counts_pack(count_lanes counts, uint_lanes *words) {
  words[0] = counts_low(counts);
#if COUNT_WORDS > 1
  words[1] = LANED(convert_uint)(counts >> (count_lanes)(32));
#endif
}

static count_lanes counts_unpack(const uint_lanes *words) {
#if COUNT_WORDS > 1
  return LANED(convert_ulong)(words[1]) << (count_lanes)(32) | LANED(convert_ulong)(words[0]);
#else
  return words[0];
#endif
}

/* The count of a pixel in results, and its place there: `pixels` words lie between its low word and its high one. */
static count_scalar count_read(global const uint *results, size_t pixel, size_t pixels) {
#if COUNT_WORDS > 1
  return (count_scalar)(results[pixels + pixel]) << 32 | results[pixel];
#else
  return results[pixel];
#endif
}

static void count_write(global uint *results, size_t pixel, size_t pixels, count_scalar count) {
  results[pixel] = (uint)count;
#if COUNT_WORDS > 1
  results[pixels + pixel] = (uint)(count >> 32);
#endif
}

LANES_FOLD(counts_fold_largest, COUNT_TYPE, max)

/* The largest count in the lanes of a mask. */
static count_scalar counts_largest(count_lanes counts, int_lanes mask) {
#if LANES == 1
  return counts;
#else
  return counts_fold_largest(counts_select((count_lanes)(0), counts, mask));
#endif
}
