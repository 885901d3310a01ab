/* The number `double`: IEEE binary64. An encoded value is its bit pattern in two words, low word first. */
#define NUMBER_WORDS 2
#define NUMBER_STATE_WORDS 4

/* No step from within the disc is off by more than this, as a distance: docs/decisions/0010-shortcuts.md. */
#define NUMBER_STEP_ERROR 0x1p-49f

typedef double_lanes number_real;
typedef double number_scalar;

#define number_from_int(value) LANED(convert_double)(value)
#define number_far_real_from(value) LANED(convert_double)(value)
#define number_to_float(value) LANED(convert_float)(value)
#define number_select_mask(mask) LANED(convert_long)(mask)

/* For numbers with exponents of their own. A real's upper bits are its sign, its exponent plus NUMBER_BIAS and the
 * first eight bits of its fraction; below NUMBER_SMALL squares need an exponent, below NUMBER_CUT of the other a part
 * counts as 0. No operation is off by more than NUMBER_UNIT of its result; NUMBER_MORE is enough for some hundred of
 * them. */
#define NUMBER_BIAS 1023
#define NUMBER_SMALL 0x1p-300
#define NUMBER_CUT 0x1p-500
#define NUMBER_PLAIN (-150) /* parts from 2^this on need no exponent, nor do their products; 0: no such range */
#define NUMBER_UNIT 0x1p-53
#define NUMBER_MORE (1 + 0x1p-46)
#define number_upper(value) LANED(convert_int)(LANED(as_long)(value) >> (long)44)
#define number_from_upper(upper) LANED(as_double)(LANED(convert_long)(upper) << (long)44)

/* At least the root, and at most NUMBER_MORE times it: IEEE 754's is rounded once. */
static number_real number_root_above(number_real value) {
  return sqrt(value) * (1 + 0x1p-50);
}

static number_real number_load(global const uint *words) {
  return (number_real)(as_double(((ulong)words[1] << 32) | words[0]));
}

static uint_lanes number_pack_real(number_real value, uint word) {
  return LANED(convert_uint)(LANED(as_ulong)(value) >> (ulong)(32 * word));
}

static number_real number_unpack_real(const uint_lanes *words) {
  return LANED(as_double)((LANED(convert_ulong)(words[1]) << (ulong)32) | LANED(convert_ulong)(words[0]));
}
