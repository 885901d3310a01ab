// The standalone page: a WebSocket to its server, and the browser's address bar.

import { SocketTransport } from "./transport.js";
import { Tokens } from "./tokens.js";
import { absence } from "./absence.js";
import { start } from "./start.js";

const TOKEN = /^#token=([\w-]*)&?/;

/** Take the token out of the address, where it must not stay. Returns it, or undefined. */
function takeToken() {
  const found = TOKEN.exec(location.hash);
  if (found) history.replaceState(history.state, "", location.pathname + location.hash.replace(TOKEN, "#"));
  return found?.[1];
}

const tokens = new Tokens(takeToken(), location.origin);
/** Follow an address that was pasted over this one and may have a newer token. */
function arrive(follow) {
  tokens.run = takeToken() || tokens.run;
  follow(location.hash);
}
const address = {
  read: () => location.hash,
  replace: (hash) => location.hash !== hash && history.replaceState(null, "", hash),
  push: (hash) => location.hash !== hash && history.pushState(null, "", hash),
  listen: (follow) => addEventListener("popstate", () => arrive(follow)),
  share: (hash) => `${location.origin}/${tokens.run ? hash.replace("#", `#token=${tokens.run}&`) : hash}`,
};
const secure = location.protocol === "https:" ? "wss" : "ws";

start({
  el: document.getElementById("explorer"),
  transport: new SocketTransport(`${secure}://${location.host}/socket`, tokens),
  address,
  startWorker: () => new Worker(new URL("paint_worker.js", import.meta.url), { type: "module" }),
  downloads: true,
  absence: (why) => absence(why, `${location.origin}/${location.hash}`),
});
