// The way to the kernel of a notebook: the comm of a widget's model. A transport, as transport.js says.
//
// A model has several views, and each is a page: every message names its own. The kernel hears nothing while a cell
// runs, and acknowledges what it has heard; pixels are acknowledged to it, so that they do not pile up on a slow way.

const BUSY_MS = 2500; // from a message to its acknowledgement; a kernel that takes longer is busy

export class CommTransport {
  constructor(model) {
    Object.assign(this, { model, page: Math.random().toString(36).slice(2), said: 0, timer: null });
    this.onopen = this.onclose = this.ontext = this.onbytes = this.onbusy = () => {};
    this.take = (content, buffers) => content.page === this.page && this.hear(content, buffers ?? []);
  }

  start() {
    this.model.on("msg:custom", this.take);
    this.begin();
  }

  begin() {
    this.said = 0;
    this.say({ hello: true });
    this.onopen();
  }

  /** Send a text or bytes. */
  send(message) {
    if (typeof message === "string") this.say({ text: message });
    else this.say({}, [message]);
    return true;
  }

  say(content, buffers = []) {
    this.said++;
    this.timer ??= setTimeout(() => this.onbusy(), BUSY_MS);
    this.post(content, buffers);
  }

  post(content, buffers = []) {
    this.model.send({ page: this.page, ...content }, undefined, buffers);
  }

  hear({ text, heard, gone }, buffers) {
    if (heard === this.said) {
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
