/* The totals of a block's results: the sum of its counts, how many of them are the iteration limit, how many are
 * certified.
 *
 * A work-group takes `each` pixels, one after the other, and leaves three numbers of 64 bits, which the host adds to
 * those of the others: not every device has atomic operations on so many bits. `certified` is the word of a pixel
 * that says whether its count is, 0 where none does.
 *
 * GROUP  work-items of a work-group, a power of two */
#ifndef GROUP
#error "GROUP is not defined"
#endif

kernel void totals(global const uint *results, uint pixels, uint max_iterations, uint certified, uint each,
                   global ulong *sums) {
  const uint first = get_group_id(0) * each, last = min(first + each, pixels), item = get_local_id(0);
  ulong iterations = 0;
  uint inside = 0, proved = 0;
  for (uint pixel = first + item; pixel < last; pixel += GROUP) {
    const uint count = results[pixel];
    iterations += count;
    inside += count == max_iterations;
  }
  if (certified) {
    global const uint *words = results + certified * (size_t)pixels;
    for (uint pixel = first + item; pixel < last; pixel += GROUP) proved += words[pixel] != 0;
  }
#if GROUP > 1
  local ulong sum[GROUP];
  local uint2 number[GROUP];
  sum[item] = iterations;
  number[item] = (uint2)(inside, proved);
  for (uint apart = GROUP / 2; apart; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < apart) {
      sum[item] += sum[item + apart];
      number[item] += number[item + apart];
    }
  }
  if (item == 0) {
    iterations = sum[0];
    inside = number[0].x;
    proved = number[0].y;
  }
#endif
  if (item == 0) {
    global ulong *own = sums + 3 * get_group_id(0);
    own[0] = iterations;
    own[1] = inside;
    own[2] = proved;
  }
}
