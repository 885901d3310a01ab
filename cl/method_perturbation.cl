/* The method `perturbation`: an orbit is computed as its difference z from the orbit of a reference, in numbers with an
 * exponent of their own, and as it is while it lies far from the reference's. What an orbit's state is, what the
 * method's words hold, and the arithmetic on them; advance_turns.cl advances the orbits.
 *
 * The map's points are differences of the constant from the reference's, times 2^scale; those of a Julia set are
 * differences of the point itself, and there all orbits have one constant.
 *
 * CERTIFIED   1: bound how far each orbit is from the exact one, and say whether its count is proved
 * INTERIOR    1: follow discs about orbits that come back, and end those whose disc maps into itself
 * MAPS        1: the reference may have a return map */

#if !defined(CERTIFIED) || !defined(INTERIOR)
#error "CERTIFIED and INTERIOR must be defined"
#endif
#ifndef MAPS
#error "MAPS is not defined"
#endif

/* The map's points are not the formula's: nothing is proved of a rectangle. */
#define METHOD_PROVES 0

/* With TRAIL, an orbit is followed again from a mark of its own. */
#define METHOD_BEHIND 0

/* The method's words: a header of METHOD_HEADER words, then what it says where to find. Offsets are in words. A place
 * of the reference is two reals, re and im. Where both are below NUMBER_SMALL, the first word of im is an entry in the
 * list of small values instead, and re is 0; an entry is two reals and an exponent, the first one that of Z₀ = 0. A
 * level has an index for each 2^shift places: at which place its step begins, and the key below which it may be taken.
 * An inner fold, one behind a product, takes a part of a place's value as the exact orbit has it: a real and its
 * exponent. */
enum {
  METHOD_POINT_ERROR,  /* a real: how far a point may be from the pixel's */
  METHOD_LENGTH = 2,   /* the last place of the reference: an orbit goes on from place 0 there */
  METHOD_SCALE,
  METHOD_STEP_KEYS,    /* t whose key is less than a step's by this needs no quadratic part */
  METHOD_TAIL,         /* a difference with an exponent above this is left for the orbit itself */
  METHOD_LONGEST,      /* iterations of the longest step */
  METHOD_LEVELS,
  METHOD_SHIFT,        /* of the first level, and by how much it grows from level to level */
  METHOD_SHIFT_STEP,
  METHOD_REFERENCE,
  METHOD_SMALL,
  METHOD_INDEX,
  METHOD_RECORDS,
  METHOD_BOUNDS,       /* of the records' errors, with CERTIFIED */
  METHOD_INSIDE,       /* 1 where all orbits of the view are known never to escape */
  METHOD_INNER,        /* what the inner folds take of each place */
  METHOD_EDGES,        /* of places near |Z| = R: turn_edges.cl */
  METHOD_EDGE_TOTAL,
  METHOD_FIRST_RECORD, /* of each level */
  METHOD_MAPPED = 53,  /* the return map of mapped places, with MAPS, or 0: return_map.cl, mapped_places.cl */
  METHOD_TARGETS,      /* the places to which records lead, with METHOD_MAPPED */
  METHOD_MAP,          /* the return map, with MAPS, or 0: return_map.cl */
  METHOD_PHASE         /* how many words behind these those of each phase begin, which are as these; 0 for the first */
};

/* A place is an index in the reference of a phase. That of phase q begins at 0 with line q. Behind these, a Julia set
 * has the reference of its own point, where orbits begin; its lines are those of phase 0. With several references, the
 * phase stands above the index, of which fewer bits are left. */
#define METHOD_REFERENCES (FORMULA_PHASES + !FORMULA_BEGINS_INSIDE)
#if METHOD_REFERENCES > 1
#define PLACE_PHASE 28
#define PLACE_INDEX 0x0fffffffu
#define PLACE_OWN ((uint)(FORMULA_PHASES) << PLACE_PHASE) /* where orbits of a Julia set begin */
#endif

