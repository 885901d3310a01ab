// The way to the server: a WebSocket that is opened again when it is lost.
//
// Any transport has `send(text or bytes)`, `close()` and, set by who takes it, `onopen()`, `onclose()`, `ontext(text)`
// and `onbytes(buffer)`; `start()` begins.

const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 4000;
const STILL_MS = 45000; // a connection is asked for a sign of life after so long

export class SocketTransport {
  constructor(address) {
    Object.assign(this, { address, socket: null, wait: FIRST_WAIT_MS, closed: false, timer: null });
    this.onopen = this.onclose = this.ontext = this.onbytes = () => {};
  }

  start() {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.heard = performance.now();
      this.onopen();
    };
    socket.onmessage = ({ data }) => {
      this.heard = performance.now();
      if (typeof data === "string") this.ontext(data);
      else this.onbytes(data);
    };
    socket.onclose = () => this.lost(socket);
    this.retry = () => {
      if (this.socket?.readyState > WebSocket.OPEN) this.again(0);
    };
    addEventListener("online", this.retry, { once: true });
  }

  lost(socket) {
    if (this.closed || socket !== this.socket) return;
    this.onclose();
    this.again(this.wait);
    this.wait = Math.min(2 * this.wait, MOST_WAIT_MS);
  }

  again(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.start(), wait);
  }

  /** Send a message; false while there is no connection, and the message is lost. */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(message);
    return true;
  }

  /** Give up a connection on which nothing has been heard for long, though it was asked to answer. */
  expect() {
    const socket = this.socket, asked = performance.now();
    setTimeout(() => {
      if (socket !== this.socket || this.heard >= asked || this.closed) return;
      socket.onclose = null;
      socket.close();
      this.lost(socket);
    }, STILL_MS);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    removeEventListener("online", this.retry);
    this.socket?.close();
  }
}
