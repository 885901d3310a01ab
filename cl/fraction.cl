/* The smooth fraction of pixels, as mandelcl/base/smooth.py has it, to the last bit: whole numbers, and one
 * rounding. */

#define LEAST_NORM 0x40800000u /* 4 as a float's bits, and the largest float: what is no norm counts as one of them */
#define MOST_NORM 0x7f7fffffu
#define UNIT_BITS 26

/* step + 1 − count − log_d log₂ |z|, d the formula's degree: the fraction that is added to count − 1. */
static float_lanes smooth_fraction(uint_lanes count, uint_lanes step, uint_lanes norm, global const uint *logarithms) {
  const uint_lanes bits = clamp(norm, (uint_lanes)(LEAST_NORM), (uint_lanes)(MOST_NORM)) - LEAST_NORM;
  uint_lanes start, rise;
  chords_read(logarithms, bits, &start, &rise);
  const uint_lanes logarithm = start + ((chords_along(bits) * rise) >> (uint_lanes)(CHORD_BITS));
  const long_lanes steps = LANED(convert_long)(step - count) + (long_lanes)(1);
  const long_lanes units = (steps << (long_lanes)(UNIT_BITS)) - LANED(convert_long)(logarithm);
  return NEAREST(convert_float)(units) * (float_lanes)(0x1p-26f);
}
