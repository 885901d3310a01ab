// An exact location, and the lattice of its pixels.

import { Ratio, parse, power10, power2 } from "./ratio.js";
import { cosineAndSine } from "./rotation.js";

// Preferred numbers (Renard's R20): twenty per decade; six steps double.
const LADDER = [100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900];
export const STEPS_TO_DOUBLE = 6;
const HALF = new Ratio(1n, 2n);
const EIGHTHS = 3; // a centre is rounded to an eighth of a pixel

/** A centre, a zoom (a view is 4/zoom high) and the counter-clockwise rotation of the plane, in degrees. */
export class Place {
  constructor(re, im, zoom, rotation = new Ratio(0n)) {
    if (zoom.sign <= 0) throw new RangeError("the zoom must be positive");
    Object.assign(this, { re, im, zoom, rotation });
  }

  static of({ re, im, zoom, rotation = "0" }) {
    return new Place(parse(`${re}`), parse(`${im}`), parse(`${zoom}`), parse(`${rotation || "0"}`));
  }

  /** The distance between pixels in a view of this height in pixels. */
  pitch(height) {
    return new Ratio(4n).over(this.zoom).over(BigInt(height));
  }

  /** The point that is some columns to the right of the centre and some rows below it. */
  point(columns, rows, height) {
    const [re, im] = this.step(columns, rows, height);
    return [this.re.plus(re), this.im.plus(im)];
  }

  /** The displacement for some columns to the right and some rows down. */
  step(columns, rows, height) {
    const pitch = this.pitch(height), x = Ratio.of(columns), y = Ratio.of(rows);
    if (this.rotation.sign === 0) return [pitch.times(x), pitch.times(y).negated()];
    const [cosine, sine] = cosineAndSine(this.rotation);
    return [pitch.times(cosine.times(x).minus(sine.times(y))), pitch.times(sine.times(x).plus(cosine.times(y))).negated()];
  }

  /** The same zoom and rotation about another centre, rounded to an eighth of a pixel, in decimals. */
  centred(re, im, height) {
    const digits = Math.max(0, -this.pitch(height).over(power2(EIGHTHS)).log10());
    return new Place(re.rounded(digits), im.rounded(digits), this.zoom, this.rotation);
  }

  /** The place moved by columns to the right and rows down. */
  moved(columns, rows, height) {
    return this.centred(...this.point(columns, rows, height), height);
  }

  /** Another zoom and rotation that keep the point at this distance from the centre, in pixels, fixed. */
  about(columns, rows, height, zoom, rotation = this.rotation) {
    const [re, im] = this.point(columns, rows, height);
    const other = new Place(re, im, zoom, rotation);
    const [right, up] = other.step(columns, rows, height);
    return other.centred(re.minus(right), im.minus(up), height);
  }

  /** The lattice of a view of this size, in the server's form. Its anchor is the view's first pixel. */
  lattice(width, height) {
    const [re, im] = this.point(HALF.times(BigInt(1 - width)), HALF.times(BigInt(1 - height)), height);
    const texts = { re: re.toText(), im: im.toText(), pitch: this.pitch(height).toText() };
    return this.rotation.sign === 0 ? texts : { ...texts, rotation: this.rotation.toText() };
  }

  /** The two parts of the centre as texts. */
  texts() {
    return [this.re.toText(), this.im.toText()];
  }

  equals(other) {
    return ["re", "im", "zoom", "rotation"].every((name) => this[name].equals(other[name]));
  }
}

/** The zoom that is `rungs` above the rung nearest to this zoom. Twenty rungs are a factor of ten. */
export function climbed(zoom, rungs) {
  const e = zoom.log10();
  const leading = zoom.over(power10(e - 2)).toNumber();
  const off = (rung) => Math.abs(Math.log(leading / (LADDER[rung] ?? 1000)));
  let nearest = 0;
  for (let rung = 1; rung <= LADDER.length; rung++) if (off(rung) < off(nearest)) nearest = rung;
  return rungAt(e, nearest + rungs);
}

function rungAt(e, rung) {
  const decades = Math.floor(rung / LADDER.length);
  return new Ratio(BigInt(LADDER[rung - decades * LADDER.length])).times(power10(e - 2 + decades));
}

/** The largest rung of the ladder that is not above a zoom. */
export function rungBelow(zoom) {
  const e = zoom.log10();
  const leading = zoom.over(power10(e - 2));
  let rung = 0;
  while (rung + 1 < LADDER.length && leading.compare(BigInt(LADDER[rung + 1])) >= 0) rung++;
  return rungAt(e, rung);
}

/** The exact place of a view in the server's form: {lattice, origin, size}. */
export function placeOf({ lattice, origin, size }) {
  const pitch = parse(lattice.pitch);
  const zoom = new Ratio(4n).over(pitch).over(BigInt(size[1]));
  const anchor = new Place(parse(lattice.re), parse(lattice.im), zoom, parse(lattice.rotation ?? "0"));
  const middle = [0, 1].map((k) => new Ratio(BigInt(2 * origin[k] + size[k] - 1), 2n));
  const [re, im] = anchor.point(...middle, size[1]).map((value) => value.reduced());
  return new Place(re, im, zoom.reduced(), anchor.rotation);
}

/** The position of one view's pixels in another: {scale, turn, x, y}, in floats.
 *
 * Pixel (i, j) from the one view's centre is scale·rotated(i, j) + (x, y) from the other's. Null if floats cannot
 * express this.
 */
export function between(place, height, other, otherHeight) {
  const scale = place.pitch(height).over(other.pitch(otherHeight)).toNumber();
  const pitch = other.pitch(otherHeight);
  const re = place.re.minus(other.re).over(pitch).toNumber();
  const im = place.im.minus(other.im).over(pitch).toNumber();
  const own = (other.rotation.toNumber() * Math.PI) / 180;
  const turn = (place.rotation.minus(other.rotation).toNumber() * Math.PI) / 180;
  const x = Math.cos(own) * re - Math.sin(own) * im;
  const y = -(Math.sin(own) * re + Math.cos(own) * im);
  return [scale, x, y].every(Number.isFinite) && scale > 0 ? { scale, turn, x, y } : null;
}
