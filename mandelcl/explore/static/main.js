// The page by itself: a WebSocket to its server, and the browser's address bar.

import { SocketTransport } from "./transport.js";
import { start } from "./start.js";

const TOKEN = "mandelcl-token";

/** The token from the address, which is not to stay there, or from earlier. */
function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  if (given === null) return sessionStorage.getItem(TOKEN) ?? "";
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(history.state, "", location.pathname + location.hash);
  return given;
}

const token = takeToken();
const address = {
  read: () => location.hash,
  replace: (hash) => location.hash !== hash && history.replaceState(null, "", hash),
  push: (hash) => location.hash !== hash && history.pushState(null, "", hash),
  listen: (follow) => addEventListener("popstate", () => follow(location.hash)),
  share: (hash) => new URL(hash, location.href).href,
};
const secure = location.protocol === "https:" ? "wss" : "ws";
const transport = new SocketTransport(`${secure}://${location.host}/socket?token=${encodeURIComponent(token)}`);

start({
  el: document.getElementById("explorer"),
  transport,
  address,
  startWorker: () => new Worker(new URL("paint_worker.js", import.meta.url), { type: "module" }),
  download: (path) => `${path}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}`,
});
