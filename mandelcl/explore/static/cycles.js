// From counts to places in a palette's table: the same bits as mandelcl/colour/cycles.py.
//
// A count, with its smooth fraction if there is one, advances the palette by a fraction of a cycle: a binary fraction
// of 32
// or 64 bits. Its carries are whole cycles and are dropped. A 64-bit word is two 32-bit words, the low one first.

import { Ratio } from "./ratio.js";

export const CHORD_BITS = 14;
export const BEND = 8;
export const BEND_BITS = 0x41000000; // the bits of BEND as a float
export const MOST_BITS = 0x58ffffff;
export const CHORDS = ((MOST_BITS - BEND_BITS) >>> CHORD_BITS) + 1;
const UNIT_BITS = 26n;
const LEAST_CYCLES = { root4: 2 ** -20, root2: 2 ** -13, log: 2 ** -20 };
const BENDS = { root4: (value) => Math.sqrt(Math.sqrt(value)), root2: Math.sqrt, log: Math.log };
// The cycle in units of each is the fourth root's times this.
export const UNITS = { root4: 1, root2: 8, log: 1, linear: 256 };
const FRACTION_LIMIT = 2 ** 30;
const SMALL_DENOMINATOR = 1n << 16n;
const MOST_COUNTS = 1 << 16; // up to this iteration limit, places of plain counts come from a lookup table
const WORD = 2 ** 32;

/** A colouring's mapping of counts: {kind, size, …}, for a palette in the server's form. */
export function cyclesOf(palette, colouring, continuous) {
  const [transfer, length] = transferOf(palette, colouring);
  if (transfer === "linear") return linear(palette.size, length, colouring.offset, continuous);
  return bent(palette.size, transfer, length, colouring.offset);
}

/** The function that advances the palette, and the length of a cycle in its units. */
export function transferOf(palette, { cycle, transfer }) {
  const usual = palette.smooth ? "root4" : "linear";
  const chosen = transfer ?? (cycle === null ? usual : "linear");
  return [chosen, cycle ?? (palette.cycle * UNITS[chosen]) / UNITS[usual]];
}

/** A cycle with a fixed number of counts. */
export function linear(size, cycle, offset, continuous) {
  const perCount = meant(new Ratio(BigInt(size)).over(Ratio.of(cycle))).over(BigInt(size));
  const whole = ceiling(perCount.times(1n << 64n));
  const perUnit = perCount.times(1n << (64n - UNIT_BITS)).round();
  const start = startOf(size, offset) - (continuous ? whole : 0n);
  return { kind: "linear", size, perCount: words(whole), perUnit: words(perUnit), start: words(start) };
}

let kept = null; // the chords of a bend without offset; the offset is added to their starts

/** A cycle of a bend of BEND + count, such as its fourth root. */
export function bent(size, transfer, cycle, offset) {
  if (kept?.transfer !== transfer || kept.cycle !== cycle) kept = { transfer, cycle, chords: bend(transfer, cycle) };
  return { kind: "rooted", size, ...kept.chords, offset: Number((startOf(size, offset) >> 32n) & 0xffffffffn) };
}

function bend(transfer, cycle) {
  const bits = new Uint32Array(CHORDS + 1).map((_, k) => BEND_BITS + k * (1 << CHORD_BITS));
  const ends = new Float32Array(bits.buffer);
  const of = BENDS[transfer], first = of(ends[0]), scale = WORD / Math.max(cycle, LEAST_CYCLES[transfer]);
  const advanced = Array.from(ends, (end) => BigInt(Math.trunc((of(end) - first) * scale)));
  const starts = new Uint32Array(CHORDS), rises = new Uint32Array(CHORDS);
  for (let k = 0; k < CHORDS; k++) {
    starts[k] = Number(BigInt.asUintN(32, advanced[k]));
    rises[k] = Number(BigInt.asUintN(32, (advanced[k + 1] - advanced[k]) >> BigInt(CHORD_BITS)));
  }
  return { starts, rises };
}

/** The place in the table of each pixel. The last one, `size`, is for the inside. */
export function placesOf(cycles, maxIterations, counts, smooth) {
  const places = new Uint16Array(counts.length);
  if (smooth === null && maxIterations <= MOST_COUNTS) {
    const plain = Uint32Array.from({ length: maxIterations + 1 }, (_, count) => count);
    const table = place(cycles, plain, null, new Uint16Array(maxIterations + 1));
    table[maxIterations] = cycles.size;
    for (let i = 0; i < places.length; i++) places[i] = table[Math.min(counts[i], maxIterations)];
    return places;
  }
  place(cycles, counts, smooth, places);
  for (let i = 0; i < places.length; i++) if (counts[i] === maxIterations) places[i] = cycles.size;
  return places;
}

