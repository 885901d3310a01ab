/* The results of some pixels of a block, one pixel a work-item: the host reads those alone, and not the whole block.
 *
 * `indices` are their places in the block, row·width + column. Pixel k's word w goes to found[w·count + k]. */
kernel void gather(global const uint *results, uint pixels, uint words, global const uint *indices, uint count,
                   global uint *found) {
  const uint k = get_global_id(0);
  if (k >= count) return;
  for (uint word = 0; word < words; word++)
    found[word * (size_t)count + k] = results[word * (size_t)pixels + indices[k]];
}
