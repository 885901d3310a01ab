/* Proof that all pixels inside a rectangle have one count, in the job's own arithmetic; docs/decisions/0008-border.md argues it.
 *
 * Let c run through the pixels, c0 be the one in the middle, w its orbit, and r bound |c − c0|. Then every z of step k
 * is w + s·(c − c0)/r + e with |e| ≤ error, where
 *     s ← 2ws + r,   error ← 2|w|·error + (|s| + error)² + step_error + relative·(2|w||s| + r)
 * and `step_error` bounds what rounding does to a step and to c, in both orbits. s and error are of the type in which
 * an orbit goes on to the smooth radius: it may be narrower than w, off from it by `far_error`. */

/* Rounding in the bounds themselves: each sum and product of positive terms is enlarged by this much, and |w| by a
 * little more, since |w| near 0 is not known so well. */
#define PROVE_MORE 1.000002f
#define PROVE_TINY 1e-6f

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

/* One step of s and error; w is the orbit's place before it. */
static prove_model prove_step(prove_model model, number_far_real r, float step_error, float relative) {
  const number_far_real size = prove_size(model.w), reach = prove_reach(model.s), both = reach + model.error;
  prove_model next = model;
  next.s.re = 2 * (model.w.re * model.s.re - model.w.im * model.s.im) + r;
  next.s.im = 2 * (model.w.re * model.s.im + model.w.im * model.s.re);
  next.error = (2 * size * model.error + both * both + relative * (2 * size * reach + r) + step_error) * PROVE_MORE;
  return next;
}

/* Whether all that a model holds lies in an earlier one, point of c by point of c: then it goes round there for ever. */
static int_lanes prove_returned(prove_model earlier, prove_model model, float far_error) {
  const number_far w = {model.w.re - earlier.w.re, model.w.im - earlier.w.im};
  const number_far s = {model.s.re - earlier.s.re, model.s.im - earlier.s.im};
  const number_far_real moved = (prove_reach(w) + prove_reach(s) + model.error + far_error) * PROVE_MORE;
  return lanes_mask(moved <= earlier.error);
}

/* Make the rectangles mixed again whose count is not proved: insides and, with `outside_too`, the rest.
 *
 * A lane a rectangle. `within` and `beyond` are radii a little below and above the escape radius; `limit` bounds the steps. */
kernel void rectangles_prove(global const uint *view_words, int2 offset, float pitch, float step_error, float relative,
                             float far_error, float within, float beyond, uint limit, uint outside_too, uint cap,
                             global const uint *rectangles, uint total, global uint *answers) {
  const advance_view view = advance_load_view(view_words);
  uint columns[LANES], rows[LANES], counts[LANES];
  int asked[LANES], held[LANES];
  float distances[LANES];
  for (uint l = 0; l < LANES; l++) {
    const uint number = min((uint)get_global_id(0) * LANES + l, total - 1);
    const rectangle r = rectangles_load(rectangles, number);
    columns[l] = r.x0 + (r.x1 - r.x0) / 2;
    rows[l] = r.y0 + (r.y1 - r.y0) / 2;
    const float wide = (float)(r.x1 - columns[l] - 1), tall = (float)(r.y1 - rows[l] - 1); /* to the last one inside */
    distances[l] = sqrt(wide * wide + tall * tall) * pitch * PROVE_MORE;
    counts[l] = answers[number];
    asked[l] = counts[l] != RECTANGLES_MIXED && (outside_too || counts[l] == cap) ? -1 : 0;
  }
  const uint_lanes count = lanes_load(counts);
  const int_lanes inside = lanes_mask(count == (uint_lanes)(cap));
  const float_lanes distance = lanes_load(distances);
  const number_far_real r = number_far_real_from(distance);
  const number_complex c = source_point(lanes_load(columns), lanes_load(rows), offset, &view);
  number_complex w = formula_start(c);
  prove_model model = {number_far_from(w), {(number_far_real)(0), (number_far_real)(0)}, (number_far_real)(0)}, mark = model;
  int_lanes running = lanes_load(asked), proved = cap == 1 ? running : (int_lanes)(0);
  running &= ~proved;
  for (uint k = 1; k <= limit && lanes_any(running); k++) {
    model = prove_step(model, r, step_error, relative);
    w = formula_step(w, c);
    model.w = number_far_from(w);
    const number_far_real size = prove_size(model.w), around = prove_reach(model.s) + model.error;
    const int_lanes all_within = lanes_mask((size + around) * PROVE_MORE <= within);
    const int_lanes all_beyond = lanes_mask(size >= (beyond + around) * PROVE_MORE);
    const int_lanes last = lanes_mask(count == (uint_lanes)(k)) & ~inside;
    proved |= running & last & all_beyond;
    running &= ~last & all_within;
    int_lanes settled = (int_lanes)(k + 1 >= cap ? -1 : 0);
    if (k & (k - 1)) settled |= prove_returned(mark, model, far_error);
    proved |= running & inside & settled;
    running &= ~proved;
    if ((k & (k - 1)) == 0) {
      model.error = model.error + model.error; /* a larger model holds too, and what it shrinks to fits into it */
      mark = model;
    }
  }
  lanes_store(proved, held);
  for (uint l = 0; l < LANES; l++) {
    const uint number = (uint)get_global_id(0) * LANES + l;
    if (number < total && asked[l] && !held[l]) answers[number] = RECTANGLES_MIXED;
  }
}
