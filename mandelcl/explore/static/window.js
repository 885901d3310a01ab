// A window of a lattice's level: where its pixels lie in a view, and which of them have arrived.

import { between } from "./place.js";

const STILL = { scale: 1, x: 0, y: 0 };
const MOST_CHANGES = 500; // with more changes, everything counts as changed

/** A window of a lattice's level, on a torus: pixel (c, r) is stored at (c mod width, r mod height).
 *
 * It is aligned to tiles, and frames do not cross them, so a frame never wraps around.
 */
export class Window {
  /** For a lattice whose anchor is the first pixel of `place` in a view of `size`. */
  constructor({ place, size, level, tile, maxIterations }) {
    Object.assign(this, { place, size, level, tile, maxIterations, key: null, complete: false, filled: false });
    this.factor = 1 << level;
    const tiles = (side) => Math.ceil(side / this.factor / tile) + 1;
    [this.width, this.height] = [tiles(size[0]) * tile, tiles(size[1]) * tile];
    [this.left, this.top] = [0, 0];
    this.held = [];
    this.changes = []; // changed rectangles since the last read, in positions on the torus
  }

  change(places) {
    if (this.changes.length === MOST_CHANGES) this.changes = [[0, 0, this.width, this.height]];
    else this.changes.push(places);
  }

  /** The index at which a pixel is stored. */
  at(column, row) {
    const wrap = (value, side) => ((value % side) + side) % side;
    return [wrap(column, this.width), wrap(row, this.height)];
  }

  clipped([column, row, width, height]) {
    const left = Math.max(column, this.left), top = Math.max(row, this.top);
    const right = Math.min(column + width, this.left + this.width);
    return [left, top, right - left, Math.min(row + height, this.top + this.height) - top];
  }

  has(column, row) {
    const [, , width, height] = this.clipped([column, row, 1, 1]);
    return width > 0 && height > 0;
  }

  /** Record a rectangle as held, and join it with adjacent ones. */
  hold(rectangle) {
    let grown = rectangle;
    for (let i = 0; i < this.held.length; ) {
      const joined = join(this.held[i], grown);
      if (joined) {
        this.held.splice(i, 1);
        [grown, i] = [joined, 0];
      } else i++;
    }
    this.held.push(grown);
  }

  /** The stored positions of received pixels: rectangles. */
  heldPlaces() {
    return this.held.flatMap(([column, row, width, height]) => {
      const [x, y] = this.at(column, row);
      const wide = Math.min(width, this.width - x), high = Math.min(height, this.height - y);
      const across = [[x, wide], [0, width - wide]], down = [[y, high], [0, height - high]];
      return down.flatMap(([top, rows]) => across.map(([left, columns]) => [left, top, columns, rows])).filter((one) => one[2] > 0 && one[3] > 0);
    });
  }

  /** Whether all pixels of a view are here. The view begins at `origin`, in pixels of the lattice. */
  covers(origin, size) {
    return this.level === 0 && this.holds([...origin, ...size]);
  }

  /** Whether all pixels of a rectangle are here. */
  holds([column, row, width, height]) {
    const inside = (one) =>
      one[0] <= column && one[1] <= row && one[0] + one[2] >= column + width && one[1] + one[3] >= row + height;
    return this.held.some(inside) || area(this.held, [column, row, width, height]) === width * height;
  }

  /** Whether each pixel of a view maps to a pixel here. */
  fills({ a, b, c, d, x, y }, size) {
    const [across, down] = size.map((side) => (side - 1) / 2);
    const far = [Math.abs(a) * across + Math.abs(b) * down, Math.abs(c) * across + Math.abs(d) * down];
    const [left, top] = [x - far[0], y - far[1]].map((first) => Math.floor(first + 0.5));
    const [right, bottom] = [x + far[0], y + far[1]].map((last) => Math.floor(last + 0.5));
    return this.holds([left, top, right - left + 1, bottom - top + 1]);
  }

