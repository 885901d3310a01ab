/* Rectangles of a block: which pixels lie on the lines that divide one, whether a border is of one count, filling.
 * No orbits here. A rectangle is four words, x0, y0, x1, y1, its edges included. Neighbours share their edges. */

typedef struct { uint x0, y0, x1, y1; } rectangle;

static rectangle rectangles_load(global const uint *words, uint number) {
  rectangle r = {words[4 * number], words[4 * number + 1], words[4 * number + 2], words[4 * number + 3]};
  return r;
}

static void rectangles_store(global uint *words, uint number, rectangle r) {
  words[4 * number] = r.x0;
  words[4 * number + 1] = r.y0;
  words[4 * number + 2] = r.x1;
  words[4 * number + 3] = r.y1;
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

/* How many places there are, `each` for each rectangle that is listed, at most `most`.
 *
 * listed[level] is how many rectangles a level works on. Where the host knows it, that is UINT_MAX and `most` is the
 * number. */
static uint rectangles_listed(global const uint *listed, uint level, uint each, uint most) {
  const uint rectangles = listed[level];
  return rectangles <= most / each ? rectangles * each : most;
}

/* The pixel of slot `slot` on the lines that divide a rectangle; false where the slot has none.
 *
 * First come the upright lines, `most.y` slots each, then the level ones, cut by the upright ones into pieces of
 * `most.x` slots. With `outer` the rectangle's own edges are among the lines. */
static bool rectangles_dividing(rectangle r, uint slot, uint2 parts, uint2 most, uint outer, uint *x, uint *y) {
  const uint upright = (parts.x + 2 * outer - 1) * most.y;
  if (slot < upright) {
    *x = rectangles_line(r.x0, r.x1, slot / most.y + 1 - outer, parts.x);
    *y = r.y0 + 1 - outer + slot % most.y;
    return *y < r.y1 + outer;
  }
  const uint piece = (slot - upright) / most.x, column = piece % parts.x;
  *x = rectangles_line(r.x0, r.x1, column, parts.x) + 1 + (slot - upright) % most.x;
  *y = rectangles_line(r.y0, r.y1, piece / parts.x + 1 - outer, parts.y);
  return *x < rectangles_line(r.x0, r.x1, column + 1, parts.x);
}

/* The pixel of slot `slot` inside a rectangle, `most` columns and rows at most. */
static bool rectangles_inside(rectangle r, uint slot, uint2 most, uint *x, uint *y) {
  *x = r.x0 + 1 + slot % most.x;
  *y = r.y0 + 1 + slot / most.x;
  return *x < r.x1 && *y < r.y1;
}

/* The count that a pixel on the lines that divide a rectangle is proved to have, as one of the up to four children
 * that share it; else mixed. `proved` begins with the rectangle's own children. */
static count_scalar rectangles_covered(rectangle r, uint column, uint row, uint2 parts,
                                       global const count_scalar *proved) {
  const uint to_x = column - r.x0, to_y = row - r.y0, span_x = r.x1 - r.x0, span_y = r.y1 - r.y0;
  /* The last child that begins there or before; the one before it ends there if it begins there. */
  const uint last_x = min(((to_x + 1) * parts.x - 1) / span_x, parts.x - 1);
  const uint last_y = min(((to_y + 1) * parts.y - 1) / span_y, parts.y - 1);
  const uint first_x = last_x - (last_x > 0 && span_x * last_x / parts.x == to_x ? 1 : 0);
  const uint first_y = last_y - (last_y > 0 && span_y * last_y / parts.y == to_y ? 1 : 0);
  count_scalar count = COUNT_NONE;
  for (uint y = first_y; y <= last_y; y++) {
    for (uint x = first_x; x <= last_x; x++) count = min(count, proved[y * parts.x + x]);
  }
  return count;
}

/* How many pixels of the dividing lines were computed, those to the right of and below a child and, at the edges of
 * an `outer` division, to the left and above: those that no proof covers. The child itself is not proved. */
static uint rectangles_computed(rectangle child, uint number, uint2 parts, uint outer,
                                global const count_scalar *proved) {
  const uint x = number % parts.x, y = number / parts.x;
  const bool right = x + 1 < parts.x, below = y + 1 < parts.y;
  const bool open_right = right ? proved[number + 1] == COUNT_NONE : outer != 0;
  const bool open_below = below ? proved[number + parts.x] == COUNT_NONE : outer != 0;
  const bool open_across = right && below ? proved[number + parts.x + 1] == COUNT_NONE : true;
  const uint wide = child.x1 - child.x0 - 1, high = child.y1 - child.y0 - 1;
  uint computed = (open_right ? high : 0) + (open_below ? wide : 0) + (open_right && open_below && open_across ? 1 : 0);
  if (outer && x == 0) computed += high + (open_below ? 1 : 0);
  if (outer && y == 0) computed += wide + (open_right ? 1 : 0);
  return computed + (outer && x == 0 && y == 0 ? 1 : 0);
}

/* Whether all pixels from one on, `step` apart, have a count; the work-items of a work-group share the work. */
static bool rectangles_run_is(global const uint *results, size_t pixels, size_t first, size_t step, uint total,
                              count_scalar count) {
  bool same = true;
  for (uint k = get_local_id(0); k < total; k += get_local_size(0))
    same &= count_read(results, first + k * step, pixels) == count;
  return same;
}

static bool rectangles_border_is(rectangle r, global const uint *results, size_t pixels, uint width,
                                 count_scalar count) {
  const uint wide = r.x1 - r.x0 + 1, high = r.y1 - r.y0 + 1;
  const size_t corner = (size_t)r.y0 * width + r.x0;
  return rectangles_run_is(results, pixels, corner, 1, wide, count) &&
         rectangles_run_is(results, pixels, corner + (size_t)(high - 1) * width, 1, wide, count) &&
         rectangles_run_is(results, pixels, corner, width, high, count) &&
         rectangles_run_is(results, pixels, corner + (wide - 1), width, high, count);
}

/* Say of each child which count it has, or that it is mixed, and add up the pixels computed for it. A work-group a
 * child.
 *
 * What is proved is proved. Else, a border of one count will do: with `trust_outside`, of children of at least so many
 * pixels a side, if the count is below `connected` and the child does not hold `origin` (the point 0, around which the
 * whole set may lie); and with `trust_inside` if it is the iteration limit.
 * With `last` the insides of those that are mixed are going to be computed. */
kernel void rectangles_judge(global const uint *children, global const count_scalar *proved, uint2 parts, uint outer,
                             uint last, uint2 origin, uint trust_outside, uint trust_inside, ulong connected,
                             ulong max_iterations, global const uint *results, uint2 size, global const uint *listed,
                             uint level, global count_scalar *answers, global uint *computed) {
  const uint number = get_group_id(0), each = parts.x * parts.y;
  local uint differing;
  if (number / each >= listed[level]) return;
  if (proved[number] != COUNT_NONE) {
    if (get_local_id(0) == 0) answers[number] = proved[number];
    return;
  }
  const rectangle r = rectangles_load(children, number);
  const size_t pixels = (size_t)size.x * size.y;
  const count_scalar count = count_read(results, (size_t)r.y0 * size.x + r.x0, pixels);
  const bool holds_origin = r.x0 <= origin.x && origin.x <= r.x1 && r.y0 <= origin.y && origin.y <= r.y1;
  const bool trusted = count == max_iterations ? trust_inside != 0
                                    : trust_outside && !holds_origin && count < connected &&
                                          min(r.x1 - r.x0, r.y1 - r.y0) >= trust_outside;
  if (get_local_id(0) == 0) differing = trusted ? 0 : 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (trusted && !rectangles_border_is(r, results, pixels, size.x, count)) atomic_or(&differing, 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  answers[number] = differing ? COUNT_NONE : count;
  const uint inside = differing && last ? (r.x1 - r.x0 - 1) * (r.y1 - r.y0 - 1) : 0;
  atomic_add(computed, inside + rectangles_computed(r, number % each, parts, outer, proved + number / each * each));
}

/* Fill the rectangles that are of one count: with their edges where that is proved, else inside. A work-group a
 * rectangle; columns begin at a multiple of the work-group's width, so that rows are written in whole pieces of memory.
 * Where a pixel has more words than its count only insides are filled: `insides` are the values that all its words have
 * there. */
kernel void rectangles_fill(global const uint *rectangles, global const count_scalar *proved,
                            global const count_scalar *answers, global uint *results, uint2 size,
                            global const uint *insides, uint words, uint each, global const uint *listed, uint level) {
  const uint number = get_group_id(0);
  if (number / each >= listed[level]) return;
  const count_scalar count = answers[number];
  if (count == COUNT_NONE) return;
  const rectangle r = rectangles_load(rectangles, number);
  const uint edge = proved[number] != COUNT_NONE ? 0 : 1;
  const uint left = r.x0 + edge, right = r.x1 + 1 - edge, across = get_local_size(0);
  const size_t pixels = (size_t)size.x * size.y;
  for (uint y = r.y0 + edge + get_local_id(1); y < r.y1 + 1 - edge; y += get_local_size(1)) {
    for (uint x = left / across * across + get_local_id(0); x < right; x += across) {
      if (x < left) continue;
      const size_t place = (size_t)y * size.x + x;
      count_write(results, place, pixels, count);
      for (uint w = COUNT_WORDS; w < words; w++) results[w * pixels + place] = insides[w];
    }
  }
}

/* List the children that are mixed, in any order, for the next level; listed[level + 1] must be 0 before. An item a
 * child. */
kernel void rectangles_collect(global const count_scalar *answers, uint each, uint most, global uint *listed,
                               uint level, global uint *ids) {
  const uint number = get_global_id(0);
  if (number >= rectangles_listed(listed, level, each, most) || answers[number] != COUNT_NONE) return;
  ids[atomic_inc(listed + level + 1)] = number;
}
