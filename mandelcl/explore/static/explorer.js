// The explorer: what is shown, navigation, and events. Its transport and its address are passed in.

import { Journey, Sight } from "./journey.js";
import { Motion } from "./motion.js";
import { Place, placeOf, rungBelow } from "./place.js";
import { Ratio, parse } from "./ratio.js";
import { readAddress, writeAddress } from "./address.js";
import { PLAIN, recolour, withTable } from "./recolour.js";

const SHAPE = 1.4; // width / height from which a home view is shown whole
const REST_MS = 80; // without a gesture, before pixels are requested
const STOP_MS = 150; // the same after views in motion, which show where the gesture is
const MOST_MS = 250; // between requests, however long a gesture lasts
const SETTLE_MS = 400; // before a panned view gets its own anchor
const HELD = ["wheel", "held zoom"]; // gestures that go on; "" is one whose start has been recorded
const ARITHMETIC = ["number", "rounding", "method", "reference", "radius_squared"];
const CHEAP_S = 1; // if all pixels took longer, they are kept unchanged
const LEAST_LIMIT = 1000; // the least automatic iteration limit
const SURVEYED = [0.5, 2]; // a zoom by more than these factors needs a new survey, even while it lasts
const ADDRESS_MS = 400; // browsers refuse more than about a hundred changes in half a minute

export class Explorer {
  constructor(client, address) {
    Object.assign(this, { client, address, panes: [], journey: new Journey(), listeners: new Map(), undoing: false });
    this.size = [1, 1];
    this.state = null;
    this.motion = new Motion(this);
    this.timers = {};
  }

  on(kind, listener) {
    if (!this.listeners.has(kind)) this.listeners.set(kind, []);
    this.listeners.get(kind).push(listener);
  }

  emit(kind, value) {
    for (const listener of [...(this.listeners.get(kind) ?? [])]) listener(value);
  }

  /** Call a function with the next event of any of these kinds. Returns a function that cancels this. */
  once(kinds, act) {
    const end = () => {
      for (const kind of kinds) this.listeners.set(kind, this.listeners.get(kind).filter((listener) => listener !== run));
    };
    const run = (value) => {
      end();
      act(value);
    };
    for (const kind of kinds) this.on(kind, run);
    return end;
  }

  /** Begin with the view in the address, or that of the server's command line. */
  begin(welcome) {
    this.palettes = new Map(welcome.palettes.map((palette) => [palette.name, withTable(palette)]));
    this.formulas = new Map(welcome.formulas.map((formula) => [formula.name, formula]));
    const home = this.homeOf("mandelbrot");
    this.state = {
      sight: new Sight(Place.of(home), this.size),
      job: { iterations: 1000, formula: { name: "mandelbrot" }, number: "auto", devices: [] },
      auto: true,
      colouring: { palette: [...this.palettes.keys()].includes("classic") ? "classic" : [...this.palettes.keys()][0], cycle: null, offset: 0 },
    };
    recolour(this);
    if (this.address.read().length > 1) this.follow(this.address.read(), "");
    else if (welcome.start && !this.startsAtHome(welcome.start)) this.open(welcome.start, "");
    else this.show({ sight: this.state.sight }, "");
  }

  /** Show a view from the server: a file's job, a named location, or the one of its command line. */
  open(opened, kind = "open") {
    const job = { number: "auto", ...pick(opened, ["iterations", "formula", ...ARITHMETIC]) };
    const colouring = opened.colouring ? { ...PLAIN, ...opened.colouring } : undefined;
    this.show({ place: placeOf(opened), job, colouring, auto: opened.auto ?? false, kept: opened.kept }, kind);
    this.borrowed = kind !== "" || opened.method !== "auto";
  }

  /** Whether the command line names no location. */
  startsAtHome(start) {
    const [re, im, zoom] = this.formulas.get("mandelbrot").home;
    const plain = start.formula?.name === "mandelbrot" && start.number === "auto" && start.iterations === this.state.job.iterations;
    return plain && placeOf(start).equals(Place.of({ re, im, zoom })) && start.colouring?.palette === this.state.colouring.palette;
  }

