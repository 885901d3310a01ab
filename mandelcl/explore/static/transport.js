// The connection to the server: a WebSocket that is reopened when it is lost.
//
// Any transport has `send(text or bytes)`, `close()` and `start()`, which begins. Its user sets `onopen()`,
// `onclose(why)`, `ontext(text)` and `onbytes(buffer)`. `why` says what went wrong before it was open.

import { introduce, WELCOME } from "./introduce.js";

const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 4000;
const STILL_MS = 45000; // a silent connection gets a ping after this time

export class SocketTransport {
  constructor(address, tokens) {
    Object.assign(this, { address, tokens, socket: null, open: false, wait: FIRST_WAIT_MS, closed: false, timer: null });
    this.onopen = this.onclose = this.ontext = this.onbytes = () => {};
  }

  start() {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    Object.assign(this, { socket, open: false, why: undefined });
    this.introduced(socket);
    socket.onclose = () => this.lost(socket);
    setTimeout(() => !this.open && this.giveUp(socket), STILL_MS);
    this.retry = () => {
      if (this.socket?.readyState > WebSocket.OPEN) this.again(0);
    };
    addEventListener("online", this.retry, { once: true });
  }

  /** Do the handshake on a socket. Later messages wait until it is done. */
  async introduced(socket) {
    const waiting = [], wanted = [];
    const hand = () => {
      while (wanted.length && waiting.length) wanted.shift()(waiting.shift());
    };
    socket.onmessage = ({ data }) => {
      waiting.push(data);
      hand();
    };
    const next = () => new Promise((resolve) => {
      wanted.push(resolve);
      hand();
    });
    const why = await introduce(this.tokens, next, (text) => socket.send(text));
    if (socket !== this.socket) return;
    if (why !== WELCOME) {
      this.why = why;
      socket.close();
      return;
    }
    if (this.closed || socket.readyState !== WebSocket.OPEN) return;
    Object.assign(this, { wait: FIRST_WAIT_MS, open: true, heard: performance.now() });
    this.onopen();
    socket.onmessage = ({ data }) => {
      this.heard = performance.now();
      if (typeof data === "string") this.ontext(data);
      else this.onbytes(data);
    };
    for (const data of waiting) socket.onmessage({ data });
  }

  lost(socket) {
    if (this.closed || socket !== this.socket) return;
    this.open = false;
    this.onclose(this.why);
    this.again(this.wait);
    this.wait = Math.min(2 * this.wait, MOST_WAIT_MS);
  }

  again(wait) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.start(), wait);
  }

  /** Send a message. Without a connection, the message is dropped and the result is false. */
  send(message) {
    if (!this.open || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(message);
    return true;
  }

  /** Give up a connection that has been silent for long, even after a ping. */
  expect() {
    const socket = this.socket, asked = performance.now();
    setTimeout(() => {
      if (this.heard < asked) this.giveUp(socket);
    }, STILL_MS);
  }

  giveUp(socket) {
    if (socket !== this.socket || this.closed) return;
    socket.onclose = null;
    socket.close();
    this.lost(socket);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    removeEventListener("online", this.retry);
    this.socket?.close();
  }
}
