// The layers of a pane: those of the requested view, and those of earlier views, shown until its pixels arrive.

import { Layer } from "./layer.js";

const MOST = 6; // the most layers that are drawn
const MOST_BYTES = 256 << 20;

/** Layers: the newest lattice first, and for each lattice the fine layer before the coarse one. */
export class Layers {
  constructor(levels, tile) {
    Object.assign(this, { levels: [...levels].sort(), tile, all: [], view: null });
  }

  get fine() {
    return this.all[0] ?? null;
  }

  /** Prepare for a view of this lattice. Another job or place begins a new one. */
  begin(view, job) {
    const { iterations, auto_iterations: open, ...rest } = job, text = JSON.stringify(rest);
    const limited = open || this.fine?.maxIterations === iterations;
    const same = this.view && limited && this.job === text && this.view.place === view.place && sameSize(this.view.size, view.size);
    [this.view, this.job, this.planes] = [view, text, job.planes ?? []];
    if (!same) this.renew(iterations);
    for (const layer of this.current) layer.moveTo(view.origin);
    if (same && !this.whole) this.fine.complete = false;
  }

  renew(maxIterations) {
    const { place, size, origin } = this.view;
    const kept = this.all.filter((layer, k) => layer.filled && !this.superseded(layer, k));
    this.current = this.levels.map((level) => new Layer({ place, size, level, tile: this.tile, maxIterations, planes: this.planes }));
    for (const layer of this.current) layer.moveTo(origin);
    this.all = [...this.current, ...kept];
    this.prune();
  }

  /** Whether a finer or newer layer than the k-th is complete and replaces it. */
  superseded(layer, k) {
    const whole = ({ level, place, complete }) => level === 0 && complete && place.equals(layer.place);
    return this.all.slice(0, k).some(whole);
  }

  /** The view's job is resolved: pixels held under another key belong to another job. */
  settle(key, iterations) {
    const known = this.fine?.key;
    if (known && known !== key) this.renew(iterations);
    for (const layer of this.current) Object.assign(layer, { key, maxIterations: iterations });
  }

  take(frame) {
    return this.current.find((layer) => layer.level === frame.level)?.take(frame) ?? false;
  }

  /** The pixels that the server need not send again. */
  have() {
    const { fine } = this;
    return fine.key && fine.held.length > 0 ? { key: fine.key, rectangles: fine.held.slice(-MOST_RECTANGLES) } : undefined;
  }

  /** Whether all pixels of the view are here. */
  get whole() {
    return this.fine !== null && this.fine.covers(this.view.origin, this.view.size);
  }

  /** Drop unneeded layers. Among earlier lattices, complete layers are dropped last. */
  prune() {
    const bytes = () => this.all.reduce((sum, layer) => sum + layer.bytes, 0);
    while (this.all.length > this.levels.length && (this.all.length > MOST || bytes() > MOST_BYTES)) {
      const old = this.all.slice(this.levels.length);
      const wholes = old.filter((layer) => layer.complete);
      const least = old.filter((layer) => layer !== wholes[0]).at(-1) ?? wholes[0];
      this.all.splice(this.all.indexOf(least), 1);
    }
  }

  finish() {
    this.fine.complete = true;
  }

  /** The view moves on: the next one at rest begins anew. */
  leave() {
    this.view = null;
  }

  /** Show a complete view in motion above older layers, the last two of them; one at rest that was requested since stays above. */
  pass(layer) {
    const above = this.view === null ? 0 : this.levels.length;
    const below = this.all.slice(above).filter((one) => one !== layer);
    const moving = [layer, ...below.filter(({ frames }) => frames)].slice(0, 2);
    this.all = [...this.all.slice(0, above), ...moving, ...below.filter((one) => !one.frames && one.filled)].slice(0, MOST);
  }
}

const MOST_RECTANGLES = 1000;

function sameSize(a, b) {
  return a[0] === b[0] && a[1] === b[1];
}