  /** The centre and zoom that show all of a formula's set, even on a narrow pane. */
  homeOf(name) {
    const [re, im, zoom] = this.formulas.get(name)?.home ?? ["0", "0", "1.25"];
    const shape = this.size[0] / this.size[1];
    return { re, im, zoom: shape >= SHAPE ? zoom : rungBelow(parse(zoom).times(Ratio.of(shape / SHAPE))).toText() };
  }

  /** The link to what is shown. */
  get link() {
    const { sight, job, auto, colouring } = this.state;
    return writeAddress({ place: sight.settled(), ...job, auto, colouring });
  }

  /** Go to the view of a link. */
  follow(hash, kind = "link") {
    try {
      const given = readAddress(hash, this.homeOf(/formula=([^&]*)/.exec(hash)?.[1] ?? "mandelbrot"));
      const job = { number: "auto", formula: { name: "mandelbrot" }, ...pick(given, ["iterations", "formula", "number"]) };
      const colouring = given.colouring ? { ...PLAIN, ...given.colouring } : undefined;
      if (typeof colouring?.palette === "string" && !this.palettes.has(colouring.palette)) {
        this.notify(`the link's palette ${colouring.palette} is unknown here`, "warning");
        delete colouring.palette;
      }
      const place = given.place ?? Place.of(this.homeOf(job.formula.name));
      const known = given.iterations !== undefined;
      this.show({ place, job, colouring, auto: given.auto ?? !known, kept: known }, kind);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.notify(`the link is invalid: ${error.message}`, "warning");
      if (this.panes.every((pane) => pane.asked === null)) this.show({ sight: this.state.sight }, "");
    }
  }

  /** Show another location, job or colouring; each may be left out. `kind` names the gesture in the history. */
  show({ place, sight, job, auto, kept, colouring }, kind, from = null, wait = 0) {
    const next = sight ?? (place ? new Sight(place, this.size) : this.state.sight);
    const moves = sight && (kind === "" || HELD.includes(kind)) && sight.place !== this.state.sight.place && this.motion.able;
    if (kind !== "") this.leave(kind);
    this.state = {
      sight: next,
      job: { ...(next === this.state.sight ? this.state.job : this.ownJob()), ...job },
      auto: auto ?? this.state.auto,
      kept: kept ? next.place : this.state.kept,
      colouring: { ...this.state.colouring, ...colouring },
    };
    this.jumped ||= Boolean(place);
    this.undoing = kind === "back" || kind === "browser";
    if (colouring) recolour(this);
    if (sight || place) for (const pane of this.panes) pane.aim(next, from);
    this.emit("change");
    const lacking = this.panes.some((pane) => pane.lacks(this.ready.planes));
    if (moves) {
      this.schedule(STOP_MS, Infinity);
      this.motion.moved(sight, from?.pivot ? from.pivot.map((value, k) => value + (this.size[k] - 1) / 2) : this.size.map((side) => (side - 1) / 2));
    } else if (lacking || Object.keys(arguments[0]).some((name) => name !== "colouring")) this.schedule(kind === "wheel" ? REST_MS : wait);
    this.note();
  }

  /** The job without the arithmetic of an opened file, which only suits that file's view. */
  ownJob() {
    const { job } = this.state;
    const own = this.borrowed ? { ...pick(job, ["iterations", "formula", "devices"]), number: "auto" } : job;
    this.borrowed = false;
    return own;
  }

  /** Show another view during a gesture whose start has been recorded. */
  glide(sight) {
    this.show({ sight }, "", null, REST_MS);
  }

  /** Record where a gesture begins. */
  leave(kind) {
    if (kind !== "back" && kind !== "browser") this.journey.leave(this.link, kind, performance.now());
  }

  back() {
    const address = this.journey.back();
    if (address === undefined) this.notify("there is nothing to go back to");
    else this.follow(address, "back");
  }

  /** Request pixels at rest when gestures pause, or after `most` milliseconds. */
  schedule(wait, most = MOST_MS) {
    const now = performance.now();
    this.first ??= now;
    this.atRest = false;
    clearTimeout(this.timers.ask);
    clearTimeout(this.timers.settle);
    this.timers.ask = setTimeout(() => this.ask(), Math.max(0, Math.min(wait, this.first + most - now)));
  }

