/* The number `float`: IEEE binary32. An encoded value is its bit pattern in one word. */
#define NUMBER_WORDS 1
#define NUMBER_STATE_WORDS 2

/* No step from within the disc is off by more than this, as a distance: docs/decisions/0010-shortcuts.md. */
#define NUMBER_STEP_ERROR 0x1p-20f

typedef float_lanes number_real;

#define number_from_int(value) LANED(convert_float)(value)
#define number_far_real_from(value) (value)
#define number_to_float(value) (value)
#define number_select_mask(mask) (mask)

static number_real number_load(global const uint *words) {
  return (number_real)(as_float(words[0]));
}

static uint_lanes number_pack_real(number_real value, uint word) {
  return LANED(as_uint)(value);
}

static number_real number_unpack_real(const uint_lanes *words) {
  return LANED(as_float)(words[0]);
}