/* Steps of an orbit as it is in a turn, and the |z|² below which it returns to the reference. */
#define METHOD_RUN 64
#define METHOD_DIP 0x1p-8f

/* Turns of a map that orbits of a vector take while others, which have left it, wait. */
#define METHOD_PATIENCE 8

/* With DISTANCE, the columns of a derivative: one complex number where the formula is analytic, else by how much z
 * changes as the point moves along re, and along im. */
#if FORMULA_ANALYTIC
#define ORBIT_COLUMNS 1
#else
#define ORBIT_COLUMNS 2
#endif

/* The search for a cycle: an earlier difference of the orbit and its place as saved, how often it has been compared,
 * and at which comparison it is replaced. */
typedef struct {
  scaled z;
  uint_lanes place, visits, next;
#if CERTIFIED
  number_real error;
#endif
} orbit_seen;

#if INTERIOR
/* The disc about an orbit since it was seen last: turn_inside.cl. */
typedef struct {
  number_real l, m, r, most;
} orbit_disc;
#define ORBIT_DISC_WORDS (4 * NUMBER_WORDS)
#else
#define ORBIT_DISC_WORDS 0
#endif

#if TRAIL
/* Where an orbit was at an iteration. */
typedef struct {
  scaled z;
  uint_lanes place;
  count_lanes n;
} orbit_mark;
#define ORBIT_MARK_WORDS (NUMBER_STATE_WORDS + 2 + COUNT_WORDS)
#endif

/* The difference, its place in the reference, and the iteration. `whole` masks the lanes whose next turn iterates the
 * orbit itself. */
typedef struct {
  scaled z;
  uint_lanes place;
  count_lanes n;
  int_lanes whole;
#if DISTANCE
  scaled d[ORBIT_COLUMNS]; /* by the point */
#endif
#if CERTIFIED
  number_real error; /* times 2^z.e: how far the difference is from the exact one at most */
#endif
#if MAPS
  int_lanes mapping; /* masks the lanes that are in the map, at a node; their place is 0 */
  uint_lanes node;
  number_real since, from, slope, bend; /* of F's iterate: turn_map.cl */
#endif
#if TRAIL
  orbit_mark earlier, later; /* at least TRAIL_WINDOW + 1 iterations apart; both are the start at first */
#endif
  orbit_seen seen;
#if INTERIOR
  orbit_disc disc;
#endif
} orbit_state;

/* The difference of the constant from the reference's, its square, and the whole constant. Beside conjugates, |c|² at
 * the exponent of the square. With DISTANCE, the point is taken to move by 2^−scale. In a Julia set the difference is
 * 0, and `start` is that of the point. */
typedef struct {
  scaled c, square;
#if !FORMULA_BEGINS_INSIDE
  scaled start;
#if CERTIFIED
  number_real start_error; /* times 2^start.e */
#endif
#endif
  number_complex whole;
#if !FORMULA_ANALYTIC
  number_real norm;
#endif
#if DISTANCE
  int scale;
#endif
#if CERTIFIED
  number_real size, error; /* times 2^c.e: |c| at most, and how far it is from the pixel's, with those of a product */
#endif
} orbit_constant;

/* 32-bit words of a saved state: twice a difference with its exponent, place and error, the iteration, and two numbers
 * of comparisons; with DISTANCE, the derivative's columns and their exponents; with INTERIOR, the disc; with
 * TRAIL, the two marks. */
#define ORBIT_PLACED_WORDS (NUMBER_STATE_WORDS + 2 + CERTIFIED * NUMBER_WORDS)
#if DISTANCE
#define ORBIT_COLUMN_WORDS (NUMBER_STATE_WORDS + 1)
#define ORBIT_UNMARKED_WORDS \
  (2 * ORBIT_PLACED_WORDS + 2 + COUNT_WORDS + ORBIT_COLUMNS * ORBIT_COLUMN_WORDS + ORBIT_DISC_WORDS)
