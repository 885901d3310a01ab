// From a colouring to its paint: a table and the mapping from counts, made here, or by the server if necessary.

import { planesOf, uniformsOf } from "./effects.js";
import { cyclesOf } from "./cycles.js";

const SKETCH = 1024; // colours per cycle

/** The defaults of a colouring. */
export const PLAIN = Object.freeze({ cycle: null, offset: 0, inside: undefined, transfer: undefined, equalise: undefined, knots: undefined, effects: undefined, by: undefined });

/** A palette in the server's form, with its table as bytes. */
export function withTable(palette) {
  return { ...palette, table: bytesFrom(palette.table) };
}

/** Give the panes the paint for the explorer's colouring.
 *
 * Some colourings cannot be painted exactly by the page: effects, equalised colours, logarithms (whose last bit
 * differs)
 * and palettes that are not built in. They are shown approximately during motion, and the server paints them at rest.
 */
export function recolour(explorer) {
  const { colouring } = explorer.state;
  const listed = explorer.palettes.get(colouring.palette);
  const palette = listed ?? sketched(colouring.palette);
  const served = !listed || Boolean(colouring.effects) || Boolean(colouring.by) || typeof colouring.equalise === "number" || colouring.transfer === "log";
  explorer.palette = palette;
  const ready = { cycles: cyclesOf(palette, colouring, palette.smooth), table: inside(palette.table, colouring) };
  const degree = explorer.panes[0]?.settled?.degree ?? 2;
  const effects = uniformsOf(colouring, degree, explorer.client.welcome.smooth_radius);
  explorer.ready = { ...ready, continuous: palette.smooth, served, effects, degree, planes: planesOf(colouring), asked: colouring };
  for (const pane of explorer.panes) pane.recolour(explorer.ready);
  explorer.emit("recoloured", explorer.ready);
}

/** An approximation of a palette that a job describes by its colours. */
export function sketched({ colours, cycle, discrete = false, inside: set = "#000000", name }) {
  const stops = colours.map(channels), size = discrete ? stops.length : SKETCH;
  const table = new Uint8Array(3 * (size + 1));
  for (let k = 0; k < size; k++) {
    const place = (k * stops.length) / size, from = Math.floor(place), part = place - from;
    const to = stops[(from + 1) % stops.length];
    table.set(stops[from].map((value, channel) => Math.round(value + part * (to[channel] - value))), 3 * k);
  }
  table.set(channels(set), 3 * size);
  return { name, size, table, cycle, smooth: !discrete, inside: set };
}

/** A table with the colouring's colour for the set. */
function inside(table, colouring) {
  if (!colouring.inside) return table;
  const own = table.slice();
  own.set(channels(colouring.inside), own.length - 3);
  return own;
}

function channels(colour) {
  return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
}

function bytesFrom(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
