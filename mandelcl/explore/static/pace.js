// Pacing of drawing: at most once per frame, and less often if a picture takes long.

const TILES_MS = 100; // the least time between pictures of newly arrived pixels
const SLOW_MS = 8; // a slower picture is drawn by the processor, which has other work, too
export const HEAVY_MS = 32; // a picture in motion that takes longer gets fewer pixels
const MOST_MS = 200; // the most that a picture counts; a hidden page would measure more

export class Pace {
  /** `draw(now)` may return a promise of a picture that is there later; the next one is drawn after that. */
  constructor(draw) {
    Object.assign(this, { draw, cost: 0, drawnAt: -Infinity, busy: false, again: false });
  }

  /** Draw in the next frame. */
  now() {
    clearTimeout(this.later);
    this.later = undefined;
    if (this.busy) this.again = true;
    else this.pending ??= requestAnimationFrame((now) => this.begin(now));
  }

  async begin(now) {
    this.pending = undefined;
    const began = performance.now();
    this.busy = true;
    try {
      await (this.draw(now) ?? new Promise((resolve) => setTimeout(resolve))); // until the browser has the picture
    } finally {
      this.busy = false;
    }
    this.note(began);
    if (this.again) this.now();
    this.again = false;
  }

  /** Draw within this many milliseconds. */
  within(wait) {
    const due = performance.now() + wait;
    if (wait <= 0) this.now();
    else if (this.later === undefined || due < this.due) {
      clearTimeout(this.later);
      [this.due, this.later] = [due, setTimeout(() => this.now(), wait)];
    }
  }

  /** Draw the next picture of an animation, leaving time for other work if pictures are slow. */
  on() {
    this.within(this.cost > SLOW_MS ? this.cost : 0);
  }

  /** Draw newly arrived pixels, a few times per second. */
  tiles() {
    this.within(this.drawnAt + Math.max(TILES_MS, 2 * this.cost) - performance.now());
  }

  /** Cancel all pending drawing. */
  halt() {
    clearTimeout(this.later);
    cancelAnimationFrame(this.pending);
    this.later = this.pending = undefined;
    this.again = false;
  }

  /** The next pictures have so many times the pixels of the last ones. */
  scale(pixels) {
    this.cost = Math.min(this.cost * pixels, MOST_MS);
  }

  note(began) {
    this.drawnAt = performance.now();
    this.cost += 0.5 * (Math.min(this.drawnAt - began, MOST_MS) - this.cost);
  }
}