#else
#define ORBIT_UNMARKED_WORDS (2 * ORBIT_PLACED_WORDS + 2 + COUNT_WORDS + ORBIT_DISC_WORDS)
#endif
#if TRAIL
#define ORBIT_STATE_WORDS (ORBIT_UNMARKED_WORDS + 2 * ORBIT_MARK_WORDS)
#else
#define ORBIT_STATE_WORDS (ORBIT_UNMARKED_WORDS + MAPS * 4 * NUMBER_WORDS)
#endif
#define ORBIT_WHOLE 0x80000000u
#define ORBIT_MAPPING 0x40000000u
#define ORBIT_NOWHERE 0xffffffffu /* a saved place that there is not */

LANES_FOLD(lanes_largest, uint, max)

/* Whether all lanes of a mask have the same value; the largest of them is in *one. */
static bool lanes_agree(uint_lanes value, int_lanes mask, uint *one) {
#if LANES == 1
  *one = value;
  return true;
#else
  const uint found = lanes_largest(select((uint_lanes)(0), value, mask));
  *one = found;
  return !lanes_any(mask & lanes_mask(value != (uint_lanes)(found)));
#endif
}

static number_scalar method_real(global const uint *words) {
  return *(global const number_scalar *)words;
}

static global const uint *method_part(global const uint *method, uint offset, uint each, uint index) {
  return method + method[offset] + (size_t)each * index;
}

#if METHOD_REFERENCES > 1
/* The words of a place's phase, its index there, and the line that is next. */
static global const uint *method_phase(global const uint *method, uint place) {
  return method + method[METHOD_PHASE + (place >> PLACE_PHASE)];
}

static uint place_index(uint place) {
  return place & PLACE_INDEX;
}

static uint_lanes place_indices(uint_lanes place) {
  return place & (uint_lanes)(PLACE_INDEX);
}

static uint place_line(uint place) {
  return ((place >> PLACE_PHASE) + (place & PLACE_INDEX)) % FORMULA_PHASES;
}

static uint_lanes place_lines(uint_lanes place) {
  return ((place >> (uint_lanes)(PLACE_PHASE)) + (place & (uint_lanes)(PLACE_INDEX))) % (uint_lanes)(FORMULA_PHASES);
}

/* Where orbits begin anew: at index 0 of the phase whose line is next. */
static uint_lanes place_anew(uint_lanes place) {
  return place_lines(place) << (uint_lanes)(PLACE_PHASE);
}

/* How many iterations are left of the references at places. */
static uint_lanes place_left(global const uint *method, uint_lanes place) {
  uint_lanes length = (uint_lanes)(method[METHOD_LENGTH]);
  for (uint q = 1; q < METHOD_REFERENCES; q++)
    length = select(length, (uint_lanes)((method + method[METHOD_PHASE + q])[METHOD_LENGTH]),
                    lanes_mask((place >> (uint_lanes)(PLACE_PHASE)) == (uint_lanes)(q)));
  return length - min(length, place & (uint_lanes)(PLACE_INDEX));
}
#else
#define method_phase(method, place) (method)
#define place_index(place) (place)
#define place_indices(place) (place)
#define place_line(place) 0
#define place_lines(place) ((uint_lanes)(0))
#define place_anew(place) ((uint_lanes)(0))

static uint_lanes place_left(global const uint *method, uint_lanes place) {
  const uint_lanes length = (uint_lanes)(method[METHOD_LENGTH]);
  return length - min(length, place);
}
#endif

#define METHOD_SMALL_WORDS (2 * NUMBER_WORDS + 2)

