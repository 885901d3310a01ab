// The received pixels of one lattice and level, in the surroundings of a view.

import { countWords, wordsOf } from "./frames.js";
import { Window } from "./window.js";

const NONE = 0xffffffff; // the highest word of a pixel that has not arrived: no count has it
const WORD = 2 ** 32;

/** The words of a window's pixels: counts, smooth fractions and those of other planes. */
export class Layer extends Window {
  constructor({ planes, ...window }) {
    super(window);
    this.wide = countWords(this.maxIterations).length > 1;
    const names = ["counts", ...wordsOf(["smooth", ...planes]), ...(this.wide ? ["high"] : [])];
    this.words = Object.fromEntries(names.map((name) => [name, new Uint32Array(this.width * this.height)]));
    this.highest = (this.words.high ?? this.words.counts).fill(NONE);
    this.smooth = new Float32Array(this.words.smooth.buffer);
  }

  get bytes() {
    return 4 * this.highest.length * Object.keys(this.words).length;
  }

  /** Whether the pixel at a place of the words has arrived. */
  known(place) {
    return this.highest[place] !== NONE;
  }

  /** The count at a place of the words. */
  count(place) {
    const { counts, high } = this.words;
    return this.wide ? high[place] * WORD + counts[place] : counts[place];
  }

  /** Copy the counts from `start` on, one row's, to a place in an array of counts of this layer's width. */
  copyCounts(start, length, into, to) {
    if (this.wide) for (let i = 0; i < length; i++) into[to + i] = this.count(start + i);
    else into.set(this.words.counts.subarray(start, start + length), to);
  }

  /** Move the window so that it contains a view from `origin`, in pixels of the lattice. */
  moveTo([column, row]) {
    const aligned = (at) => Math.floor(at / this.factor / this.tile) * this.tile;
    const left = aligned(column), top = aligned(row);
    if (left === this.left && top === this.top) return;
    const old = { left: this.left, top: this.top };
    [this.left, this.top] = [left, top];
    for (let r = top; r < top + this.height; r += this.tile) {
      for (let c = left; c < left + this.width; c += this.tile) {
        const kept = c >= old.left && c < old.left + this.width && r >= old.top && r < old.top + this.height;
        if (!kept) this.clear(c, r);
      }
    }
    this.held = this.held.map((one) => this.clipped(one)).filter((one) => one[2] > 0 && one[3] > 0);
  }

  clear(column, row) {
    const [x, y] = this.at(column, row);
    for (let r = y; r < y + this.tile; r++) this.highest.fill(NONE, r * this.width + x, r * this.width + x + this.tile);
    this.change([x, y, this.tile, this.tile]);
  }

  /** Store a frame; false if it lies outside the window. */
  take(frame) {
    if (!this.has(frame.column, frame.row)) return false;
    const [x, y] = this.at(frame.column, frame.row);
    for (let r = 0; r < frame.height; r++) {
      const from = r * frame.width, to = (y + r) * this.width + x;
      for (const name in this.words) {
        if (frame.words[name]) this.words[name].set(frame.words[name].subarray(from, from + frame.width), to);
      }
    }
    this.change([x, y, frame.width, frame.height]);
    this.filled = true;
    this.hold([frame.column, frame.row, frame.width, frame.height]);
    return true;
  }

  /** [count, smooth fraction] of a pixel, or null. */
  pixel(column, row) {
    if (!this.has(column, row)) return null;
    const [x, y] = this.at(column, row), place = y * this.width + x;
    return this.known(place) ? [this.count(place), this.smooth[place]] : null;
  }
}
