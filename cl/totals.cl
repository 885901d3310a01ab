/* The totals of a block's results: the sum of its counts, how many of them are the iteration limit, how many are
 * certified.
 *
 * A work-group takes `each` pixels, one after the other, and leaves numbers of 64 bits, the sum of each word of its
 * counts first, which the host adds to those of the others: not every device has atomic operations on so many bits.
 * `certified` is the word of a pixel that says whether its count is, 0 where none does.
 *
 * GROUP  work-items of a work-group, a power of two */
#ifndef GROUP
#error "GROUP is not defined"
#endif

kernel void totals(global const uint *results, uint pixels, ulong max_iterations, uint certified, uint each,
                   global ulong *sums) {
  const uint first = get_group_id(0) * each, last = min(first + each, pixels), item = get_local_id(0);
  ulong words[COUNT_WORDS] = {0};
  uint inside = 0, proved = 0;
  for (uint pixel = first + item; pixel < last; pixel += GROUP) {
    for (uint w = 0; w < COUNT_WORDS; w++) words[w] += results[w * (size_t)pixels + pixel];
    inside += count_read(results, pixel, pixels) == max_iterations;
  }
  if (certified) {
    global const uint *flags = results + certified * (size_t)pixels;
    for (uint pixel = first + item; pixel < last; pixel += GROUP) proved += flags[pixel] != 0;
  }
#if GROUP > 1
  local ulong sum[COUNT_WORDS * GROUP];
  local uint2 number[GROUP];
  for (uint w = 0; w < COUNT_WORDS; w++) sum[w * GROUP + item] = words[w];
  number[item] = (uint2)(inside, proved);
  for (uint apart = GROUP / 2; apart; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < apart) {
      for (uint w = 0; w < COUNT_WORDS; w++) sum[w * GROUP + item] += sum[w * GROUP + item + apart];
      number[item] += number[item + apart];
    }
  }
  if (item == 0) {
    for (uint w = 0; w < COUNT_WORDS; w++) words[w] = sum[w * GROUP];
    inside = number[0].x;
    proved = number[0].y;
  }
#endif
  if (item == 0) {
    global ulong *own = sums + (COUNT_WORDS + 2) * get_group_id(0);
    for (uint w = 0; w < COUNT_WORDS; w++) own[w] = words[w];
    own[COUNT_WORDS] = inside;
    own[COUNT_WORDS + 1] = proved;
  }
}