/* A place of the reference: plain, with the exponent 0, or small. */
static void method_place(global const uint *words_of_all, uint place, number_scalar *re, number_scalar *im, int *e) {
  global const uint *method = method_phase(words_of_all, place);
  global const uint *words = method_part(method, METHOD_REFERENCE, 2 * NUMBER_WORDS, place_index(place));
  *re = method_real(words);
  *im = method_real(words + NUMBER_WORDS);
  *e = 0;
  if (fabs(*re) < NUMBER_SMALL && fabs(*im) < NUMBER_SMALL) {
    words = method_part(method, METHOD_SMALL, METHOD_SMALL_WORDS, words[NUMBER_WORDS]);
    *re = method_real(words);
    *im = method_real(words + NUMBER_WORDS);
    *e = (int)words[2 * NUMBER_WORDS];
  }
}

/* The reference where all lanes are. */
static scaled method_reference_of_all(global const uint *method, uint place) {
  number_scalar re, im;
  int e;
  method_place(method, place, &re, &im, &e);
  const scaled value = {{(number_real)(re), (number_real)(im)}, (int_lanes)(e)};
  return value;
}

/* The reference where the lanes of a mask are. */
static scaled method_reference(global const uint *method, uint_lanes place, int_lanes mask) {
  uint one;
  if (lanes_agree(place, mask, &one)) return method_reference_of_all(method, one);
  uint places[LANES];
  number_scalar re[LANES], im[LANES];
  lanes_store(place, places);
  for (uint l = 0; l < LANES; l++) {
    global const uint *words = method_part(method_phase(method, places[l]), METHOD_REFERENCE, 2 * NUMBER_WORDS,
                                           place_index(places[l]));
    re[l] = method_real(words);
    im[l] = method_real(words + NUMBER_WORDS);
  }
  const scaled plain = {{lanes_load(re), lanes_load(im)}, (int_lanes)(0)};
  if (!lanes_any(lanes_mask(scaled_larger(plain.z) < (number_real)(NUMBER_SMALL)))) return plain;
  int e[LANES];
  for (uint l = 0; l < LANES; l++) method_place(method, places[l], &re[l], &im[l], &e[l]);
  const scaled value = {{lanes_load(re), lanes_load(im)}, lanes_load(e)};
  return value;
}

#if FORMULA_INNER_FOLDS
/* What the inner folds take where all lanes are. */
static void method_inner(global const uint *words_of_all, uint place, scaled_part *inner) {
  global const uint *method = method_phase(words_of_all, place);
  for (uint fold = 0; fold < FORMULA_INNER_FOLDS; fold++) {
    global const uint *words = method_part(method, METHOD_INNER, 2 * NUMBER_WORDS,
                                           place_index(place) * FORMULA_INNER_FOLDS + fold);
    inner[fold].x = (number_real)(method_real(words));
    inner[fold].e = (int_lanes)((int)words[NUMBER_WORDS]);
  }
}
#endif

/* A record: the coefficients A, B, D, E and F, the iterations that it takes, its key, and whether c needs all
 * coefficients. Beside conjugates, the coefficients of c̄ as well, B̃, Ẽ, G and H: B̃ has the exponent of B, Ẽ has that
 * of E, and the others have that of F; and whether t is conjugated. */
typedef struct {
  scaled coefficient[5];
#if !FORMULA_ANALYTIC
  number_complex mirrored[4];
  bool turned;
#endif
  uint length;
  int key;
  bool quadratic;
} turn_record;

#if FORMULA_ANALYTIC
#define TURN_COEFFICIENTS 5
#else
#define TURN_COEFFICIENTS 9
#endif
#define TURN_RECORD_WORDS (2 * TURN_COEFFICIENTS * NUMBER_WORDS + 6)
#define TURN_LENGTH 0x3fffffffu    /* of a record's last word */
#define TURN_QUADRATIC 0x40000000u /* a bit of it: c needs all coefficients */
#define TURN_TURNED 0x80000000u    /* the other one: t is conjugated */
#define TURN_SINGLE 0              /* the record of a single iteration */

