// What a view shows, pixel by pixel, from layers that each have a part of it. This runs on the processor: for exact
// pictures, for pages without WebGL 2, and for comparisons.

import { NONE } from "./layer.js";

/** {counts, smooth, missing} of a view: each pixel from the first layer that has it, inside everywhere `maxIterations`. */
export function compose(layers, view, maxIterations) {
  const [width, height] = view.size, whole = layers[0] && cut(layers[0], view, maxIterations);
  if (whole) return whole;
  const counts = new Uint32Array(width * height).fill(NONE), smooth = new Float32Array(width * height);
  let missing = width * height;
  for (const layer of layers) {
    if (missing === 0) break;
    const map = layer.mapFrom(view);
    if (map !== null) missing -= sample(layer, map, width, height, maxIterations, counts, smooth);
  }
  return { counts, smooth, missing };
}

/** The same from one layer, row by row, if its pixels are exactly the view's; otherwise null. */
function cut(layer, view, maxIterations) {
  const [width, height] = view.size, map = layer.mapFrom(view);
  if (map === null || map.a !== 1 || map.b !== 0 || layer.maxIterations !== maxIterations) return null;
  const column = map.x - (width - 1) / 2, row = map.y - (height - 1) / 2;
  if (!Number.isInteger(column) || !Number.isInteger(row) || !layer.holds([column, row, width, height])) return null;
  const counts = new Uint32Array(width * height), smooth = new Float32Array(width * height);
  const [x, y] = layer.at(column, row), first = Math.min(width, layer.width - x);
  for (let j = 0; j < height; j++) {
    const from = ((y + j) % layer.height) * layer.width, to = j * width;
    for (const [values, own] of [[counts, layer.counts], [smooth, layer.smooth]]) {
      values.set(own.subarray(from + x, from + x + first), to);
      if (first < width) values.set(own.subarray(from, from + width - first), to + first);
    }
  }
  return { counts, smooth, missing: 0 };
}

function sample(layer, { a, b, c, d, x, y }, width, height, maxIterations, counts, smooth) {
  let found = 0;
  const { left, top, width: wide, height: high } = layer;
  const [x0, y0] = layer.at(left, top);
  for (let j = 0; j < height; j++) {
    const row = j - (height - 1) / 2;
    for (let i = 0; i < width; i++) {
      const place = j * width + i;
      if (counts[place] !== NONE) continue;
      const column = i - (width - 1) / 2;
      const u = Math.floor(a * column + b * row + x + 0.5) - left, v = Math.floor(c * column + d * row + y + 0.5) - top;
      if (u < 0 || v < 0 || u >= wide || v >= high) continue;
      const from = ((y0 + v) % high) * wide + ((x0 + u) % wide);
      const count = layer.counts[from];
      if (count === NONE) continue;
      counts[place] = count === layer.maxIterations ? maxIterations : Math.min(count, maxIterations);
      smooth[place] = layer.smooth[from];
      found++;
    }
  }
  return found;
}
