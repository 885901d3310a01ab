/* Counts of 16 bits, of a block's results whose counts are the first word: the low half of each. An iteration limit
 * of at most 65534 leaves 65535 to what was not written. A work-item narrows four pixels. */
kernel void narrow(global const uint *results, uint pixels, global ushort *counts) {
  const uint first = 4 * get_global_id(0);
  if (first + 4 <= pixels)
    vstore4(convert_ushort4(vload4(0, results + first)), 0, counts + first);
  else
    for (uint pixel = first; pixel < pixels; pixel++) counts[pixel] = (ushort)results[pixel];
}
