// A pane: one view on its canvases, in motion and at rest, and its requests to the server.

import { compose } from "./compose.js";
import { createRenderer } from "./gl.js";
import { Layers } from "./layers.js";
import { HEAVY_MS, Pace } from "./pace.js";
import { Painter } from "./painter.js";
import { Passing } from "./passing.js";
import { element } from "./dom.js";

const EASE_MS = 55; // time constant of the animation towards the target
const REPAINT_MS = 120; // delay from the last change to the exact colours
const LATE_MS = 250; // a slower exact picture is not waited for
const POINTER_MS = 200;
const USUAL = ["counts", "smooth"];
const STILL = { log: 0, pivot: [0, 0], x: 0, y: 0 };

export class Pane {
  /** `index` is the pane's number at the server; `hooks` are {onsettled, oncomplete, onfailed, onmoving, onpainted}. */
  constructor({ index, client, startWorker, hooks }) {
    Object.assign(this, { index, client, hooks, generation: 0, colouring: null, state: "empty", drawn: 0 });
    this.moving = element("canvas", { class: "moving" });
    this.resting = element("canvas", { class: "resting", hidden: true });
    this.marks = element("canvas", { class: "marks", hidden: true }); // even an empty canvas costs time
    this.el = element("div", { class: "pane" }, this.moving, this.resting, this.marks);
    this.renderer = createRenderer(this.moving);
    if (this.renderer) this.renderer.onrestored = () => this.touch();
    this.painter = new Painter(startWorker);
    this.layers = new Layers(client.welcome.levels, client.welcome.tile);
    this.passing = new Passing(this);
    [this.target, this.asked, this.frame, this.ease] = [null, null, null, { ...STILL }];
    this.pace = new Pace((now) => this.draw(now));
    this.canvas = 0; // pixels of the last picture
    [this.came, this.shown] = [0, 0]; // the generations whose pixels have arrived, and are shown
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
  }

  resize([width, height]) {
    for (const canvas of [this.moving, this.marks]) Object.assign(canvas, { width, height });
    this.touch();
  }

  /** The pointer is at a point of the canvas. Computation begins near it. */
  point(at) {
    const known = this.target && this.probe(at);
    if (!known) return;
    this.pointer = [known.column, known.row];
    if (this.state === "asked" && performance.now() - (this.pointerSent ?? 0) > POINTER_MS) {
      this.pointerSent = performance.now();
      this.client.send({ do: "pointer", pane: this.index, at: this.pointer });
    }
  }

  /** Show a view, {place, origin, size}; `from` eases there: {factor, pivot, x, y} in pixels, with a time constant `time`. */
  aim(target, from = null) {
    this.target = target;
    if (from && !this.calm) {
      if (from.factor) Object.assign(this.ease, { log: this.ease.log + Math.log(from.factor), pivot: from.pivot });
      this.ease.x += from.x ?? 0;
      this.ease.y += from.y ?? 0;
      this.easing = from.time ?? EASE_MS;
    }
    this.move();
  }

  /** Hide the exact canvas, because the view has changed. */
  move() {
    this.frame = this.refined = null;
    this.resting.hidden = true;
    this.state = "moving";
    this.touch();
  }

  recolour(colouring) {
    this.colouring = colouring;
    this.refined = null;
    this.resting.hidden = true;
    this.touch();
    clearTimeout(this.repaint);
    this.repaint = setTimeout(() => this.paint(), REPAINT_MS);
  }

  /** Whether the shown pixels lack one of these planes. */
  lacks(planes) {
    return this.asked !== null && planes.some((name) => !this.asked.job.planes?.includes(name));
  }

