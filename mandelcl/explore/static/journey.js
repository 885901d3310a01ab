// Navigation: exact steps from view to view, and the history.

import { Ratio, parse } from "./ratio.js";
import { Place, climbed, rungBelow } from "./place.js";

const MOST_ENTRIES = 10000;
const DIGITS = 3; // of the zoom after a pinch or a box
const BURST_MS = 400; // gestures of one kind that follow each other within this time are undone together

/** A view: its place, its offset from there in whole pixels, and its size. */
export class Sight {
  constructor(place, size, origin = [0, 0]) {
    Object.assign(this, { place, size, origin });
  }

  get height() {
    return this.size[1];
  }

  /** This view, moved by whole pixels on the same lattice. */
  panned(columns, rows) {
    return new Sight(this.place, this.size, [this.origin[0] + columns, this.origin[1] + rows]);
  }

  /** The place at its centre, with short numbers. */
  settled() {
    const [columns, rows] = this.origin;
    return columns === 0 && rows === 0 ? this.place : this.place.moved(columns, rows, this.height);
  }

  /** The position of a point of the canvas, in pixels from the centre of the place. */
  from([x, y]) {
    const column = Ratio.of(x).minus(new Ratio(BigInt(this.size[0] - 1), 2n)).plus(Ratio.of(this.origin[0]));
    return [column, Ratio.of(y).minus(new Ratio(BigInt(this.size[1] - 1), 2n)).plus(Ratio.of(this.origin[1]))];
  }

  /** The exact point under a point of the canvas. */
  point(at) {
    return this.place.point(...this.from(at), this.height);
  }

  /** This view, zoomed or rotated about a point of the canvas, which stays fixed. */
  about(at, zoom, rotation = this.place.rotation) {
    const [column, row] = this.from(at);
    const pan = this.origin.map((value) => Ratio.of(value));
    const [re, im] = this.place.point(...pan, this.height);
    const place = new Place(re, im, this.place.zoom, this.place.rotation).about(column.minus(pan[0]), row.minus(pan[1]), this.height, zoom, rotation);
    return new Sight(place, this.size);
  }

  climbed(at, rungs) {
    return this.about(at, climbed(this.place.zoom, rungs));
  }

  /** This view, scaled by a float about a moving point. */
  pinched(from, to, scale, degrees) {
    const zoom = parse(this.place.zoom.times(Ratio.of(scale)).toShort(DIGITS));
    const rotation = this.place.rotation.plus(Ratio.of(Math.round(degrees * 10)).over(10n));
    const near = this.about(from, zoom, normalised(rotation));
    return near.panned(Math.round(from[0] - to[0]), Math.round(from[1] - to[1]));
  }

  turned(degrees) {
    const middle = [(this.size[0] - 1) / 2, (this.size[1] - 1) / 2];
    return this.about(middle, this.place.zoom, normalised(this.place.rotation.plus(Ratio.of(degrees))));
  }

  /** The view into which a box of the canvas just fits. */
  boxed([x1, y1], [x2, y2]) {
    const [width, height] = [Math.max(2, Math.abs(x2 - x1)), Math.max(2, Math.abs(y2 - y1))];
    const factor = Math.min(this.size[0] / width, this.size[1] / height);
    const [re, im] = this.point([(x1 + x2) / 2, (y1 + y2) / 2]);
    const zoom = rungBelow(this.place.zoom.times(Ratio.of(factor)));
    return new Sight(new Place(re, im, zoom, this.place.rotation).centred(re, im, this.height), this.size);
  }
}

/** Degrees from above −180 to 180. */
function normalised(rotation) {
  const turns = rotation.plus(180n).over(360n).floor();
  const rest = rotation.minus(360n * turns);
  return rest.equals(-180n) ? new Ratio(180n) : rest;
}

/** The page's own history of addresses; the last one is the current one. */
export class Journey {
  constructor() {
    Object.assign(this, { entries: [], kind: "", at: -Infinity });
  }

  /** Before a gesture of a kind: record where it begins, unless it continues the last gesture. */
  leave(address, kind, now) {
    const continued = kind !== "" && kind === this.kind && now - this.at < BURST_MS;
    Object.assign(this, { kind, at: now });
    if (continued || this.entries.at(-1) === address) return;
    this.entries.push(address);
    if (this.entries.length > MOST_ENTRIES) this.entries.shift();
  }

  /** The address to go back to, or undefined. */
  back() {
    this.kind = "";
    return this.entries.pop();
  }
}
