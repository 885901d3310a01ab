/* The number `double`: IEEE binary64. An encoded value is its bit pattern in two words, low word first. */
#define NUMBER_WORDS 2
#define NUMBER_STATE_WORDS 4

/* No step from within the disc is off by more than this, as a distance: docs/decisions/0010-shortcuts.md. */
#define NUMBER_STEP_ERROR 0x1p-49f

typedef double_lanes number_real;

#define number_from_int(value) LANED(convert_double)(value)
#define number_far_real_from(value) LANED(convert_double)(value)
#define number_to_float(value) LANED(convert_float)(value)
#define number_select_mask(mask) LANED(convert_long)(mask)

static number_real number_load(global const uint *words) {
  return (number_real)(as_double(((ulong)words[1] << 32) | words[0]));
}

static uint_lanes number_pack_real(number_real value, uint word) {
  return LANED(convert_uint)(LANED(as_ulong)(value) >> (ulong)(32 * word));
}

static number_real number_unpack_real(const uint_lanes *words) {
  return LANED(as_double)((LANED(convert_ulong)(words[1]) << (ulong)32) | LANED(convert_ulong)(words[0]));
}