  /** Request the pixels of the view. `own` are the message's other fields, `planes` further planes. */
  ask(own, planes = []) {
    const { place, origin, size } = this.target;
    // A location keeps its planes, so that no pixel is computed again when an effect is removed.
    const kept = this.asked?.place === place ? (this.asked.job.planes ?? USUAL) : USUAL;
    const all = [...new Set([...kept, ...planes])].sort();
    const job = all.length > USUAL.length ? { ...own, planes: all } : own;
    this.asked = { ...this.target, job };
    this.passing.clear();
    this.layers.begin(this.asked, job);
    this.generation++;
    this.state = "asked";
    this.frame = this.refined = null; // a view with a moved anchor may have different pixels if numbers are rounded
    const lattice = (place.lattices ??= new Map());
    const text = `${size}`;
    if (!lattice.has(text)) lattice.set(text, place.lattice(...size));
    const message = { do: "view", pane: this.index, generation: this.generation, lattice: lattice.get(text), origin, size };
    const have = this.layers.have();
    this.client.send({ ...message, ...job, ...(this.pointer ? { pointer: this.pointer } : {}), ...(have ? { have } : {}) });
  }

  /** Request a view in motion, which replaces nothing until its pixels are here. */
  pass(place, at, job, coarser) {
    if (this.asked) this.passing.ask(place, this.target.size, at, job, coarser);
  }

  hear(message) {
    if (this.passing.hear(message)) return;
    if (message.generation !== this.generation) return;
    if (message.say === "settled") {
      this.layers.settle(message.key, message.iterations);
      this.hooks.onsettled?.(this, message);
    } else if (message.say === "progress") {
      this.hooks.onprogress?.(this, message);
    } else if (message.say === "complete") {
      this.layers.finish();
      this.finished = message;
      if (this.state === "asked") this.state = "complete";
      this.hooks.oncomplete?.(this, message);
      if (this.still) this.pace.halt();
      this.pace.within(this.colouring?.served ? 0 : LATE_MS);
      this.paint();
    } else if (message.say === "failed") {
      this.state = "failed";
      this.hooks.onfailed?.(this, message);
    }
  }

  take(frame) {
    if (this.passing.take(frame)) return;
    if (frame.generation !== this.generation) return;
    if (frame.kind === "colours") return void this.takeColours(frame);
    if (this.layers.take(frame)) {
      this.came = this.generation;
      if (this.shown === this.generation) this.pace.tiles();
      else this.touch(); // the first pixels at once
    }
  }

  /** Whether the system asks for less motion: views are then shown where they lead, without an animation. */
  get calm() {
    return this.reduced.matches;
  }

  /** Draw in the next frame. */
  touch() {
    this.pace.now();
  }

  /** Draw the view. Returns a promise of the picture if that is there later. */
  draw(now) {
    if (!this.target || !this.colouring || !this.asked) return undefined;
    const view = { ...this.target, ease: this.eased(now) };
    const limit = this.layers.fine.maxIterations;
    const later = this.renderer ? this.renderer.draw(this.layers.all, view, limit, this.colouring, this.fit()) : this.compose(view);
    this.drawn++;
    if (this.came === this.generation) this.shown = this.generation;
    this.hooks.ondrawn?.(this, view);
    return later;
  }

  /** The size of the canvas: that of views in motion while they are requested, if a larger one takes long. */
  fit() {
    const size = (this.cost(1) > HEAVY_MS && this.passing.size) || this.target.size, pixels = size[0] * size[1];
    if (this.canvas) this.pace.scale(pixels / this.canvas);
    this.canvas = pixels;
    return size;
  }

  /** The estimated time that a picture takes, in milliseconds, with `coarser` times fewer columns and rows than the view. */
  cost(coarser) {
    return this.canvas ? (this.pace.cost * this.target.size[0] * this.target.size[1]) / coarser ** 2 / this.canvas : 0;
  }

  /** The current position of the animation towards the target. */
  eased(now) {
    const { ease } = this;
    const kept = this.calm ? 0 : Math.exp(-Math.min(now - (this.before ?? now), 100) / (this.easing ?? EASE_MS));
    this.before = now;
    for (const name of ["log", "x", "y"]) ease[name] *= kept;
    const still = Math.abs(ease.log) < 1e-3 && Math.abs(ease.x) + Math.abs(ease.y) < 0.4;
    if (still) {
      Object.assign(ease, STILL);
      this.before = undefined;
    } else this.pace.on();
    const scale = Math.exp(ease.log), [column, row] = ease.pivot;
    return { scale, x: column * (1 - scale) + ease.x, y: row * (1 - scale) + ease.y };
  }

  get still() {
    return this.ease.log === 0 && this.ease.x === 0 && this.ease.y === 0;
  }

