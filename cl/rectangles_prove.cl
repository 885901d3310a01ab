/* Proof that all pixels of a rectangle have one count, in the job's own arithmetic, for formulas that bound how orbits
 * spread; docs/decisions/0008-border.md argues it. For others, and where a method has points of its own, nothing is
 * proved.
 *
 * Let c run through the pixels, c0 be the one in the middle, w its orbit, and r bound |c − c0|. Then every z of step k
 * is w + s·(c − c0)/r + e with |e| ≤ error, where for z² + c
 *     s ← 2ws + r,   error ← 2|w|·error + (|s| + error)² + rounding + relative·(2|w||s| + r)
 * and in general 2w is the formula's derivative, and the square what a change makes beyond that. `rounding` bounds what
 * that does to a step and to c, in both orbits: it is unit·(|z|² + |c|) + step_error, with the formula's power. Of a
 * Julia set the pixel is z at the start: s is r there, nothing is added to s later, and error is what rounding does to
 * a point, at most as much as to c. s and error are of the type in which an orbit goes on to the smooth radius: it may
 * be narrower than w, off by `far_error`. */

/* Rounding in the bounds themselves: each sum and product of positive terms is enlarged by this much, and |w| by a
 * little more, since |w| near 0 is not known so well. */
#define PROVE_MORE 1.000002f
#define PROVE_TINY 1e-6f

/* The bounds that the host has worked out for the job. */
typedef struct { float pitch, unit, step_error, relative, far_error, within, beyond; } prove_bounds;

#if FORMULA_BOUNDS_SPREAD && METHOD_PROVES
typedef struct {
  number_far w, s;
  number_far_real error;
} prove_model;

/* An upper bound of |z|, nearly sharp. */
static number_far_real prove_size(number_far z) {
  return sqrt(z.re * z.re + z.im * z.im) * PROVE_MORE + PROVE_TINY;
}

/* An upper bound of |z|, never too small by underflow. */
static number_far_real prove_reach(number_far z) {
  const number_far_real re = fabs(z.re), im = fabs(z.im);
  return (fmax(re, im) + 0.4143f * fmin(re, im)) * PROVE_MORE;
}

/* One step of s and error; w is the orbit's place before it. `far` bounds |c|. */
static prove_model prove_step(prove_model model, number_far_real r, number_far_real far, const prove_bounds *bounds) {
  const number_far_real size = prove_size(model.w), reach = prove_reach(model.s), both = reach + model.error;
  const number_far_real slope = formula_slope(size);
  const number_far_real rounding = (formula_power(size + both) + far) * bounds->unit + bounds->step_error;
  prove_model next = model;
  const number_far move = {r, (number_far_real)(0)};
  next.s = formula_tangent(model.w, model.s, move);
  next.error = (slope * model.error + formula_remainder(size, both) + bounds->relative * (slope * reach + r) +
                rounding) *
               PROVE_MORE;
  return next;
}

/* Whether all that a model holds lies in an earlier one, point of c by point of c: then it goes round there for ever.
 * */
static int_lanes prove_returned(prove_model earlier, prove_model model, float far_error) {
  const number_far w = {model.w.re - earlier.w.re, model.w.im - earlier.w.im};
  const number_far s = {model.s.re - earlier.s.re, model.s.im - earlier.s.im};
  const number_far_real moved = (prove_reach(w) + prove_reach(s) + model.error + far_error) * PROVE_MORE;
  return lanes_mask(moved <= earlier.error);
}

/* The model of the start of all pixels around a point, at most r away. */
static prove_model prove_start(number_complex point, number_far_real r, const prove_bounds *bounds) {
  const number_far move = {r, (number_far_real)(0)};
  prove_model model = {number_far_from(formula_start(point)), formula_tangent_start(move), (number_far_real)(0)};
#if !FORMULA_BEGINS_INSIDE
  model.error = ((prove_size(model.w) + r) * bounds->unit + bounds->step_error) * PROVE_MORE;
#endif
  return model;
}

/* Where all that a model of step k holds is outside, set that count in the lanes that run; go on where it is inside. */
static void prove_test(prove_model model, uint k, const prove_bounds *bounds, count_lanes *count, int_lanes *running) {
  const number_far_real size = prove_size(model.w), around = prove_reach(model.s) + model.error;
  const int_lanes all_within = lanes_mask((size + around) * PROVE_MORE <= bounds->within);
  const int_lanes all_beyond = lanes_mask(size >= (around + bounds->beyond) * PROVE_MORE);
  *count = counts_select(*count, (count_lanes)(k), *running & all_beyond);
  *running &= all_within;
}

/* The count that all pixels around a point at most r away are proved to have, or mixed; at most `limit` steps are made.
 */
