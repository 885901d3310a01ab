/* The method `bounded`: an orbit is iterated from its start, with a bound on how far it is from the exact one. What an
 * orbit's state is and how it is kept; advance_bounded.cl advances it.
 *
 * With w the orbit as computed and E at least its distance from the exact one, a step makes of E at most
 *     (2|w| + E)·E + ε
 * where ε is what a step and the constant are rounded by. E is error·2^error_e with 1 ≤ error < 2. */
#if !CERTIFIED
#error "what is bounded is certified"
#endif

/* The map's points are the formula's. */
#define METHOD_PROVES 1
#define METHOD_BEHIND 0

/* The method's words: the exponent of ε, a power of two. */
enum { METHOD_ROUNDED };

/* z, its bound, and the iteration. */
typedef struct {
  number_complex z;
  float_lanes error;
  int_lanes error_e;
  count_lanes n;
} orbit_state;

typedef number_complex orbit_constant;

/* 32-bit words of a saved state. */
#define ORBIT_STATE_WORDS (NUMBER_STATE_WORDS + 2 + COUNT_WORDS)

static orbit_state orbit_start(number_complex point) {
  orbit_state start;
  start.z = number_zero();
  start.n = (count_lanes)(0);
  start.error = (float_lanes)(1);
  start.error_e = (int_lanes)(-(1 << 20)); /* 0 is exact */
  return start;
}

static orbit_constant orbit_constant_of(number_complex point, global const uint *parameters,
                                        global const uint *method_words) {
  return formula_constant(point, parameters);
}

static number_far orbit_far_constant(orbit_constant c) {
  return number_far_from(c);
}

static void orbit_pack(orbit_state state, uint_lanes *words) {
  number_pack(state.z, words);
  counts_pack(state.n, words + NUMBER_STATE_WORDS);
  words[ORBIT_STATE_WORDS - 2] = LANED(as_uint)(state.error);
  words[ORBIT_STATE_WORDS - 1] = LANED(as_uint)(state.error_e);
}

static orbit_state orbit_unpack(const uint_lanes *words) {
  orbit_state state;
  state.z = number_unpack(words);
  state.n = counts_unpack(words + NUMBER_STATE_WORDS);
  state.error = LANED(as_float)(words[ORBIT_STATE_WORDS - 2]);
  state.error_e = LANED(as_int)(words[ORBIT_STATE_WORDS - 1]);
  return state;
}
