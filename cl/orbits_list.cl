/* The pixels of a block that `pixels` names, `total` of them, row·width + column each, from their start. What belongs
 * to a pixel lies at its place in `pixels`: its results, `total` words a plane, and the index of its orbit if it
 * survives.
 *
 * Neighbours in a list have little in common, and a vector takes as long as the longest of its orbits. So where orbits
 * lie in vectors, a work-item takes many of them: all for ADVANCE_FIRST strides, then those that are left, packed
 * together, for three times as many as they have behind them, and so on. */
#define LIST_GROUP (VECTORS * LANES)

/* Put orbits into place v, of the places in the list that `index` has. */
static void list_place(advance_orbits *orbits, uint v, uint_lanes index, int_lanes exists, global const uint *pixels,
                       int2 offset, uint2 size, const advance_view *view) {
  const number_complex point = orbits_listed_point(index, pixels, offset, size, view);
  orbits_place(orbits, v, orbit_start(point), orbit_constant_of(point, view->parameters, view->method), index, exists);
}

#if LANES == 1
KERNEL void advance_list(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                         global const uint *pixels, uint total, uint strides, ulong max_iterations, uint limit_reached,
                         uint shortcuts, global uint *results, global uint *survivors, global uint *survivor_total,
                         uint capacity) {
  const advance_view view = advance_load_view(view_words, method_words, max_iterations);
  advance_orbits orbits;
  UNROLL for (uint v = 0; v < VECTORS; v++) {
    const uint slot = (uint)get_global_id(0) * VECTORS + v;
    list_place(&orbits, v, min(slot, total - 1), lanes_mask(slot < total), pixels, offset, size, &view);
  }
  advance_begin(&orbits, &view);
  advance_run(&orbits, 0, strides, shortcuts != 0, &view);
  orbits_finish(&orbits, max_iterations, limit_reached, results, total, 0, survivors, survivor_total, capacity);
}
#else
/* A work-item keeps so many orbits, in private memory of no more than LIST_WORDS words. */
#define LIST_WORDS 8192
#define LIST_FITTING (LIST_WORDS / (ORBIT_SAVED_WORDS + 1) / LIST_GROUP)
#define LIST_ORBITS (LIST_GROUP * (LIST_FITTING < 1 ? 1 : LIST_FITTING > 16 ? 16 : LIST_FITTING))

/* Keep the orbits that are alive behind the first `kept` ones, and return how many there are then. A row has the
 * indices, the others have the words of the states. */
static uint list_keep(const advance_orbits *orbits, uint saved[ORBIT_SAVED_WORDS + 1][LIST_ORBITS], uint kept) {
  ROLLED for (uint v = 0; v < VECTORS; v++) {
    if (!lanes_any(orbits->alive[v])) continue;
    uint_lanes words[ORBIT_SAVED_WORDS];
    uint word[ORBIT_SAVED_WORDS + 1][LANES];
    int alive[LANES];
    advance_pack(orbits, v, words);
    lanes_store(orbits->index[v], word[0]);
    for (uint w = 0; w < ORBIT_SAVED_WORDS; w++) lanes_store(words[w], word[w + 1]);
    lanes_store(orbits->alive[v], alive);
    for (uint l = 0; l < LANES; l++) {
      if (!alive[l]) continue;
      for (uint w = 0; w <= ORBIT_SAVED_WORDS; w++) saved[w][kept] = word[w][l];
      kept++;
    }
  }
  return kept;
}

/* Put those kept orbits into place v whose places among them `slot` has. */
static void list_take(advance_orbits *orbits, uint v, uint_lanes slot, int_lanes exists,
                      uint saved[ORBIT_SAVED_WORDS + 1][LIST_ORBITS], global const uint *pixels, int2 offset,
                      uint2 size, const advance_view *view) {
  uint slots[LANES], word[ORBIT_SAVED_WORDS + 1][LANES];
  lanes_store(slot, slots);
  for (uint w = 0; w <= ORBIT_SAVED_WORDS; w++) {
    for (uint l = 0; l < LANES; l++) word[w][l] = saved[w][slots[l]];
  }
  uint_lanes words[ORBIT_SAVED_WORDS];
  for (uint w = 0; w < ORBIT_SAVED_WORDS; w++) words[w] = lanes_load(word[w + 1]);
  const uint_lanes index = lanes_load(word[0]);
  const number_complex point = orbits_listed_point(index, pixels, offset, size, view);
  orbits_place(orbits, v, orbit_unpack(words), orbit_constant_of(point, view->parameters, view->method), index, exists);
  orbits_unpack_behind(orbits, v, words);
}

/* The strides of the next pass of orbits that have `done` of them behind. */
static uint list_strides(uint done, uint strides) {
  if (!done) return min((uint)(ADVANCE_FIRST), strides);
  return done > strides / 4 ? strides - done : 3 * done;
}

KERNEL void advance_list(global const uint *view_words, int2 offset, uint2 size, global const uint *method_words,
                         global const uint *pixels, uint total, uint strides, ulong max_iterations, uint limit_reached,
                         uint shortcuts, global uint *results, global uint *survivors, global uint *survivor_total,
                         uint capacity) {
  const advance_view view = advance_load_view(view_words, method_words, max_iterations);
  const uint_lanes lane = orbits_lane_numbers();
  const uint each = ((total - 1) / (uint)get_global_size(0) / LIST_GROUP + 1) * LIST_GROUP;
  const uint begin = min((uint)get_global_id(0) * each, total), end = min(begin + each, total);
  uint saved[ORBIT_SAVED_WORDS + 1][LIST_ORBITS];
  for (uint from = begin; from < end; from += LIST_ORBITS) {
    uint left = min(end - from, (uint)(LIST_ORBITS));
    for (uint done = 0; left;) {
      const uint now = list_strides(done, strides);
      const bool last = now == strides - done;
      uint kept = 0;
      for (uint first = 0; first < left; first += LIST_GROUP) {
        advance_orbits orbits;
        UNROLL for (uint v = 0; v < VECTORS; v++) {
          const uint_lanes slot = (uint_lanes)(first + v * LANES) + lane;
          const uint_lanes place = min(slot, (uint_lanes)(left - 1));
          const int_lanes exists = lanes_mask(slot < (uint_lanes)(left));
          if (done) {
            list_take(&orbits, v, place, exists, saved, pixels, offset, size, &view);
          } else {
            list_place(&orbits, v, place + (uint_lanes)(from), exists, pixels, offset, size, &view);
          }
        }
        if (!done) advance_begin(&orbits, &view);
        advance_run(&orbits, (count_scalar)(done) * STRIDE, now, shortcuts != 0, &view);
        if (last) {
          orbits_finish(&orbits, max_iterations, limit_reached, results, total, 0, survivors, survivor_total, capacity);
        } else {
          advance_write(&orbits, max_iterations, false, results, total, 0);
          kept = list_keep(&orbits, saved, kept);
        }
      }
      if (last) break;
      left = kept;
      done += now;
    }
  }
}
#endif
