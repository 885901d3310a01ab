/* The direct method: an orbit is iterated from its start in the job's number. What an orbit's state is, how it
 * advances, and how it is kept, compared and saved; the loop knows no more of it.
 *
 * The constant is what of an orbit does not change from step to step, and follows from its pixel. */
typedef number_complex orbit_state;
typedef number_complex orbit_constant;

/* 32-bit words of a saved state. */
#define ORBIT_STATE_WORDS NUMBER_STATE_WORDS

/* Whether the map's point is the formula's, so that what is proved of the formula holds. */
#define METHOD_PROVES 1

/* With TRAIL, an orbit is iterated again from the stride before the one in which it leaves. */
#define METHOD_BEHIND 1
#define orbit_z(state) (state)

static orbit_state orbit_start(number_complex point) {
  return formula_start(point);
}

static orbit_constant orbit_constant_of(number_complex point, global const uint *parameters,
                                        global const uint *method_words) {
  return formula_constant(point, parameters);
}

/* The constant as the formula knows it. */
#define orbit_formula_constant(constants) constants

static orbit_state orbit_step(orbit_state state, orbit_constant c, uint phase) {
  return formula_step(state, c, phase);
}

/* Mask of the lanes that are not |z|² ≤ R². */
static int_lanes orbit_outside(orbit_state state, number_real radius_squared) {
  return number_outside(state, radius_squared);
}

/* A state in which no orbit inside the disc can be. */
static orbit_state orbit_nowhere(number_real radius_squared) {
  orbit_state nowhere = {radius_squared, radius_squared};
  return nowhere;
}

static orbit_state orbit_keep(orbit_state state, orbit_state other, int_lanes mask) {
  return number_keep(state, other, mask);
}

static int_lanes orbit_equal(orbit_state state, orbit_state other) {
  return number_equal(state, other);
}

static int_lanes orbit_may_equal(orbit_state state, orbit_state other) {
  return number_may_equal(state, other);
}

/* z and c as an orbit goes on with them to the smooth radius. */
static number_far orbit_far(orbit_state state) {
  return number_far_from(state);
}

static number_far orbit_far_constant(orbit_constant c) {
  return number_far_from(c);
}

static void orbit_pack(orbit_state state, uint_lanes *words) {
  number_pack(state, words);
}

static orbit_state orbit_unpack(const uint_lanes *words) {
  return number_unpack(words);
}