static orbit_state orbit_start(number_complex point) {
  orbit_state start;
  start.z.z = start.seen.z.z = number_zero();
  start.z.e = start.seen.z.e = (int_lanes)(SCALED_NOTHING);
  start.place = start.seen.visits = (uint_lanes)(0);
  start.n = (count_lanes)(0);
  start.whole = (int_lanes)(0);
  start.seen.place = (uint_lanes)(ORBIT_NOWHERE);
  start.seen.next = (uint_lanes)(1);
#if DISTANCE
  for (uint k = 0; k < ORBIT_COLUMNS; k++) start.d[k] = start.z;
#endif
#if MAPS
  start.mapping = (int_lanes)(-1);
  start.node = (uint_lanes)(0);
  start.slope = (number_real)(INFINITY);
  start.since = (number_real)(1);
  start.from = start.bend = (number_real)(0);
#endif
#if TRAIL
  start.earlier.z = start.later.z = start.z;
  start.earlier.place = start.later.place = (uint_lanes)(0);
  start.earlier.n = start.later.n = (count_lanes)(0);
#endif
#if CERTIFIED
  start.error = start.seen.error = (number_real)(0);
#endif
#if INTERIOR
  start.disc.l = start.disc.m = start.disc.r = start.disc.most = (number_real)(0);
#endif
  return start;
}

#if DISTANCE
/* By how much the point moves: 2^−scale along re or, in the second column, along im. */
static scaled orbit_column(const orbit_constant *constants, uint column) {
  const number_real side = (number_real)(0.5f), none = (number_real)(0);
  const scaled move = {{column ? none : side, column ? side : none}, (int_lanes)(1 - constants->scale)};
  return move;
}
#endif

static orbit_constant orbit_constant_of(number_complex point, global const uint *parameters,
                                        global const uint *method) {
  const int_lanes scale = (int_lanes)((int)method[METHOD_SCALE]);
  const scaled by = scaled_from(point, -scale), first = method_reference_of_all(method, 1);
#if FORMULA_BEGINS_INSIDE
  const scaled c = by;
#else
  const scaled c = {number_zero(), (int_lanes)(SCALED_NOTHING)};
#endif
  const number_complex near = scaled_plain(first), far = scaled_plain(c);
  const number_complex whole = {near.re + far.re, near.im + far.im};
  orbit_constant constants;
  constants.c = c;
#if !FORMULA_BEGINS_INSIDE
  constants.start = by;
#endif
  constants.square = scaled_from(scaled_product(c.z, c.z), c.e + c.e);
  constants.whole = scaled_cut(whole);
#if !FORMULA_ANALYTIC
  constants.norm = scaled_norm(c.z) * scaled_power_within(c.e + c.e - constants.square.e);
#endif
#if DISTANCE
  constants.scale = (int)method[METHOD_SCALE];
#endif
#if CERTIFIED
  const number_real point_error = (number_real)(method_real(method + METHOD_POINT_ERROR));
  const number_real off = point_error * scaled_power_within(-scale - by.e);
  constants.size = scaled_reach(c.z);
#if FORMULA_BEGINS_INSIDE
  constants.error = fma(constants.size, (number_real)((FORMULA_ANALYTIC ? 4 : 8) * NUMBER_UNIT), off);
#else
  constants.error = (number_real)(0);
  constants.start_error = off;
#endif
#endif
  return constants;
}

#if !FORMULA_BEGINS_INSIDE
/* The lanes of the mask begin at their points, beside the reference of a Julia set's own. */
static void orbit_begin(orbit_state *state, const orbit_constant *constants, int_lanes mask) {
  const uint_lanes place = (uint_lanes)(PLACE_OWN);
  state->z = scaled_keep(state->z, constants->start, mask);
  state->place = select(state->place, place, mask);
#if DISTANCE
  for (uint k = 0; k < ORBIT_COLUMNS; k++)
    state->d[k] = scaled_keep(state->d[k], orbit_column(constants, k), mask);
#endif
#if CERTIFIED
  state->error = scaled_choose(state->error, constants->start_error, mask);
#endif
#if TRAIL
  state->earlier.z = scaled_keep(state->earlier.z, state->z, mask);
  state->later.z = scaled_keep(state->later.z, state->z, mask);
  state->earlier.place = select(state->earlier.place, place, mask);
  state->later.place = select(state->later.place, place, mask);
#endif
}
#endif