static count_lanes prove_count(number_complex point, number_far_real r, global const uint *parameters,
                              const prove_bounds *bounds, uint limit,
                               count_scalar max_iterations) {
  const number_complex c = formula_constant(point, parameters);
  const number_far_real far = (prove_size(number_far_from(c)) + r) * PROVE_MORE;
  int_lanes running = (int_lanes)(-1);
  number_complex w = formula_start(point);
  prove_model model = prove_start(point, r, bounds), mark = model;
  count_lanes count = (count_lanes)(COUNT_NONE);
#if !FORMULA_BEGINS_INSIDE
  if (limit == 0) return count;
  prove_test(model, 0, bounds, &count, &running);
#endif
  if (max_iterations == 1) return counts_select(count, (count_lanes)(1), running);
  for (uint k = 1; k <= limit && k < max_iterations && lanes_any(running); k++) {
    model = prove_step(model, r, far, bounds);
    w = formula_step(w, c, 0);
    model.w = number_far_from(w);
    prove_test(model, k, bounds, &count, &running);
    int_lanes inside = (int_lanes)(k + 1 == max_iterations ? -1 : 0);
    if (k & (k - 1)) inside |= prove_returned(mark, model, bounds->far_error);
    count = counts_select(count, (count_lanes)(max_iterations), running & inside);
    running &= ~inside;
    if ((k & (k - 1)) == 0) {
      model.error = model.error + model.error; /* a larger model holds too, and what it shrinks to fits into it */
      mark = model;
    }
  }
  return count;
}
#else
static count_lanes prove_count(number_complex point, number_far_real r, global const uint *parameters,
                              const prove_bounds *bounds, uint limit,
                               count_scalar max_iterations) {
  return (count_lanes)(COUNT_NONE);
}
#endif

/* Make the children of rectangles, and prove of those that can be proved which count they have; `proved` is mixed for
 * the rest. A lane a child. `ids` are the rectangles in `parents` that are divided, listed[level] of them (see
 * rectangles_listed); `most` is the number of children if all of them are. `bound_words` are those of prove_bounds.
 * With `components`, a number of steps, a rectangle that lies in a component of the set as computed passes for proved,
 * where the formula knows components. With `inside_only` only insides are proved. */
KERNEL void rectangles_divide(global const uint *view_words, int2 offset, global const uint *bound_words, uint limit,
                              uint components, uint inside_only, ulong max_iterations, global const uint *parents,
                              global const uint *ids, uint2 parts,
                              uint most, global const uint *listed, uint level, global uint *children,
                              global count_scalar *proved) {
  const uint total = rectangles_listed(listed, level, parts.x * parts.y, most);
  if ((uint)get_global_id(0) * LANES >= total) return;
  const advance_view view = advance_load_view(view_words, view_words, max_iterations);
  global const float *bound = (global const float *)bound_words;
  const prove_bounds bounds = {bound[0], bound[1], bound[2], bound[3], bound[4], bound[5], bound[6]};
  uint columns[LANES], rows[LANES];
  count_scalar counts[LANES];
  float distances[LANES];
  for (uint l = 0; l < LANES; l++) {
    const uint number = min((uint)get_global_id(0) * LANES + l, total - 1), each = parts.x * parts.y;
    const rectangle r = rectangles_child(rectangles_load(parents, ids[number / each]), number % each, parts);
    rectangles_store(children, number, r);
    columns[l] = r.x0 + (r.x1 - r.x0) / 2;
    rows[l] = r.y0 + (r.y1 - r.y0) / 2;
    const float wide = (float)(r.x1 - columns[l]), high = (float)(r.y1 - rows[l]);
    distances[l] = sqrt(wide * wide + high * high) * bounds.pitch * PROVE_MORE;
  }
  const float_lanes distance = lanes_load(distances);
  const number_complex c = orbits_point(lanes_load(columns), lanes_load(rows), offset, &view);
  count_lanes count = prove_count(c, number_far_real_from(distance), view.parameters, &bounds, limit,
                                  view.max_iterations);
#if FORMULA_KNOWS_COMPONENTS && METHOD_PROVES
  const int_lanes near = lanes_mask(formula_component_radius(number_far_from(c), components,
                                                             bounds.unit) >= number_far_real_from(distance));
  const int_lanes open = lanes_mask(count == (count_lanes)(COUNT_NONE)) & (int_lanes)(components ? -1 : 0);
  count = counts_select(count, (count_lanes)(view.max_iterations), near & open);
#endif
  lanes_store(count, counts);
  for (uint l = 0; l < LANES; l++) {
    const uint number = (uint)get_global_id(0) * LANES + l;
    if (number < total) proved[number] = inside_only && counts[l] != view.max_iterations ? COUNT_NONE : counts[l];
  }
}