  /** The rectangle of a view, [x, y, width, height], outside which no pixel is here; null if it is empty. */
  edges({ a, b, c, d, x, y }, [width, height]) {
    const rights = this.held.map((one) => one[0] + one[2]), bottoms = this.held.map((one) => one[1] + one[3]);
    const columns = [Math.min(...this.held.map((one) => one[0])), Math.max(...rights)].map((column) => column - 0.5 - x);
    const rows = [Math.min(...this.held.map((one) => one[1])), Math.max(...bottoms)].map((row) => row - 0.5 - y);
    const determinant = a * d - b * c;
    const corners = columns.flatMap((u) => rows.map((v) => [(d * u - b * v) / determinant, (a * v - c * u) / determinant]));
    const [left, right] = spanned(corners.map(([at]) => at), width), [top, bottom] = spanned(corners.map(([, at]) => at), height);
    return left < right && top < bottom ? [left, top, right - left, bottom - top] : null;
  }

  /** The affine map from a view's pixels, counted from its centre, to this layer's: {a, b, c, d, x, y}, or null.
   *
   * `ease`, {scale, x, y}, is the difference between what is shown and the view during an animation.
   */
  mapFrom({ place, size, origin, ease = STILL }) {
    if (this.mapped?.place !== place || this.mapped.height !== size[1]) {
      this.mapped = { place, height: size[1], map: between(place, size[1], this.place, this.size[1]) };
    }
    const { map } = this.mapped;
    if (map === null) return null;
    const cosine = Math.cos(map.turn) * map.scale, sine = Math.sin(map.turn) * map.scale;
    const column = origin[0] + ease.x, row = origin[1] + ease.y;
    const x = map.x + cosine * column - sine * row + (this.size[0] - 1) / 2;
    const y = map.y + sine * column + cosine * row + (this.size[1] - 1) / 2;
    const a = cosine * ease.scale, c = sine * ease.scale;
    const parts = [a, -c, c, a, x, y].map((value) => value / this.factor);
    return { a: parts[0], b: parts[1], c: parts[2], d: parts[3], x: parts[4], y: parts[5] };
  }
}

/** [first, end] of the pixels of a side between positions that are counted from its middle. */
function spanned(places, side) {
  const first = Math.floor(Math.min(...places) + side / 2), end = Math.ceil(Math.max(...places) + side / 2);
  return [Math.max(0, first), Math.min(side, end)];
}

function join([c1, r1, w1, h1], [c2, r2, w2, h2]) {
  const left = Math.min(c1, c2), top = Math.min(r1, r2);
  const right = Math.max(c1 + w1, c2 + w2), bottom = Math.max(r1 + h1, r2 + h2);
  const beside = r1 === r2 && h1 === h2 && right - left <= w1 + w2;
  const below = c1 === c2 && w1 === w2 && bottom - top <= h1 + h2;
  const within = (a, b) => a[0] === left && a[1] === top && a[0] + a[2] === right && a[1] + a[3] === bottom && b;
  if (beside || below) return [left, top, right - left, bottom - top];
  const one = [c1, r1, w1, h1], other = [c2, r2, w2, h2];
  return within(one, other) ? one : within(other, one) ? other : null;
}

/** The number of a rectangle's pixels that lie in these rectangles, which overlap only where they agree. */
function area(rectangles, [column, row, width, height]) {
  const rows = new Map();
  for (const [c, r, w, h] of rectangles) {
    const left = Math.max(c, column), right = Math.min(c + w, column + width);
    for (let y = Math.max(r, row); right > left && y < Math.min(r + h, row + height); y++) {
      if (!rows.has(y)) rows.set(y, []);
      rows.get(y).push([left, right]);
    }
  }
  let sum = 0;
  for (const spans of rows.values()) {
    spans.sort((a, b) => a[0] - b[0]);
    let end = -Infinity;
    for (const [left, right] of spans) {
      sum += Math.max(0, right - Math.max(left, end));
      end = Math.max(end, right);
    }
  }
  return sum;
}
