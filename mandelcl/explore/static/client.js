// The page's messages to and from the server: requests with answers, and listeners for other messages.

import { parseFrame, pieces } from "./frames.js";

const PING_MS = 15000;

export class Client {
  constructor(transport) {
    Object.assign(this, { transport, connected: false, welcome: null, next: 1 });
    this.waiting = new Map(); // id to {resolve, reject, onprogress}
    this.listeners = new Map(); // kind of message to its functions
    transport.onopen = () => this.emit("open", {});
    transport.onclose = (why) => this.lose(why);
    transport.ontext = (text) => this.hear(JSON.parse(text));
    transport.onbytes = (buffer) => {
      const frame = parseFrame(buffer);
      if (frame) this.emit("frame", frame);
    };
    this.pulse = setInterval(() => this.connected && this.ask({ do: "ping" }).catch(() => {}), PING_MS);
  }

  start() {
    this.transport.start();
  }

  close() {
    clearInterval(this.pulse);
    this.transport.close();
  }

  /** Call a function with each message of a kind. "open", "close", "refused" and "frame" are kinds, too. */
  on(kind, listener) {
    if (!this.listeners.has(kind)) this.listeners.set(kind, new Set());
    this.listeners.get(kind).add(listener);
    return () => this.listeners.get(kind).delete(listener);
  }

  emit(kind, message) {
    for (const listener of this.listeners.get(kind) ?? []) listener(message);
  }

  /** Send a message; return false without a connection. */
  send(message) {
    return this.transport.send(JSON.stringify(message));
  }

  /** Send a request. `answer.id` stops it. The promise is rejected with the server's line if the server refuses. */
  ask(message, onprogress = () => {}) {
    const id = this.next++, most = this.welcome?.limits?.message ?? Infinity;
    const answer = new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onprogress });
      if (JSON.stringify(message).length > most) this.settle(id, "reject", new Error("the request is larger than the server accepts"));
      else if (this.send({ ...message, id })) {
        if (message.do === "ping") this.transport.expect?.();
      } else this.settle(id, "reject", new Error("there is no connection to the server"));
    });
    answer.id = id;
    return answer;
  }

  stop(answer) {
    this.send({ do: "stop", id: answer.id });
  }

  /** Send a file. The answer is its job. */
  upload(name, bytes) {
    const answer = this.ask({ do: "open", name, size: bytes.length });
    for (const piece of pieces(answer.id, bytes)) this.transport.send(piece);
    return answer;
  }

  hear(message) {
    if (message.say === "welcome") {
      this.welcome = message;
      this.connected = true;
    }
    const asked = this.waiting.get(message.id);
    if (asked && (message.say === "saving" || message.say === "searching")) asked.onprogress(message);
    else if (asked && message.say === "problem") this.settle(message.id, "reject", new Error(message.line));
    else if (asked) this.settle(message.id, "resolve", message);
    this.emit(message.say, message);
  }

  settle(id, how, value) {
    this.waiting.get(id)?.[how](value);
    this.waiting.delete(id);
  }

  lose(why) {
    const was = this.connected;
    this.connected = false;
    for (const id of [...this.waiting.keys()]) this.settle(id, "reject", new Error("the connection was lost"));
    this.emit(was ? "close" : "refused", { why });
  }
}
