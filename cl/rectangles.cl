/* Rectangles of a block: which pixels lie on the lines that divide one, whether a border is of one count, filling.
 * No orbits here. A rectangle is four words, x0, y0, x1, y1, its edges included. Neighbours share their edges.
 * Before a rectangle may be filled, its inside is looked at in `probes` × `probes` places. */

/* The answer of a rectangle that is not of one count. */
#define RECTANGLES_MIXED 0xffffffffu

typedef struct { uint x0, y0, x1, y1; } rectangle;

static rectangle rectangles_load(global const uint *words, uint number) {
  rectangle r = {words[4 * number], words[4 * number + 1], words[4 * number + 2], words[4 * number + 3]};
  return r;
}

/* Where line k of `parts` lies between two edges; lines 0 and `parts` are the edges. */
static uint rectangles_line(uint low, uint high, uint k, uint parts) {
  return low + (high - low) * k / parts;
}

/* Child `number`, row by row, of a rectangle divided into parts. */
static rectangle rectangles_child(rectangle r, uint number, uint2 parts) {
  const uint column = number % parts.x, row = number / parts.x;
  rectangle child = {rectangles_line(r.x0, r.x1, column, parts.x), rectangles_line(r.y0, r.y1, row, parts.y),
                     rectangles_line(r.x0, r.x1, column + 1, parts.x), rectangles_line(r.y0, r.y1, row + 1, parts.y)};
  return child;
}

/* One of the places inside a rectangle that are looked at; false where it is so thin that it has none there. */
static bool rectangles_probe(rectangle r, uint number, uint probes, uint2 *pixel) {
  pixel->x = rectangles_line(r.x0, r.x1, number % probes + 1, probes + 1);
  pixel->y = rectangles_line(r.y0, r.y1, number / probes + 1, probes + 1);
  return pixel->x > r.x0 && pixel->x < r.x1 && pixel->y > r.y0 && pixel->y < r.y1;
}

/* The pixel of slot `slot` among those that divide a rectangle; false where the slot has none.
 *
 * First come the upright lines, `most.y` slots each, then the level ones, cut by the upright ones into pieces of
 * `most.x` slots, then the children's probes. With `outer` the rectangle's own edges are among the lines. */
static bool rectangles_dividing(rectangle r, uint slot, uint2 parts, uint2 most, uint outer, uint probes,
                                uint2 *pixel) {
  const uint upright = (parts.x + 2 * outer - 1) * most.y, level = (parts.y + 2 * outer - 1) * parts.x * most.x;
  if (slot < upright) {
    pixel->x = rectangles_line(r.x0, r.x1, slot / most.y + 1 - outer, parts.x);
    pixel->y = r.y0 + 1 - outer + slot % most.y;
    return pixel->y < r.y1 + outer;
  }
  if (slot < upright + level) {
    const uint piece = (slot - upright) / most.x, column = piece % parts.x;
    pixel->x = rectangles_line(r.x0, r.x1, column, parts.x) + 1 + (slot - upright) % most.x;
    pixel->y = rectangles_line(r.y0, r.y1, piece / parts.x + 1 - outer, parts.y);
    return pixel->x < rectangles_line(r.x0, r.x1, column + 1, parts.x);
  }
  const uint probe = slot - upright - level, each = probes * probes;
  return rectangles_probe(rectangles_child(r, probe / each, parts), probe % each, probes, pixel);
}

/* The pixel of slot `slot` inside a rectangle, `most` columns and rows at most. */
static bool rectangles_inside(rectangle r, uint slot, uint2 most, uint2 *pixel) {
  pixel->x = r.x0 + 1 + slot % most.x;
  pixel->y = r.y0 + 1 + slot / most.x;
  return pixel->x < r.x1 && pixel->y < r.y1;
}

