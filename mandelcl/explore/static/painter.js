// Exact pictures, made in a worker, or here where there can be none.

import { paint } from "./paint_worker.js";

/** Paints one frame at a time; a later request takes the place of one that waits. */
export class Painter {
  constructor(startWorker) {
    this.worker = startWorker();
    this.jobs = new Map(); // id to {resolve, frame, colouring}
    this.next = 1;
    this.sent = null; // the frame that the worker has
    if (this.worker) {
      this.worker.onmessage = ({ data }) => {
        this.jobs.get(data.id)?.resolve(data.pixels);
        this.jobs.delete(data.id);
      };
      this.worker.onerror = () => this.alone();
    }
  }

  /** The pixels of a frame in these colours: RGBA. `frame.counted()` returns its {counts, smooth, cap}, anew each time. */
  paint(frame, colouring) {
    if (!this.worker) return Promise.resolve(paint(frame.counted(), colouring));
    const id = this.next++;
    const counted = this.sent === frame ? null : frame.counted();
    this.sent = frame;
    return new Promise((resolve) => {
      this.jobs.set(id, { resolve, frame, colouring });
      this.worker.postMessage({ id, frame: counted, colouring }, counted ? [counted.counts.buffer, counted.smooth.buffer] : []);
    });
  }

  /** There is no worker after all, as where a page may not start any. */
  alone() {
    this.worker = null;
    for (const { resolve, frame, colouring } of this.jobs.values()) resolve(paint(frame.counted(), colouring));
    this.jobs.clear();
  }

  close() {
    this.worker?.terminate();
    this.jobs.clear();
  }
}
