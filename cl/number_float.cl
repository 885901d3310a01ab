/* The number `float`: IEEE binary32. An encoded value is its bit pattern in one word. */
#define NUMBER_WORDS 1
#define NUMBER_STATE_WORDS 2

/* No step from within the disc is off by more than this, as a distance: docs/decisions/0010-shortcuts.md. */
#define NUMBER_STEP_ERROR 0x1p-20f

typedef float_lanes number_real;
typedef float number_scalar;

#define number_from_int(value) LANED(convert_float)(value)
#define number_far_real_from(value) (value)
#define number_to_float(value) (value)
#define number_select_mask(mask) (mask)

/* For numbers with exponents of their own. A real's upper bits are its sign, its exponent plus NUMBER_BIAS and the
 * first eight bits of its fraction; below NUMBER_SMALL squares need an exponent, below NUMBER_CUT of the other a part
 * counts as 0. No operation is off by more than NUMBER_UNIT of its result; NUMBER_MORE is enough for some hundred of
 * them. */
#define NUMBER_BIAS 127
#define NUMBER_SMALL 0x1p-30f
#define NUMBER_CUT 0x1p-60f
#define NUMBER_PLAIN 0
#define NUMBER_UNIT 0x1p-24f
#define NUMBER_MORE (1 + 0x1p-18f)
#define number_upper(value) (LANED(as_int)(value) >> 15)
#define number_from_upper(upper) LANED(as_float)((upper) << 15)

/* At least the root, and at most NUMBER_MORE times it. Devices round roots in different ways: this one is made of
 * products alone, by three steps of Newton's method for the inverse, off by 2⁻²¹ at most. */
static number_real number_root_above(number_real value) {
  const number_real halved = 0.5f * value;
  number_real inverse = LANED(as_float)((int_lanes)(0x5f3759df) - (LANED(as_int)(value) >> 1));
  for (uint step = 0; step < 3; step++) inverse *= fma(-(halved * inverse), inverse, (number_real)(1.5f));
  return value * inverse * (1 + 0x1p-20f);
}

static number_real number_load(global const uint *words) {
  return (number_real)(as_float(words[0]));
}

static uint_lanes number_pack_real(number_real value, uint word) {
  return LANED(as_uint)(value);
}

static number_real number_unpack_real(const uint_lanes *words) {
  return LANED(as_float)(words[0]);
}
