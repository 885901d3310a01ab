/* The return map of a reference: where the method's words hold it, its terms, and what a pixel's c adds to them. With
 * MAPS, for map_errors.cl, map_cycles.cl and turn_map.cl.
 *
 * F = f^p takes an orbit w near 0 through p iterations at once. With t = w², F(w, c) is the sum of f_jk·t^j·c^k, in
 * plain numbers, for w times 2^w_bits and c times 2^c_bits. The reference's orbit under F are nodes W_0 = 0, W_1, … */

/* The words at METHOD_MAP. */
enum {
  MAP_TERMS, /* f_01, f_02, f_10, f_11, f_12, f_20, f_21, f_22, f_30, f_31, f_40, each two reals */
  MAP_THRESHOLD = MAP_TERMS + 22 * NUMBER_WORDS,
  MAP_ENTRY = MAP_THRESHOLD + NUMBER_WORDS, /* an orbit comes back where |w|² is below it */
  MAP_PERIOD = MAP_ENTRY + NUMBER_WORDS,
  MAP_LAST,
  MAP_W_BITS,
  MAP_C_BITS,
  MAP_GROWTH = MAP_TERMS + 28 * NUMBER_WORDS, /* four reals, for bounds on errors: map_errors.cl */
  MAP_NODES = MAP_TERMS + 32 * NUMBER_WORDS
};

/* What a step near a cycle is off by at least, for w times |f1|, and what its slope is. */
#define MAP_CYCLE_UNIT 0x1p-48f

/* What a pixel's c adds to the terms. */
typedef struct {
  number_complex b, e, q;
} turn_map_constant;

static global const uint *map_words(global const uint *method) {
  return method + method[METHOD_MAP];
}

static number_complex map_term(global const uint *map, uint term) {
  const number_complex value = {(number_real)(method_real(map + 2 * term * NUMBER_WORDS)),
                                (number_real)(method_real(map + (2 * term + 1) * NUMBER_WORDS))};
  return value;
}

/* s + a·b */
static number_complex map_plus(number_complex s, number_complex a, number_complex b) {
  const number_complex sum = {fma(a.re, b.re, fma(-a.im, b.im, s.re)), fma(a.re, b.im, fma(a.im, b.re, s.im))};
  return sum;
}

static number_complex map_times(number_complex a, number_real by) {
  const number_complex product = {a.re * by, a.im * by};
  return product;
}

static turn_map_constant turn_map_constant_of(global const uint *method, const orbit_constant *c) {
  turn_map_constant terms = {number_zero(), number_zero(), number_zero()};
  if (!method[METHOD_MAP]) return terms;
  global const uint *map = map_words(method);
  const scaled by = {c->c.z, c->c.e + (int_lanes)((int)map[MAP_C_BITS])};
  const number_complex at = scaled_plain(by);
  terms.b = scaled_product(at, map_plus(map_term(map, 0), at, map_term(map, 1)));
  terms.e = scaled_product(at, map_plus(map_term(map, 3), at, map_term(map, 4)));
  terms.q = scaled_product(at, map_plus(map_term(map, 6), at, map_term(map, 7)));
  return terms;
}

/* The node at which lanes are. */
static number_complex map_node(global const uint *map, uint_lanes node) {
  uint nodes[LANES];
  number_scalar re[LANES], im[LANES];
  lanes_store(node, nodes);
  for (uint l = 0; l < LANES; l++) {
    global const uint *words = map + MAP_NODES + 2 * NUMBER_WORDS * (size_t)nodes[l];
    re[l] = method_real(words);
    im[l] = method_real(words + NUMBER_WORDS);
  }
  const number_complex value = {lanes_load(re), lanes_load(im)};
  return value;
}