  /** Without WebGL: paint the view as at rest. */
  async compose(view) {
    const pixels = await this.painter.paint(framed(this.layers.all, view, this.layers.fine.maxIterations), this.colouring);
    this.moving.getContext("2d").putImageData(new ImageData(pixels, ...view.size), 0, 0);
  }

  /** Paint the view exactly when it is complete. */
  async paint() {
    if (this.state !== "complete" && this.state !== "resting") return;
    if (!this.colouring || this.finished?.generation !== this.generation) return;
    const { generation, colouring, target } = this;
    const maxIterations = this.layers.fine.maxIterations;
    if (colouring.served) return void this.askColours(colouring);
    this.frame ??= framed([this.layers.fine], target, maxIterations);
    const pixels = await this.painter.paint(this.frame, colouring);
    if (generation !== this.generation || colouring !== this.colouring || target !== this.target) return;
    this.rest(pixels);
  }

  rest(pixels) {
    const { size } = this.target;
    Object.assign(this.resting, { width: size[0], height: size[1], hidden: false });
    this.resting.getContext("2d", { alpha: false }).putImageData(new ImageData(pixels, ...size), 0, 0);
    Object.assign(this.ease, STILL);
    this.before = undefined;
    this.pace.halt();
    this.state = "resting";
    this.hooks.onpainted?.(this);
  }

  /** Let the server paint the view if the page cannot. */
  async askColours(colouring) {
    const { generation, target } = this;
    this.colours = { generation, target, pixels: new Uint8ClampedArray(4 * target.size[0] * target.size[1]).fill(255) };
    const reply = await this.client.ask({ do: "paint", pane: this.index, colouring: colouring.asked }).catch((error) => this.hooks.onrefused?.(error));
    const current = generation === this.generation && colouring === this.colouring && target === this.target;
    if (reply && current) this.rest(this.colours.pixels);
  }

  /** Request the picture with further samples. Returns the request's answer. */
  askRefined(colouring) {
    const { generation, target } = this;
    this.colours = { generation, target, pixels: new Uint8ClampedArray(4 * target.size[0] * target.size[1]).fill(255) };
    return this.client.ask({ do: "refine", pane: this.index, colouring });
  }

  /** Show the refined picture, whose pixels have this number of samples; one means that it stays as it is. */
  refine(samples) {
    this.refined = { samples };
    if (samples !== 1) this.resting.getContext("2d", { alpha: false }).putImageData(new ImageData(this.colours.pixels, ...this.target.size), 0, 0);
    this.colours = null;
  }

  takeColours({ column, row, width, height, colours }) {
    if (!this.colours) return;
    const { pixels, target } = this.colours;
    for (let j = 0; j < height; j++) {
      for (let i = 0; i < width; i++) {
        const x = column + i - target.origin[0], y = row + j - target.origin[1];
        if (x < 0 || y < 0 || x >= target.size[0] || y >= target.size[1]) continue;
        const from = 3 * (j * width + i);
        pixels.set(colours.subarray(from, from + 3), 4 * (y * target.size[0] + x));
      }
    }
  }

  /** What is known about a point of the pane, in pixels from its corner: {column, row, count, smooth} or null. */
  probe([x, y]) {
    if (!this.target || !this.layers.fine) return null;
    const { fine } = this.layers, { size } = this.target;
    const map = fine.mapFrom(this.target);
    if (map === null) return null;
    const i = x - (size[0] - 1) / 2, j = y - (size[1] - 1) / 2;
    const column = Math.floor(map.a * i + map.b * j + map.x + 0.5), row = Math.floor(map.c * i + map.d * j + map.y + 0.5);
    const pixel = fine.pixel(column, row);
    return { column, row, count: pixel?.[0] ?? null, smooth: pixel?.[1] ?? null, maxIterations: fine.maxIterations };
  }

  close() {
    this.client.send({ do: "close", pane: this.index });
    this.painter.close();
    this.pace.halt();
    clearTimeout(this.repaint);
    this.el.remove();
  }
}

/** The input of a painter: a view whose counts are assembled on request. */
function framed(layers, view, maxIterations) {
  return { counted: () => ({ ...compose(layers, view, maxIterations), maxIterations }) };
}
