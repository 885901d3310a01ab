// When a pane is drawn: at most once a frame, and less often where a picture takes long.

const TILES_MS = 100; // between pictures of what has come meanwhile, at least
const SLOW_MS = 8; // a picture that takes longer is drawn by the processor, which has something else to do, too
const MOST_MS = 200; // that a picture is taken to cost, as where a page was out of sight

export class Pace {
  constructor(draw) {
    Object.assign(this, { draw, cost: 0, drawnAt: -Infinity });
  }

  /** Draw with the next frame. */
  now() {
    clearTimeout(this.later);
    this.later = undefined;
    this.pending ??= requestAnimationFrame((now) => {
      this.pending = undefined;
      const began = performance.now();
      this.draw(now);
      this.drawnAt = performance.now();
      setTimeout(() => this.note(began)); // once the browser has the picture, for which this thread may have to wait
    });
  }

  /** Draw after so many milliseconds, if not sooner. */
  within(wait) {
    const due = performance.now() + wait;
    if (wait <= 0) this.now();
    else if (this.later === undefined || due < this.due) {
      clearTimeout(this.later);
      [this.due, this.later] = [due, setTimeout(() => this.now(), wait)];
    }
  }

  /** Draw the next picture of a motion, with time for something else where each takes long. */
  on() {
    this.within(this.cost > SLOW_MS ? this.cost : 0);
  }

  /** Draw what has come, a few times a second. */
  tiles() {
    this.within(this.drawnAt + Math.max(TILES_MS, 2 * this.cost) - performance.now());
  }

  /** Draw nothing that was to be drawn. */
  halt() {
    clearTimeout(this.later);
    cancelAnimationFrame(this.pending);
    this.later = this.pending = undefined;
  }

  note(began) {
    this.drawnAt = performance.now();
    this.cost += 0.5 * (Math.min(this.drawnAt - began, MOST_MS) - this.cost);
  }
}