/* Whether all pixels from one on, `step` apart, have a count; the work-items of a group share the work. */
static bool rectangles_run_is(global const uint *counts, size_t first, size_t step, uint total, uint count) {
  bool same = true;
  for (uint k = get_local_id(0); k < total; k += get_local_size(0)) same &= counts[first + k * step] == count;
  return same;
}

/* Make the children of rectangles and say of each which count its border has, or that it is mixed.
 *
 * A work-group a child. `ids` are the rectangles in `parents` that were divided into `parts`. A child that holds the
 * pixel corner `origin` (c = 0) is mixed unless it is inside: it may hold the whole set. With `inside_only` only
 * insides are ever of one count. */
kernel void rectangles_judge(global const uint *parents, global const uint *ids, uint2 parts, uint2 origin,
                             uint inside_only, uint probes, uint cap, global const uint *counts, uint width, global uint *children,
                             global uint *answers) {
  const uint number = get_group_id(0), each = parts.x * parts.y;
  const rectangle r = rectangles_child(rectangles_load(parents, ids[number / each]), number % each, parts);
  const uint wide = r.x1 - r.x0 + 1, high = r.y1 - r.y0 + 1;
  const size_t corner = (size_t)r.y0 * width + r.x0;
  const uint count = counts[corner];
  local uint differing;
  if (get_local_id(0) == 0) differing = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool holds_origin = r.x0 <= origin.x && origin.x <= r.x1 && r.y0 <= origin.y && origin.y <= r.y1;
  bool same = count == cap || !(holds_origin || inside_only);
  same = same && rectangles_run_is(counts, corner, 1, wide, count) &&
         rectangles_run_is(counts, corner + (size_t)(high - 1) * width, 1, wide, count) &&
         rectangles_run_is(counts, corner, width, high, count) &&
         rectangles_run_is(counts, corner + (wide - 1), width, high, count);
  for (uint probe = get_local_id(0); same && probe < probes * probes; probe += get_local_size(0)) {
    uint2 pixel;
    if (rectangles_probe(r, probe, probes, &pixel)) same = counts[(size_t)pixel.y * width + pixel.x] == count;
  }
  if (!same) atomic_or(&differing, 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  children[4 * number] = r.x0;
  children[4 * number + 1] = r.y0;
  children[4 * number + 2] = r.x1;
  children[4 * number + 3] = r.y1;
  answers[number] = differing ? RECTANGLES_MIXED : count;
}

/* Fill the insides of the rectangles that are of one count, and add up their pixels. A work-group a rectangle;
 * columns begin at a multiple of the group's width, so that rows are written in whole pieces of memory. */
kernel void rectangles_fill(global const uint *rectangles, global const uint *answers, global uint *results, uint2 size,
                            uint planes, uint cap, global uint *filled) {
  const uint number = get_group_id(0);
  const uint count = answers[number];
  if (count == RECTANGLES_MIXED) return;
  const rectangle r = rectangles_load(rectangles, number);
  const uint across = get_local_size(0), first = (r.x0 + 1) / across * across + get_local_id(0);
  for (uint y = r.y0 + 1 + get_local_id(1); y < r.y1; y += get_local_size(1)) {
    for (uint x = first; x < r.x1; x += across) {
      if (x > r.x0) results[(size_t)y * size.x + x] = count;
    }
  }
  if (get_local_id(0) == 0 && get_local_id(1) == 0) atomic_add(filled, (r.x1 - r.x0 - 1) * (r.y1 - r.y0 - 1));
  if (planes == 1) return;
  /* With smooth colouring only insides come here: they left no radius at the cap, with no |z|². */
  const size_t pixels = (size_t)size.x * size.y;
  for (uint y = r.y0 + 1 + get_local_id(1); y < r.y1; y += get_local_size(1)) {
    for (uint x = first; x < r.x1; x += across) {
      if (x <= r.x0) continue;
      results[pixels + (size_t)y * size.x + x] = cap;
      results[2 * pixels + (size_t)y * size.x + x] = 0;
    }
  }
}
