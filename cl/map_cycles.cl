/* Which orbits a cycle of a return map attracts. Behind return_map.cl.
 *
 * Near 0, F is quadratic-like with one critical point, 0 (A. Douady, J. Hubbard, Ann. Sci. ÉNS 18, 1985): it maps the
 * disc of radius 4/|f1| two to one beyond itself, which map_growth.py asks of a map. So a cycle in the disc with a
 * multiplier below 1 attracts the orbit of 0, which then never escapes, even if it comes near to the cycle only after
 * millions of steps. Cycles of one and two points, to which most of the inside belongs, are those of f1·w² + f0 but for
 * little, so they are known before the first step: Newton's method finds them, and bounds on what is rounded say
 * whether there is one that attracts. */

#define CYCLE_ROUNDS 5 /* of Newton's method */
#define CYCLE_BENT 3   /* the second derivative of F is below this times |f1| in the disc */

/* F for one c: its value at 0, its terms in t = w², |f1|, and what a step is off by for w times |f1|. */
typedef struct {
  number_complex at_0, f1, f2, f3, f4;
  number_real size, unit;
} cycle_map;

static number_real cycle_size(number_complex z) {
  return sqrt(scaled_norm(z));
}

static number_complex cycle_quotient(number_complex a, number_complex b) {
  const number_complex mirrored = {b.re, -b.im};
  return map_times(scaled_product(a, mirrored), (number_real)(1) / scaled_norm(b));
}

/* The root whose real part is not negative. */
static number_complex cycle_root(number_complex z) {
  const number_real none = (number_real)(0), size = cycle_size(z);
  const number_real large = sqrt((size + fabs(z.re)) * (number_real)(0.5f)), small = fabs(z.im) / (large + large);
  const int_lanes right = lanes_mask(z.re >= none), nothing = lanes_mask(large == none);
  const number_real im = copysign(scaled_choose(large, small, right), z.im);
  const number_complex root = {scaled_choose(small, large, right), im};
  return number_keep(root, number_zero(), nothing);
}

static cycle_map cycle_map_of(number_complex first, const turn_map_constant *c, number_real unit,
                              global const uint *words) {
  const number_complex f1 = map_term(words, 2), f2 = map_term(words, 5);
  cycle_map map = {{first.re + c->b.re, first.im + c->b.im}, {f1.re + c->e.re, f1.im + c->e.im},
                   {f2.re + c->q.re, f2.im + c->q.im}, map_term(words, 8), map_term(words, 10), (number_real)(0), unit};
  map.size = cycle_size(map.f1);
  return map;
}

/* F at w. */
static number_complex cycle_next(const cycle_map *map, number_complex w) {
  const number_complex t = scaled_product(w, w), rest = map_plus(map->f2, t, map_plus(map->f3, t, map->f4));
  return map_plus(map->at_0, t, map_plus(map->f1, t, rest));
}

/* Its derivative there. */
static number_complex cycle_slope(const cycle_map *map, number_complex w) {
  const number_complex t = scaled_product(w, w), three = map_times(map->f3, (number_real)(3));
  const number_complex bent = map_plus(map_times(map->f2, (number_real)(2)), t,
                                       map_plus(three, t, map_times(map->f4, (number_real)(4))));
  const number_complex twice = {w.re + w.re, w.im + w.im};
  return scaled_product(twice, map_plus(map->f1, t, bent));
}

/* Mask of the lanes for which a cycle of so many points, one of them near a point, attracts.
 *
 * Where G takes w to itself but for r, |G'| is m, and |G''| is below s, a fixed point is within 2·r/|1 − G'| of w, if
 * 2·s·r ≤ |1 − G'|² (L. Kantorovich). There |G'| is at most s times that more than m. */
static int_lanes cycle_attracts(const cycle_map *map, number_complex near, uint points) {
  const number_real one = (number_real)(1), none = (number_real)(0), bent = map->size * (number_real)(CYCLE_BENT);
  const number_real unit = map->unit;
  number_complex w = near, off = number_zero(), left = number_zero();
  number_real m = none, s = none, r = none, m_off = none;
  ROLLED for (uint round = 0; round <= CYCLE_ROUNDS; round++) {
    number_complex at = w, product = {one, none};
    s = r = m_off = none;
    for (uint point = 0; point < points; point++) {
      const number_complex slope = cycle_slope(map, at);
      const number_real by = cycle_size(slope), before = cycle_size(product);
      m_off = fma(by, m_off, before * fma(bent, r, unit));
      s = fma(by, s, bent * (before * before));
      r = fma(by, r, unit / map->size);
      product = scaled_product(product, slope);
      at = cycle_next(map, at);
    }
    off.re = at.re - w.re;
    off.im = at.im - w.im;
    left.re = one - product.re;
    left.im = -product.im;
    m = cycle_size(product);
    if (round == CYCLE_ROUNDS) break;
    const number_complex step = cycle_quotient(off, left);
    w.re += step.re;
    w.im += step.im;
  }
  const number_real room = cycle_size(left) - m_off, reach = (number_real)(2) * (cycle_size(off) + r) / room;
  const number_real more = fma((number_real)(2) * s, reach, m_off);
  const int_lanes there = lanes_mask(cycle_size(w) * map->size < (number_real)(1.5f)) & lanes_mask(room > none);
  return there & lanes_mask((number_real)(2) * (s * reach) < room) & lanes_mask(m + more < one);
}

/* Mask of the lanes whose orbits begin at 0 in a map and tend to a cycle of one or two points; `first` is where the map
 * takes 0 for the reference's c. */
static int_lanes cycles_known(global const uint *words, number_complex first, const turn_map_constant *c,
                              const orbit_constant *own, const orbit_state *state) {
  const number_real one = (number_real)(1);
  map_errors errors;
  map_errors_begin(&errors, state, own, c, words);
  const cycle_map map = cycle_map_of(first, c, map_errors_of_cycle(&errors), words);
  const number_complex four = map_times(scaled_product(map.f1, map.at_0), (number_real)(4));
  const number_complex of_one = {one - four.re, -four.im}, of_two = {-four.re - (number_real)(3), -four.im};
  const number_complex root = cycle_root(of_one), other = cycle_root(of_two);
  const number_complex twice = {map.f1.re + map.f1.re, map.f1.im + map.f1.im};
  const number_complex to_one = {one - root.re, -root.im}, to_two = {other.re - one, other.im};
  return cycle_attracts(&map, cycle_quotient(to_one, twice), 1) |
         cycle_attracts(&map, cycle_quotient(to_two, twice), 2);
}