  /** Request pixels. `rest` says that no gesture is under way. */
  ask(rest = false) {
    this.first = undefined;
    this.atRest = false;
    if (!this.client.connected || this.size[0] < 2) return;
    const limit = this.limit(rest || this.jumped);
    this.jumped = false;
    this.panes.forEach((pane, k) => pane.ask({ ...this.state.job, ...(k === 0 ? limit : {}), ...pane.own }, this.ready.planes));
    this.emit("asked");
  }

  /** Whether a survey by the server decides the iteration limit of what is shown. */
  get surveys() {
    const { auto, kept, sight } = this.state;
    return auto && !kept?.equals(sight.place); // a limit from a location or a link holds for its own view
  }

  /** The iteration limit of a request: at rest as for `render`; while zooming in it is never lowered. */
  limit(rest) {
    const { sight, job: { iterations } } = this.state;
    if (!this.surveys) return { iterations };
    const factor = this.surveyed ? sight.place.zoom.over(this.surveyed.place.zoom).toNumber() : Infinity;
    if (!rest && factor > SURVEYED[0] && factor < SURVEYED[1]) return { iterations };
    this.surveyed = sight;
    if (rest) this.limited = sight;
    return { iterations: rest || factor < 1 ? LEAST_LIMIT : iterations, auto_iterations: true };
  }

  /** The first pane's job is resolved with this iteration limit. */
  resolved(iterations) {
    if (!this.limitedTo(iterations)) return;
    this.panes.slice(1).forEach((pane) => pane.ask({ ...this.state.job, ...pane.own }, this.ready.planes));
    this.emit("change");
    this.note();
  }

  /** Note the iteration limit that a survey has decided; return whether it is another one. A chosen limit stays. */
  limitedTo(iterations) {
    const same = !this.surveys || iterations === this.state.job.iterations;
    if (!same) this.state = { ...this.state, job: { ...this.state.job, iterations } };
    return !same;
  }

  /** A pane is complete: a panned view gets its own anchor, and a settled one becomes a step in the history. */
  completed(pane) {
    if (this.panes.some(({ state }) => state !== "complete" && state !== "resting")) return;
    const panned = this.state.sight.origin.some((value) => value !== 0);
    if (panned && this.panes.every(({ finished }) => finished.seconds < CHEAP_S)) {
      this.timers.settle = setTimeout(() => this.anchor(), SETTLE_MS);
    } else if (this.surveys && this.limited !== this.state.sight) {
      if (this.first === undefined) this.ask(true);
    } else {
      this.atRest = true;
      this.note(true);
      this.emit("rest");
    }
  }

  anchor() {
    const { sight } = this.state;
    this.state = { ...this.state, sight: new Sight(sight.settled(), this.size) };
    for (const pane of this.panes) {
      pane.target = this.state.sight;
      pane.touch();
    }
    this.ask(true);
  }

  /** The pointer is at a point of a pane, or nowhere. */
  point(pane, at) {
    this.pointed = pane ? { pane, at } : null;
    if (pane) pane.point(at);
    this.emit("point", this.pointed);
  }

  /** Write the address soon, or at once for a settled view. Leaving a settled view is a step in the history. */
  note(settled = false) {
    clearTimeout(this.timers.note);
    if (!settled) this.timers.note = setTimeout(() => this.write(), ADDRESS_MS);
    else this.write();
    this.stepped ||= settled;
  }

  write() {
    const { link } = this;
    if (this.address.read() === link) return;
    if (this.stepped && !this.undoing) this.address.push(link);
    else this.address.replace(link);
    this.stepped = false;
  }

  /** Resize the panes, in device pixels. */
  resize(size) {
    if (size[0] === this.size[0] && size[1] === this.size[1]) return;
    this.size = size;
    for (const pane of this.panes) pane.resize(size);
    if (!this.state) return;
    this.state = { ...this.state, sight: new Sight(this.state.sight.settled(), size) };
    for (const pane of this.panes) pane.aim(this.state.sight);
    this.schedule(0);
  }

  notify(line, kind = "note") {
    this.emit("line", { line, kind });
  }
}

function pick(values, names) {
  return Object.fromEntries(names.filter((name) => values[name] !== undefined).map((name) => [name, values[name]]));
}
