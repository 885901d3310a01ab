// The connection to a notebook's kernel: the comm of a widget's model. A transport, as described in transport.js.
//
// A model has several views. Each is a page, and every message names its page. The kernel receives nothing while a cell
// runs, and acknowledges what it has received. The page acknowledges pixels, so that they do not pile up on a slow
// link.

const BUSY_MS = 2500; // time limit for an acknowledgement; a kernel that takes longer is busy

export class CommTransport {
  constructor(model) {
    Object.assign(this, { model, page: Math.random().toString(36).slice(2), sent: 0, timer: null });
    this.onopen = this.onclose = this.ontext = this.onbytes = this.onbusy = () => {};
    this.take = (content, buffers) => content.page === this.page && this.hear(content, buffers ?? []);
  }

  start() {
    this.model.on("msg:custom", this.take);
    this.begin();
  }

  begin() {
    this.sent = 0;
    this.deliver({ hello: true });
    this.onopen();
  }

  /** Send a text or bytes. */
  send(message) {
    if (typeof message === "string") this.deliver({ text: message });
    else this.deliver({}, [message]);
    return true;
  }

  deliver(content, buffers = []) {
    this.sent++;
    this.timer ??= setTimeout(() => this.onbusy(), BUSY_MS);
    this.post(content, buffers);
  }

  post(content, buffers = []) {
    this.model.send({ page: this.page, ...content }, undefined, buffers);
  }

  hear({ text, heard, gone }, buffers) {
    if (heard === this.sent) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    if (gone) {
      this.onclose();
      this.begin();
    }
    if (text !== undefined) this.ontext(text);
    for (const { buffer, byteOffset, byteLength } of buffers) {
      this.onbytes(buffer.slice(byteOffset, byteOffset + byteLength));
      this.post({ taken: byteLength });
    }
  }

  close() {
    clearTimeout(this.timer);
    this.model.off("msg:custom", this.take);
    this.post({ bye: true });
  }
}
