// A worker that paints exactly. It keeps a frame's counts, and their indices into the table while only colours change.

import { placesOf } from "./cycles.js";

let frame = null; // {id, counts, smooth, maxIterations}

/** Counts to colours, RGBA. */
export function paint({ counts, smooth, maxIterations }, { cycles, table, continuous }) {
  const places = placesOf(cycles, maxIterations, counts, continuous ? smooth : null);
  const colours = Uint32Array.from({ length: table.length / 3 }, (_, k) => word(table, k));
  const pixels = new Uint32Array(places.length);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colours[places[i]];
  return new Uint8ClampedArray(pixels.buffer);
}

/** A colour as the bytes R, G, B, 255 in memory, whatever this machine's byte order. */
function word(table, k) {
  const bytes = new Uint8Array([table[3 * k], table[3 * k + 1], table[3 * k + 2], 255]);
  return new Uint32Array(bytes.buffer)[0];
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  self.onmessage = ({ data }) => {
    if (data.frame) frame = data.frame;
    const pixels = paint(frame, data.colouring);
    self.postMessage({ id: data.id, pixels }, [pixels.buffer]);
  };
}
