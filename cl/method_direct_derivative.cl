/* The direct method with derivatives: as method_direct.cl, and an orbit's state is its derivative, too. Two states are
 * equal where their z are: that is what decides how an orbit goes on.
 *
 * The method's one word is k: the point is taken to move by 2^−k. */
typedef struct {
  number_complex z;
  formula_derivative d;
} orbit_state;
typedef struct {
  number_complex c;
  formula_derivative move;
} orbit_constant;

/* 32-bit words of a saved state. */
#define ORBIT_STATE_WORDS (NUMBER_STATE_WORDS + DERIVATIVES_WORDS)

/* Whether the map's point is the formula's, so that what is proved of the formula holds. */
#define METHOD_PROVES 1

/* With TRAIL, an orbit is iterated again from the stride before the one in which it leaves. */
#define METHOD_BEHIND 1
#define orbit_z(state) (state).z

/* The derivative is set where an orbit begins: it takes the constant. */
static orbit_state orbit_start(number_complex point) {
  const orbit_state start = {formula_start(point), formula_derivative_start(derivatives_move(0))};
  return start;
}

static orbit_state orbit_begun(orbit_state state, orbit_constant c) {
  const orbit_state begun = {state.z, formula_derivative_start(c.move)};
  return begun;
}

static orbit_constant orbit_constant_of(number_complex point, global const uint *parameters,
                                        global const uint *method_words) {
  const orbit_constant constants = {formula_constant(point, parameters), derivatives_move((int)method_words[0])};
  return constants;
}

/* The constant as the formula knows it. */
#define orbit_formula_constant(constants) constants.c

static orbit_state orbit_step(orbit_state state, orbit_constant c, uint phase) {
  const orbit_state next = {formula_step(state.z, c.c, phase),
                            formula_derivative_step(derivative_point_from(state.z), derivative_point_from(c.c), state.d,
                                                    c.move, (uint_lanes)(phase))};
  return next;
}

/* Mask of the lanes that are not |z|² ≤ R². */
static int_lanes orbit_outside(orbit_state state, number_real radius_squared) {
  return number_outside(state.z, radius_squared);
}

/* A state in which no orbit inside the disc can be. */
static orbit_state orbit_nowhere(number_real radius_squared) {
  const orbit_state nowhere = {{radius_squared, radius_squared}, derivatives_move(0)};
  return nowhere;
}

static orbit_state orbit_keep(orbit_state state, orbit_state other, int_lanes mask) {
  const orbit_state kept = {number_keep(state.z, other.z, mask), derivatives_keep(state.d, other.d, mask)};
  return kept;
}

static int_lanes orbit_equal(orbit_state state, orbit_state other) {
  return number_equal(state.z, other.z);
}

static int_lanes orbit_may_equal(orbit_state state, orbit_state other) {
  return number_may_equal(state.z, other.z);
}

/* z, c and the derivative as an orbit goes on with them to the smooth radius, and by how much the point moves. */
static number_far orbit_far(orbit_state state) {
  return number_far_from(state.z);
}

static number_far orbit_far_constant(orbit_constant c) {
  return number_far_from(c.c);
}

static formula_derivative orbit_derivative(orbit_state state) {
  return state.d;
}

static formula_derivative orbit_move(orbit_constant c) {
  return c.move;
}

static void orbit_pack(orbit_state state, uint_lanes *words) {
  number_pack(state.z, words);
  derivatives_pack(state.d, words + NUMBER_STATE_WORDS);
}

static orbit_state orbit_unpack(const uint_lanes *words) {
  const orbit_state state = {number_unpack(words), derivatives_unpack(words + NUMBER_STATE_WORDS)};
  return state;
}
