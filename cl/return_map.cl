/* The return map of a reference: where the method's words hold it, its terms, what a pixel's c adds to them, and a
 * step. For map_errors.cl, map_cycles.cl, and turn_map.cl or turn_mapped.cl.
 *
 * F = f^p takes an orbit w near 0 through p iterations at once. With t = w², F(w, c) is the sum of f_jk·t^j·c^k, in
 * plain numbers, for w times 2^w_bits and c times 2^c_bits. The reference's orbit under F are nodes W_0 = 0, W_1, …
 * (turn_map.cl), or places of it, a bit for each of which says so (mapped_places.cl). */

/* The words at METHOD_MAP and METHOD_MAPPED. */
enum {
  MAP_TERMS, /* f_01, f_02, f_10, f_11, f_12, f_20, f_21, f_22, f_30, f_31, f_40, each two reals */
  MAP_THRESHOLD = MAP_TERMS + 22 * NUMBER_WORDS,
  MAP_ENTRY = MAP_THRESHOLD + NUMBER_WORDS, /* an orbit comes back where |w|² is below it */
  MAP_PERIOD = MAP_ENTRY + NUMBER_WORDS,
  MAP_LAST,
  MAP_W_BITS,
  MAP_C_BITS,
  MAP_GROWTH = MAP_TERMS + 28 * NUMBER_WORDS, /* four reals, for bounds on errors: map_errors.cl */
  MAP_NODES = MAP_TERMS + 32 * NUMBER_WORDS, /* or bits of places */
  MAP_PLACES = MAP_NODES
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

static turn_map_constant turn_map_constant_of(global const uint *method, uint offset, const orbit_constant *c) {
  turn_map_constant terms = {number_zero(), number_zero(), number_zero()};
  if (!offset) return terms;
  global const uint *map = method + offset;
  const scaled by = {c->c.z, c->c.e + (int_lanes)((int)map[MAP_C_BITS])};
  const number_complex at = scaled_plain(by);
  terms.b = scaled_product(at, map_plus(map_term(map, 0), at, map_term(map, 1)));
  terms.e = scaled_product(at, map_plus(map_term(map, 3), at, map_term(map, 4)));
  terms.q = scaled_product(at, map_plus(map_term(map, 6), at, map_term(map, 7)));
  return terms;
}

/* f_10, f_20, f_30 and f_40. */
typedef struct {
  number_complex f1, f2, f3, f4;
} map_terms;

static map_terms map_terms_of(global const uint *map) {
  const map_terms terms = {map_term(map, 2), map_term(map, 5), map_term(map, 8), map_term(map, 10)};
  return terms;
}

/* Where a step leads that begins at W + z, less F(W) for the reference's c, with d = z·(2W + z). With T = W² it is
 *     b + T·(e + T·q) + d·(A1 + e + d·(A2 + d·(A3 + d·f4)))
 *     A1 = f1 + 2·f2·T + 3·f3·T² + 4·f4·T³,  A2 = f2 + 3·f3·T + 6·f4·T²,  A3 = f3 + 4·f4·T
 * where b, e and q are what c adds to f0, f1 and f2; *slope is its derivative by d. */
INLINED number_complex map_step(map_terms f, const turn_map_constant *c, number_complex at, number_complex d,
                                number_complex *slope) {
  const number_complex t = scaled_product(at, at);
  const number_complex three = map_times(f.f3, (number_real)(3)), four = map_times(f.f4, (number_real)(4));
  const number_complex a3 = map_plus(f.f3, t, four);
  const number_complex a2 = map_plus(f.f2, t, map_plus(three, t, map_times(f.f4, (number_real)(6))));
  const number_complex bent = map_plus(map_times(f.f2, (number_real)(2)), t, map_plus(three, t, four));
  number_complex a1 = map_plus(f.f1, t, bent);
  a1.re += c->e.re;
  a1.im += c->e.im;
  const number_complex by_d = map_plus(a1, d, map_plus(a2, d, map_plus(a3, d, f.f4)));
  const number_complex free = map_plus(c->b, t, map_plus(c->e, t, c->q));
  const number_complex bend = map_plus(map_times(a2, (number_real)(2)), d, map_times(a3, (number_real)(3)));
  *slope = map_plus(a1, d, bend);
  return map_plus(free, d, by_d);
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
