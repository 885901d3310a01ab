// Exact pictures, made in a worker, or in this thread if workers are not available.

import { paint } from "./paint_worker.js";

/** Paints one frame at a time. A later request replaces a waiting one. */
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

  /** The RGBA pixels of a frame in these colours. `frame.counted()` returns a new {counts, smooth, maxIterations} each time. */
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

  /** Continue without a worker, for example if the page may not start one. */
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
