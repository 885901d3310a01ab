// The effects of gestures and keys: moves from the current view to another.

import { Place } from "./place.js";
import { transferOf } from "./cycles.js";

const FIRST_CAP = 1000;
const FLING_MS = 325; // time constant of a drag that runs out
const FEW_PIXELS = 8; // sides of a box: a smaller one is accidental

/** Zoom by rungs about a point of the canvas. */
export function zoom(explorer, at, rungs, kind) {
  const { sight } = explorer.state;
  const next = sight.climbed(at, rungs);
  const factor = next.place.zoom.over(sight.place.zoom).toNumber();
  const pivot = at.map((value, k) => value - (explorer.size[k] - 1) / 2);
  explorer.show({ sight: next }, kind, { factor: 1 / factor, pivot });
}

/** Pan by pixels, eased. */
export function pan(explorer, columns, rows, kind) {
  const steps = [Math.round(columns), Math.round(rows)];
  explorer.show({ sight: explorer.state.sight.panned(...steps) }, kind, { x: -steps[0], y: -steps[1] });
}

/** Drag the picture with the pointer. Fractions of a pixel are kept for the next step. */
export function drag(explorer, columns, rows) {
  const rest = explorer.dragged ?? [0, 0];
  const far = [columns + rest[0], rows + rest[1]], whole = far.map(Math.round);
  explorer.dragged = far.map((value, k) => value - whole[k]);
  explorer.glide(explorer.state.sight.panned(-whole[0], -whole[1]));
}

/** Let a drag run out from a speed in pixels per millisecond. The pixels at its end are requested at once. */
export function fling(explorer, across, down) {
  if (explorer.panes.some(({ calm }) => calm)) return;
  const steps = [-across, -down].map((speed) => Math.round(speed * FLING_MS));
  explorer.show({ sight: explorer.state.sight.panned(...steps) }, "", { x: -steps[0], y: -steps[1], time: FLING_MS });
}

/** Stop a picture that runs out, where it is. */
export function hold(explorer) {
  const { ease } = explorer.panes[0];
  const steps = [Math.round(ease.x), Math.round(ease.y)];
  if (ease.log !== 0 || (steps[0] === 0 && steps[1] === 0)) return;
  for (const pane of explorer.panes) Object.assign(pane.ease, { x: 0, y: 0 });
  explorer.glide(explorer.state.sight.panned(...steps));
}

/** Zoom into a box of the canvas. */
export function boxed(explorer, from, to) {
  if (Math.min(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])) < FEW_PIXELS) return;
  explorer.show({ sight: explorer.state.sight.boxed(from, to) }, `box ${performance.now()}`);
}

export function turn(explorer, degrees) {
  explorer.show({ sight: explorer.state.sight.turned(degrees) }, `turn ${performance.now()}`);
}

/** The formula's whole set. */
export function home(explorer) {
  const { job, auto } = explorer.state;
  const place = Place.of(explorer.homeOf(job.formula.name));
  explorer.show({ place, job: auto ? { iterations: FIRST_CAP } : {} }, "home");
}

/** Set the iteration limit by hand. */
export function maxIterations(explorer, iterations) {
  const most = explorer.client.welcome.limits.iterations;
  const wanted = Math.max(1, Math.min(Math.round(iterations), most));
  explorer.show({ job: { iterations: wanted }, auto: false }, "limit");
}

/** Switch the automatic iteration limit on or off. */
export function automatic(explorer, auto) {
  explorer.state = { ...explorer.state, kept: undefined };
  explorer.jumped = true;
  explorer.show({ auto }, "");
}

/** Shift the colours by a fraction of a cycle. */
export function shift(explorer, turns) {
  const offset = explorer.state.colouring.offset + turns;
  explorer.show({ colouring: { offset: rounded(offset - Math.floor(offset), 6) } }, "colour");
}

/** Make the palette cycle longer or shorter. */
export function stretch(explorer, factor) {
  const { colouring } = explorer.state, [transfer, length] = transferOf(explorer.palette, colouring);
  explorer.show({ colouring: { transfer, cycle: Math.max(1e-3, rounded(length * factor, 4)) } }, "colour");
}

/** Choose a favourite palette, or store the current one as a favourite. */
export function favourite(explorer, number, store) {
  const kept = favourites(explorer);
  if (store && typeof explorer.state.colouring.palette !== "string") explorer.notify("only palettes of the list can be stored", "warning");
  else if (store) {
    kept[number - 1] = explorer.state.colouring.palette;
    remember(kept);
    explorer.notify(`key ${number} now selects ${kept[number - 1]}`);
  } else if (kept[number - 1]) explorer.show({ colouring: { palette: kept[number - 1] } }, "colour");
}

const KEPT = "mandelcl-favourites";

function favourites(explorer) {
  let kept = [];
  try {
    kept = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    // no storage, or invalid contents: use the defaults
  }
  const names = [...explorer.palettes.keys()];
  return Array.from({ length: 9 }, (_, k) => (explorer.palettes.has(kept[k]) ? kept[k] : names[k]));
}

function remember(kept) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // without storage they are lost with the page
  }
}

function rounded(value, digits) {
  return Number(value.toPrecision(digits));
}
