// From a colouring to what paints it: a table and how counts turn it, made here, or by the server where it must be.

import { turnsFrom, turnsOf } from "./turns.js";

/** What a colouring has that says no more. */
export const PLAIN = Object.freeze({ cycle: null, offset: 0, inside: undefined, transfer: undefined, equalise: undefined, knots: undefined, effects: undefined });

/** A palette as the server describes it, with its table as bytes. */
export function withTable(palette) {
  return { ...palette, table: bytesFrom(palette.table) };
}

/** Give the panes what paints the explorer's colouring.
 *
 * What the page cannot paint exactly, an effect or equalised colours, is painted by the server when the view rests. A
 * palette that is not in the list, and a logarithm, whose last bit differs, are asked for.
 */
export function recolour(explorer) {
  const { colouring } = explorer.state;
  const palette = explorer.palettes.get(colouring.palette);
  const served = Boolean(colouring.effects) || typeof colouring.equalise === "number";
  if (palette) {
    explorer.palette = palette;
    apply(explorer, { turns: turnsOf(palette, colouring, palette.smooth), table: inside(palette.table, colouring), continuous: palette.smooth, served });
  }
  if (!palette || colouring.transfer === "log") fetch(explorer, colouring, served);
}

async function fetch(explorer, colouring, served) {
  const plain = { ...colouring, equalise: undefined, knots: undefined, effects: undefined };
  const said = await explorer.client.ask({ do: "colours", colouring: plain }).catch((error) => explorer.say(error.message, "warning"));
  if (!said || explorer.state.colouring !== colouring) return;
  const turns = turnsFrom(said.turns), continuous = said.continuous ?? explorer.palettes.get(colouring.palette)?.smooth ?? true;
  explorer.palette ??= { size: turns.size, smooth: continuous, cycle: 1, inside: "#000000" };
  apply(explorer, { turns, table: bytesFrom(said.table), continuous, served });
}

function apply(explorer, ready) {
  explorer.ready = { ...ready, asked: explorer.state.colouring };
  for (const pane of explorer.panes) pane.recolour(explorer.ready);
  explorer.emit("recoloured", explorer.ready);
}

/** A table with the set in the colour that the colouring wants. */
function inside(table, colouring) {
  if (!colouring.inside) return table;
  const own = table.slice();
  own.set([1, 3, 5].map((k) => parseInt(colouring.inside.slice(k, k + 2), 16)), own.length - 3);
  return own;
}

function bytesFrom(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