/* The whole constant, as an orbit goes on with it to the smooth radius. */
static number_far orbit_far_constant(orbit_constant constants) {
  return number_far_from(constants.whole);
}

#if DISTANCE
/* By how much the point moves, as an orbit goes on to the smooth radius; and the derivative, which is large enough for
 * a plain number by then. */
static formula_derivative orbit_move(orbit_constant constants) {
  return derivatives_move(constants.scale);
}

static formula_derivative orbit_derivative(orbit_state state) {
#if FORMULA_ANALYTIC
  return scaled_plain(state.d[0]);
#else
  const formula_derivative plain = {scaled_plain(state.d[0]), scaled_plain(state.d[1])};
  return plain;
#endif
}
#endif

/* The place as it is saved. */
static uint_lanes orbit_place(const orbit_state *state) {
#if MAPS
  return select(state->place | select((uint_lanes)(0), (uint_lanes)(ORBIT_WHOLE), state->whole),
                state->node | (uint_lanes)(ORBIT_MAPPING), state->mapping);
#else
  return state->place | select((uint_lanes)(0), (uint_lanes)(ORBIT_WHOLE), state->whole);
#endif
}

static void orbit_pack_placed(scaled z, uint_lanes place, uint_lanes *words) {
  number_pack(z.z, words);
  words[NUMBER_STATE_WORDS] = LANED(as_uint)(z.e);
  words[NUMBER_STATE_WORDS + 1] = place;
}

static scaled orbit_unpack_placed(const uint_lanes *words) {
  const scaled z = {number_unpack(words), LANED(as_int)(words[NUMBER_STATE_WORDS])};
  return z;
}

#if TRAIL
static void orbit_pack_mark(orbit_mark mark, uint_lanes *words) {
  orbit_pack_placed(mark.z, mark.place, words);
  counts_pack(mark.n, words + NUMBER_STATE_WORDS + 2);
}

static orbit_mark orbit_unpack_mark(const uint_lanes *words) {
  const orbit_mark mark = {orbit_unpack_placed(words), words[NUMBER_STATE_WORDS + 1],
                           counts_unpack(words + NUMBER_STATE_WORDS + 2)};
  return mark;
}
#endif

static void orbit_pack(orbit_state state, uint_lanes *words) {
  uint_lanes *seen = words + ORBIT_PLACED_WORDS, *rest = seen + ORBIT_PLACED_WORDS;
  orbit_pack_placed(state.z, orbit_place(&state), words);
  orbit_pack_placed(state.seen.z, state.seen.place, seen);
#if CERTIFIED
  for (uint word = 0; word < NUMBER_WORDS; word++) {
    words[NUMBER_STATE_WORDS + 2 + word] = number_pack_real(state.error, word);
    seen[NUMBER_STATE_WORDS + 2 + word] = number_pack_real(state.seen.error, word);
  }
#endif
  counts_pack(state.n, rest);
  rest += COUNT_WORDS;
  rest[0] = state.seen.visits;
  rest[1] = state.seen.next;
#if DISTANCE
  for (uint k = 0; k < ORBIT_COLUMNS; k++) {
    number_pack(state.d[k].z, rest + 2 + k * ORBIT_COLUMN_WORDS);
    rest[2 + k * ORBIT_COLUMN_WORDS + NUMBER_STATE_WORDS] = LANED(as_uint)(state.d[k].e);
  }
#endif
#if MAPS
  const number_real returns[4] = {state.since, state.from, state.slope, state.bend};
  for (uint k = 0; k < 4; k++)
    for (uint word = 0; word < NUMBER_WORDS; word++)
      words[ORBIT_UNMARKED_WORDS + k * NUMBER_WORDS + word] = number_pack_real(returns[k], word);
#endif
#if INTERIOR
  uint_lanes *disc = words + ORBIT_UNMARKED_WORDS - ORBIT_DISC_WORDS;
  for (uint word = 0; word < NUMBER_WORDS; word++) {
    disc[word] = number_pack_real(state.disc.l, word);
    disc[NUMBER_WORDS + word] = number_pack_real(state.disc.m, word);
    disc[2 * NUMBER_WORDS + word] = number_pack_real(state.disc.r, word);
    disc[3 * NUMBER_WORDS + word] = number_pack_real(state.disc.most, word);
  }
#endif
#if TRAIL
  orbit_pack_mark(state.earlier, words + ORBIT_UNMARKED_WORDS);
  orbit_pack_mark(state.later, words + ORBIT_UNMARKED_WORDS + ORBIT_MARK_WORDS);
#endif
}