function place(cycles, counts, smooth, places) {
  const by = cycles.kind === "rooted" ? placeRooted : placeLinear;
  return by(cycles, counts, smooth, places);
}

function placeRooted({ size, starts, rises, offset }, counts, smooth, places) {
  const real = new Float32Array(1), bits = new Uint32Array(real.buffer);
  const mask = (1 << CHORD_BITS) - 1;
  for (let i = 0; i < places.length; i++) {
    const added = smooth === null ? BEND : Math.fround(smooth[i] + (BEND - 1));
    real[0] = Math.max(Math.fround(Math.fround(counts[i]) + added), BEND);
    const above = Math.min(bits[0], MOST_BITS) - BEND_BITS;
    const chord = above >>> CHORD_BITS;
    const advanced = (Math.imul(above & mask, rises[chord]) + starts[chord] + offset) >>> 0;
    places[i] = (advanced * size) / WORD; // exact: both are below 2^32, their product below 2^53
  }
  return places;
}

function placeLinear({ size, perCount, perUnit, start }, counts, smooth, places) {
  const [count0, count1] = perCount, [unit0, unit1] = perUnit, [start0, start1] = start;
  for (let i = 0; i < places.length; i++) {
    const count = counts[i] >>> 0, above = Math.floor(counts[i] / WORD);
    let low = (Math.imul(count, count0) >>> 0) + start0;
    let high = highWord(count, count0) + (Math.imul(count, count1) >>> 0) + (Math.imul(above, count0) >>> 0) + start1;
    if (smooth !== null) {
      const fraction = Math.min(Math.max(smooth[i], -FRACTION_LIMIT), FRACTION_LIMIT);
      const units = Math.trunc(fraction * 2 ** 26), upper = Math.floor(units / WORD); // below 2^57, of 24 bits: exact
      const lower = (units - upper * WORD) >>> 0;
      low += Math.imul(lower, unit0) >>> 0;
      high += highWord(lower, unit0) + (Math.imul(lower, unit1) >>> 0) + (Math.imul(upper, unit0) >>> 0);
    }
    const carried = low < WORD ? 0 : low < 2 * WORD ? 1 : 2;
    places[i] = (((high + carried) >>> 0) * size + Math.floor(((low >>> 0) * size) / WORD)) / WORD;
  }
  return places;
}

/** The high word of a product of two words. */
function highWord(a, b) {
  const al = a & 0xffff, ah = a >>> 16, bl = b & 0xffff, bh = b >>> 16;
  const one = (ah * bl + ((al * bl) >>> 16)) >>> 0, other = (al * bh + (one & 0xffff)) >>> 0; // each below 2^32
  return ah * bh + (one >>> 16) + (other >>> 16);
}

/** An offset in 2^−64 of a cycle. */
function startOf(size, offset) {
  const advanced = Ratio.of(offset).times(BigInt(size));
  return BigInt.asUintN(64, ceiling(meant(advanced).over(BigInt(size)).times(1n << 64n)));
}

/** The simple fraction that a float probably stands for, such as 10 for 16/1.6, or the value itself. */
function meant(value) {
  const exact = value.reduced(), simple = limited(exact);
  const off = simple.minus(exact);
  const error = (exact.sign < 0 ? exact.negated() : exact).over(1n << 52n);
  return (off.sign < 0 ? off.negated() : off).compare(error) <= 0 ? simple : exact;
}

/** The nearest fraction with a denominator up to SMALL_DENOMINATOR, as Python's Fraction.limit_denominator. */
function limited(value) {
  if (value.den <= SMALL_DENOMINATOR) return value;
  let [p0, q0, p1, q1] = [0n, 1n, 1n, 0n];
  let n = value.num, d = value.den;
  for (;;) {
    const a = new Ratio(n, d).floor(), q2 = q0 + a * q1;
    if (q2 > SMALL_DENOMINATOR) break;
    [p0, q0, p1, q1] = [p1, q1, p0 + a * p1, q2];
    [n, d] = [d, n - a * d];
  }
  const k = (SMALL_DENOMINATOR - q0) / q1;
  const nearer = 2n * d * (q0 + k * q1) <= value.den;
  return nearer ? new Ratio(p1, q1) : new Ratio(p0 + k * p1, q0 + k * q1);
}

function ceiling(value) {
  return -value.negated().floor();
}

function words(value) {
  const wrapped = BigInt.asUintN(64, value);
  return [Number(wrapped & 0xffffffffn), Number(wrapped >> 32n)];
}
