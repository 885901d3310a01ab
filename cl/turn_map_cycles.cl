/* Which orbits a cycle of a return map attracts, known before their first step. With MAPS, behind turn_map.cl.
 *
 * Near 0, F is quadratic-like with one critical point, 0 (A. Douady, J. Hubbard, Ann. Sci. ÉNS 18, 1985): it maps the
 * disc of radius 4/|f1| two to one beyond itself, which map_growth.py asks of a map. So a cycle in the disc with a
 * multiplier below 1 attracts the orbit of 0, which then never escapes. Fixed points and cycles of two, to which most
 * of the inside belongs, are those of f1·w² + f0 but for little; Newton's method adds that. As doubles are off, a
 * multiplier must be below 1 by more than they may change it. */

#define CYCLE_STEPS 4        /* of Newton's method */
#define CYCLE_BENT 512       /* the second derivative of F, and of F twice, is below this times |f1| in the disc */
#define CYCLE_DOUBT 0x1p-36f /* (1 − |m|²)·|1 − m| is above this, for a multiplier m */

/* F for one c: its value at 0, its terms in t = w², and |f1|². */
typedef struct {
  number_complex at_0, f1, f2, f3, f4;
  number_real norm;
} map_of_point;

static number_complex cycle_quotient(number_complex a, number_complex b) {
  const number_complex mirrored = {b.re, -b.im};
  return map_times(scaled_product(a, mirrored), (number_real)(1) / scaled_norm(b));
}

/* The root whose real part is not negative. */
static number_complex cycle_root(number_complex z) {
  const number_real none = (number_real)(0), size = sqrt(scaled_norm(z));
  const number_real large = sqrt((size + fabs(z.re)) * (number_real)(0.5f)), small = fabs(z.im) / (large + large);
  const int_lanes right = lanes_mask(z.re >= none), nothing = lanes_mask(large == none);
  const number_real im = copysign(scaled_choose(large, small, right), z.im);
  const number_complex root = {scaled_choose(small, large, right), im};
  return number_keep(root, number_zero(), nothing);
}

/* F at w, and its derivative. */
static number_complex cycle_step(const map_of_point *map, number_complex w, number_complex *slope) {
  const number_complex t = scaled_product(w, w), three = map_times(map->f3, (number_real)(3));
  const number_complex bent = map_plus(map_times(map->f2, (number_real)(2)), t,
                                       map_plus(three, t, map_times(map->f4, (number_real)(4))));
  const number_complex twice = {w.re + w.re, w.im + w.im};
  *slope = scaled_product(twice, map_plus(map->f1, t, bent));
  const number_complex rest = map_plus(map->f2, t, map_plus(map->f3, t, map->f4));
  return map_plus(map->at_0, t, map_plus(map->f1, t, rest));
}

/* Mask of the lanes for which a cycle of so many points, one of them near w, attracts. */
static int_lanes cycle_attracts(const map_of_point *map, number_complex w, uint points) {
  const number_real one = (number_real)(1);
  number_complex ahead = w, product = number_zero(), step = number_zero();
  for (uint round = 0; round <= CYCLE_STEPS; round++) {
    if (round) {
      w.re += step.re;
      w.im += step.im;
    }
    ahead = cycle_step(map, w, &product);
    for (uint point = 1; point < points; point++) {
      number_complex slope;
      ahead = cycle_step(map, ahead, &slope);
      product = scaled_product(product, slope);
    }
    const number_complex off = {ahead.re - w.re, ahead.im - w.im}, left = {one - product.re, -product.im};
    step = cycle_quotient(off, left);
  }
  const number_complex left = {one - product.re, -product.im};
  const number_real below = one - scaled_norm(product), doubt = (number_real)(CYCLE_DOUBT);
  const number_real error = (number_real)(8 * CYCLE_BENT) * sqrt(scaled_norm(step) * map->norm);
  const int_lanes there = lanes_mask(scaled_norm(w) * map->norm < (number_real)(16)) & lanes_mask(error < below);
  return there & lanes_mask(below > (number_real)(0)) & lanes_mask(below * sqrt(scaled_norm(left)) > doubt);
}

/* Mask of the lanes whose orbits begin at 0 in the map and never leave it. */
static int_lanes turn_map_attracts(const turn_map_constant *c, const advance_view *view) {
  if (!view->method[METHOD_MAP]) return (int_lanes)(0);
  global const uint *words = map_words(view->method);
  const number_real one = (number_real)(1);
  const number_complex first = map_node(words, (uint_lanes)(1)), f1 = map_term(words, 2), f2 = map_term(words, 5);
  map_of_point map = {{first.re + c->b.re, first.im + c->b.im}, {f1.re + c->e.re, f1.im + c->e.im},
                      {f2.re + c->q.re, f2.im + c->q.im}, map_term(words, 8), map_term(words, 10), one};
  map.norm = scaled_norm(map.f1);
  const number_complex four = map_times(scaled_product(map.f1, map.at_0), (number_real)(4));
  const number_complex by_fixed = {one - four.re, -four.im}, by_two = {-four.re - (number_real)(3), -four.im};
  const number_complex fixed = cycle_root(by_fixed), two = cycle_root(by_two);
  const number_complex twice = {map.f1.re + map.f1.re, map.f1.im + map.f1.im};
  const number_complex to_fixed = {one - fixed.re, -fixed.im}, to_two = {two.re - one, two.im};
  return cycle_attracts(&map, cycle_quotient(to_fixed, twice), 1) |
         cycle_attracts(&map, cycle_quotient(to_two, twice), 2);
}