static orbit_state orbit_unpack(const uint_lanes *words) {
  const uint_lanes *seen = words + ORBIT_PLACED_WORDS, *rest = seen + ORBIT_PLACED_WORDS;
  const uint_lanes place = words[NUMBER_STATE_WORDS + 1];
  orbit_state state;
  state.z = orbit_unpack_placed(words);
  state.place = place & (uint_lanes)(ORBIT_WHOLE - 1);
  state.whole = lanes_mask(place >= (uint_lanes)(ORBIT_WHOLE));
#if MAPS
  state.mapping = ~state.whole & lanes_mask(place >= (uint_lanes)(ORBIT_MAPPING));
  state.node = select((uint_lanes)(0), place & (uint_lanes)(ORBIT_MAPPING - 1), state.mapping);
  state.place = select(state.place, (uint_lanes)(0), state.mapping);
#endif
  state.n = counts_unpack(rest);
  rest += COUNT_WORDS;
  state.seen.z = orbit_unpack_placed(seen);
  state.seen.place = seen[NUMBER_STATE_WORDS + 1];
  state.seen.visits = rest[0];
  state.seen.next = rest[1];
#if DISTANCE
  for (uint k = 0; k < ORBIT_COLUMNS; k++) {
    state.d[k].z = number_unpack(rest + 2 + k * ORBIT_COLUMN_WORDS);
    state.d[k].e = LANED(as_int)(rest[2 + k * ORBIT_COLUMN_WORDS + NUMBER_STATE_WORDS]);
  }
#endif
#if MAPS
  const uint_lanes *returns = words + ORBIT_UNMARKED_WORDS;
  state.since = number_unpack_real(returns);
  state.from = number_unpack_real(returns + NUMBER_WORDS);
  state.slope = number_unpack_real(returns + 2 * NUMBER_WORDS);
  state.bend = number_unpack_real(returns + 3 * NUMBER_WORDS);
#endif
#if INTERIOR
  const uint_lanes *disc = words + ORBIT_UNMARKED_WORDS - ORBIT_DISC_WORDS;
  state.disc.l = number_unpack_real(disc);
  state.disc.m = number_unpack_real(disc + NUMBER_WORDS);
  state.disc.r = number_unpack_real(disc + 2 * NUMBER_WORDS);
  state.disc.most = number_unpack_real(disc + 3 * NUMBER_WORDS);
#endif
#if TRAIL
  state.earlier = orbit_unpack_mark(words + ORBIT_UNMARKED_WORDS);
  state.later = orbit_unpack_mark(words + ORBIT_UNMARKED_WORDS + ORBIT_MARK_WORDS);
#endif
#if CERTIFIED
  state.error = number_unpack_real(words + NUMBER_STATE_WORDS + 2);
  state.seen.error = number_unpack_real(seen + NUMBER_STATE_WORDS + 2);
#endif
  return state;
}
