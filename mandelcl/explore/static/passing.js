// A pane's views in motion: requested one after the other, each shown once all of its pixels are here.

import { Window } from "./window.js";

const MOST = 3; // views on their way at the same time: resolved, computed, sent
const SPARE = 6; // layers that are kept for later views: their textures are large
const INSIDE = 0xfffffffe; // the value of a pixel at the iteration limit

/** The values of a view in motion: counts with fractions as floats, in the frames in which they have come. */
export class MotionLayer extends Window {
  constructor(window) {
    super({ ...window, level: 0, tile: 1 });
    this.words = { values: null }; // one slice of a texture
    this.spare = true; // kept for a later view of the same size
  }

  /** Begin again with another view of the same size. */
  begin(place, maxIterations) {
    Object.assign(this, { place, maxIterations, mapped: undefined, complete: false, filled: false, came: 0 });
    [this.frames, this.held, this.changes] = [[], [], []];
  }

  take(frame) {
    this.frames.push(frame);
    this.came += frame.width * frame.height;
  }

  /** All pixels are here: show them. False if some are missing. */
  finish() {
    const [width, height] = this.size;
    if (this.came !== width * height) return false;
    this.hold([0, 0, width, height]);
    this.change([0, 0, width, height]);
    this.complete = this.filled = true;
    return true;
  }

  get bytes() {
    return 8 * this.width * this.height;
  }

  /** [count, smooth fraction] of a pixel, or null. */
  pixel(column, row) {
    const inside = ({ column: c, row: r, width, height }) => column >= c && column < c + width && row >= r && row < r + height;
    const frame = this.frames.find(inside);
    if (!frame) return null;
    const word = frame.words.values.subarray((row - frame.row) * frame.width + column - frame.column).slice(0, 1);
    if (word[0] === INSIDE) return [this.maxIterations, 0];
    const [value] = new Float32Array(word.buffer);
    return [Math.floor(value), value - Math.floor(value)];
  }
}

export class Passing {
  constructor(pane) {
    Object.assign(this, { pane, views: new Map(), layers: [], size: null }); // the size of the newest view
  }

  /** Whether another view may be requested: the server has resolved the last one, and few are on their way. */
  get ready() {
    return this.views.size < MOST && [...this.views.values()].every(({ settled }) => settled);
  }

  /** When the oldest view that is on its way was requested. */
  get oldest() {
    return Math.min(...[...this.views.values()].map(({ asked }) => asked));
  }

  /** Request a view of `place` with `coarser` times fewer columns and rows. `at` is a point of the canvas: the zoom's. */
  ask(place, size, at, job, coarser) {
    const { pane } = this, height = Math.ceil(size[1] / coarser), width = Math.ceil((size[0] * height) / size[1]);
    const layer = this.layer([width, height]);
    layer.begin(place, job.iterations);
    this.size = layer.size;
    pane.generation++;
    this.views.set(pane.generation, { layer, asked: performance.now(), settled: 0 });
    const pointer = [((at[0] + 0.5) * width) / size[0] - 0.5, ((at[1] + 0.5) * height) / size[1] - 0.5];
    const view = { lattice: place.lattice(width, height), origin: [0, 0], size: [width, height], pointer };
    pane.client.send({ do: "view", pane: pane.index, generation: pane.generation, ...view, ...job, motion: true });
    pane.layers.leave();
    pane.state = "moving";
  }

  /** A layer that is neither shown nor waited for. */
  layer(size) {
    const used = new Set([...this.pane.layers.all, ...[...this.views.values()].map(({ layer }) => layer)]);
    const fits = (one) => one.size[0] === size[0] && one.size[1] === size[1] && !used.has(one);
    const spare = this.layers.find(fits);
    if (spare) return spare;
    const made = new MotionLayer({ place: null, size, maxIterations: 0 });
    this.keep([made, ...this.layers.filter((one) => used.has(one) || fits(one))].slice(0, SPARE));
    return made;
  }

  /** Keep these layers, and let go of the others. */
  keep(layers) {
    for (const one of this.layers) one.spare = layers.includes(one);
    this.layers = layers;
  }

  /** Handle a message about a view in motion; false if it is about another one. */
  hear(message) {
    const view = this.views.get(message.generation);
    if (!view) return false;
    if (message.say === "settled") {
      view.settled = performance.now();
      Object.assign(view.layer, { key: message.key, maxIterations: message.iterations });
    } else if (message.say === "complete") this.finish(message.generation, view);
    else if (message.say === "failed") this.views.delete(message.generation);
    this.pane.hooks.onmoving?.(this.pane, message, view);
    return true;
  }

  finish(generation, view) {
    for (const older of [...this.views.keys()]) if (older <= generation) this.views.delete(older);
    if (!view.layer.finish()) return;
    view.came = performance.now();
    this.pane.layers.pass(view.layer);
    this.pane.touch();
  }

  /** Take a frame of a view in motion; false if it is of another one. */
  take(frame) {
    const view = this.views.get(frame.generation);
    if (view && frame.words?.values) view.layer.take(frame);
    return Boolean(view);
  }

  /** A view at rest, or a coarser one, is requested: the server sends no more of these. */
  clear() {
    this.views.clear();
    this.size = null;
    this.keep([]); // those that are shown go with the other layers
  }
}
