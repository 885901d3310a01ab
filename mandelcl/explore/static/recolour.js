// From a colouring to what paints it: a table and how counts turn it, made here, or by the server where it must be.

import { planesOf, uniformsOf } from "./effects.js";
import { turnsOf } from "./turns.js";

const SKETCH = 1024; // colours of a turn

/** What a colouring has that says no more. */
export const PLAIN = Object.freeze({ cycle: null, offset: 0, inside: undefined, transfer: undefined, equalise: undefined, knots: undefined, effects: undefined });

/** A palette as the server describes it, with its table as bytes. */
export function withTable(palette) {
  return { ...palette, table: bytesFrom(palette.table) };
}

/** Give the panes what paints the explorer's colouring.
 *
 * What the page cannot paint exactly is shown about right while anything moves, and painted by the server when the view
 * rests: effects, equalised colours, logarithms, whose last bit differs, and palettes that are not in the list.
 */
export function recolour(explorer) {
  const { colouring } = explorer.state;
  const listed = explorer.palettes.get(colouring.palette);
  const palette = listed ?? sketched(colouring.palette);
  const served = !listed || Boolean(colouring.effects) || typeof colouring.equalise === "number" || colouring.transfer === "log";
  explorer.palette = palette;
  const ready = { turns: turnsOf(palette, colouring, palette.smooth), table: inside(palette.table, colouring) };
  const degree = explorer.panes[0]?.settled?.degree ?? 2;
  const effects = uniformsOf(colouring, degree, explorer.client.welcome.smooth_radius);
  explorer.ready = { ...ready, continuous: palette.smooth, served, effects, degree, planes: planesOf(colouring), asked: colouring };
  for (const pane of explorer.panes) pane.recolour(explorer.ready);
  explorer.emit("recoloured", explorer.ready);
}

/** About the palette that a job describes with its colours. */
function sketched({ colours, cycle, discrete = false, inside: set = "#000000", name }) {
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

/** A table with the set in the colour that the colouring wants. */
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
