// What a view shows, pixel by pixel, from layers that each have a part of it. This runs on the processor: for exact
// pictures, for pages without WebGL 2, and for comparisons.

import { countWords } from "./frames.js";

/** {counts, smooth, found, missing} of a view: each pixel from the first layer that has it, inside everywhere `maxIterations`.
 *
 * Counts of 64 bits are doubles, which they fit. Where `found` is 0, no layer has the pixel, and it looks like one inside.
 */
export function compose(layers, view, maxIterations) {
  const [width, height] = view.size, whole = layers[0] && cut(layers[0], view, maxIterations);
  if (whole) return whole;
  const counts = countsOf(maxIterations, width * height).fill(maxIterations), smooth = new Float32Array(width * height);
  const found = new Uint8Array(width * height);
  let missing = width * height;
  for (const layer of layers) {
    if (missing === 0) break;
    const map = layer.mapFrom(view);
    if (map !== null) missing -= sample(layer, map, width, height, maxIterations, { counts, smooth, found });
  }
  return { counts, smooth, found, missing };
}

function countsOf(maxIterations, length) {
  return countWords(maxIterations).length > 1 ? new Float64Array(length) : new Uint32Array(length);
}

/** The same from one layer, row by row, if its pixels are exactly the view's; otherwise null. */
function cut(layer, view, maxIterations) {
  const [width, height] = view.size, map = layer.mapFrom(view);
  if (map === null || map.a !== 1 || map.b !== 0 || layer.maxIterations !== maxIterations) return null;
  const column = map.x - (width - 1) / 2, row = map.y - (height - 1) / 2;
  if (!Number.isInteger(column) || !Number.isInteger(row) || !layer.holds([column, row, width, height])) return null;
  const counts = countsOf(maxIterations, width * height), smooth = new Float32Array(width * height);
  const [x, y] = layer.at(column, row), first = Math.min(width, layer.width - x);
  for (let j = 0; j < height; j++) {
    const from = ((y + j) % layer.height) * layer.width, to = j * width;
    for (const [start, length, place] of [[from + x, first, to], [from, width - first, to + first]]) {
      layer.copyCounts(start, length, counts, place);
      smooth.set(layer.smooth.subarray(start, start + length), place);
    }
  }
  return { counts, smooth, found: new Uint8Array(width * height).fill(1), missing: 0 };
}

function sample(layer, { a, b, c, d, x, y }, width, height, maxIterations, { counts, smooth, found }) {
  let added = 0;
  const { left, top, width: wide, height: high } = layer;
  const [x0, y0] = layer.at(left, top);
  for (let j = 0; j < height; j++) {
    const row = j - (height - 1) / 2;
    for (let i = 0; i < width; i++) {
      const place = j * width + i;
      if (found[place]) continue;
      const column = i - (width - 1) / 2;
      const u = Math.floor(a * column + b * row + x + 0.5) - left, v = Math.floor(c * column + d * row + y + 0.5) - top;
      if (u < 0 || v < 0 || u >= wide || v >= high) continue;
      const from = ((y0 + v) % high) * wide + ((x0 + u) % wide);
      if (!layer.known(from)) continue;
      const count = layer.count(from);
      counts[place] = count === layer.maxIterations ? maxIterations : Math.min(count, maxIterations);
      smooth[place] = layer.smooth[from];
      found[place] = 1;
      added++;
    }
  }
  return added;
}
