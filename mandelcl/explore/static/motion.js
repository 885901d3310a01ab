// Requests while a zoom or a rotation goes on: of what will be on screen when the pixels arrive, as fast as they arrive.

import { Sight } from "./journey.js";
import { HEAVY_MS } from "./pace.js";
import { Ratio, parse } from "./ratio.js";

const TRACK_MS = 300; // the last part of a gesture, which gives its speed
const MOST_LEAD_MS = 150;
const MOST_LEAD = 0.4; // of the logarithm of a zoom: less than an octave
const LEAST_MS = 1000 / 60; // between requests
const SLOW_MS = 66, QUICK_MS = 50; // of the server for a view: slower ones get fewer pixels; more if those are as quick
const LIGHT_MS = 24; // of the page for a picture of the next finer size
const COARSEST = 8, COARSEST_DRAWN = 4;
const SURE = 4; // views of one size after which its pictures are judged
const LATE_MS = 250; // a view that takes longer is given up
const DIGITS = 4; // of a zoom that is computed ahead
const OVER_MS = 400; // after this, a gesture is another one

export class Motion {
  constructor(explorer) {
    Object.assign(this, { explorer, coarser: 1, latency: 60, spent: 0, views: 0, track: [], at: null, asked: null, askedAt: -Infinity });
  }

  /** Whether views in motion show what the explorer shows: WebGL decodes them, and they have no further planes. */
  get able() {
    const { panes, ready, client } = this.explorer;
    return client.connected && ready.planes.length === 0 && panes.every(({ renderer }) => renderer !== null);
  }

  /** A gesture leads to a sight about a point of the canvas. */
  moved(sight, at) {
    const now = performance.now();
    if (now - (this.track.at(-1)?.now ?? -Infinity) > OVER_MS) {
      this.track = [];
      this.begin();
    }
    this.track = [...this.track.filter((each) => now - each.now < TRACK_MS), { now, log: logarithm(sight.place.zoom) }];
    this.at = at;
    this.go();
  }

  /** A gesture begins: choose a size for which pictures come in time. */
  begin() {
    const seconds = this.explorer.panes[0].finished?.seconds ?? 0, slow = () => (1000 * seconds) / this.coarser ** 2 > SLOW_MS;
    this.spent = 0;
    while ((this.coarser < COARSEST && slow()) || this.heavy) this.resize(2);
    this.explorer.emit("asked");
  }

  /** Whether the server is free, or takes too long for what it has, which it then gives up for a coarser view. */
  free(now) {
    const passing = this.explorer.panes.map((pane) => pane.passing);
    if (passing.every(({ ready }) => ready)) return true;
    const late = now - Math.min(...passing.map(({ oldest }) => oldest)) > LATE_MS;
    if (!late || this.coarser === COARSEST) return false;
    this.resize(2);
    for (const each of passing) each.clear();
    return true;
  }

  /** Request the next view if the last one is resolved and the gesture has gone on. */
  go() {
    const { explorer, at } = this, { sight } = explorer.state, now = performance.now();
    if (!at || explorer.first === undefined || sight === this.asked || !this.free(now)) return;
    if (now - this.askedAt < LEAST_MS) return void this.later(LEAST_MS);
    this.later(LATE_MS);
    [this.asked, this.askedAt] = [sight, now];
    const { place } = this.ahead(sight, at), limit = explorer.limit(false);
    explorer.panes.forEach((pane, k) => pane.pass(place, at, { ...explorer.state.job, ...(k === 0 ? limit : {}), ...pane.own }, this.coarser));
  }

  later(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.go(), wait);
  }

  /** What will be on screen when pixels that are requested now arrive. */
  ahead(sight, at) {
    const settled = new Sight(sight.settled(), sight.size), [first, last] = [this.track[0], this.track.at(-1)];
    const speed = this.track.length > 1 ? (last.log - first.log) / (last.now - first.now) : 0;
    const log = Math.max(-MOST_LEAD, Math.min(MOST_LEAD, speed * Math.min(this.latency, MOST_LEAD_MS)));
    if (Math.abs(log) < 0.02) return settled;
    return settled.about(at, parse(settled.place.zoom.times(Ratio.of(Math.exp(log))).toShort(DIGITS)));
  }

  /** A message about a view in motion has come; `view` has its times. */
  hear(message, view) {
    if (message.say === "complete" && view.came) {
      this.latency += 0.2 * (Math.min(view.came - view.asked, 1000) - this.latency);
      const spent = 1000 * message.seconds;
      this.spent = this.spent ? this.spent + 0.3 * (spent - this.spent) : spent;
      this.views++;
      this.adapt();
    }
    this.go();
  }

  adapt() {
    const slow = this.spent > SLOW_MS && this.coarser < COARSEST, sure = this.views >= SURE;
    if (slow || (sure && this.heavy)) this.resize(2);
    else if (sure && 4 * this.spent < QUICK_MS && this.drawing(this.coarser / 2) < LIGHT_MS && this.coarser > 1) this.resize(1 / 2);
  }

  /** Whether pictures of this size take the page too long. */
  get heavy() {
    return this.coarser < COARSEST_DRAWN && this.drawing(this.coarser) > HEAVY_MS;
  }

  drawing(coarser) {
    return Math.max(...this.explorer.panes.map((pane) => pane.cost(coarser)));
  }

  /** Views get so many times fewer columns and rows from now on. */
  resize(times) {
    [this.coarser, this.spent, this.views] = [this.coarser * times, this.spent / times ** 2, 0];
  }
}

function logarithm(zoom) {
  const digits = zoom.toShort(6), [mantissa, exponent = "0"] = digits.split("e");
  return Math.log(Number(mantissa)) + Number(exponent) * Math.LN10;
}
