// Shared by the page and the widget: an explorer in an element, over a given transport.

import { Client } from "./client.js";
import { Explorer } from "./explorer.js";
import { Shell } from "./shell.js";
import { attach } from "./input.js";
import { addPane } from "./start_pane.js";
import { drawMarks } from "./marks.js";
import { panels } from "./panels.js";
import { takeDrops } from "./drop.js";

/** Start an explorer in `el`. Returns a function that ends it.
 *
 * `transport` is described in transport.js. `address` has `read()`, `replace(hash)`, `push(hash)`, `listen(function)`
 * and
 * `share(hash)`. `startWorker()` returns a worker that runs paint_worker.js, or null. `downloads` says whether the
 * server
 * offers saved files. `absence(why)` returns elements that say what to do without a server, for the transport's reason.
 * `keys` is the target of key events, by default the window.
 */
export function start({ el, transport, address, startWorker = () => null, downloads = false, absence = () => null, keys = window }) {
  const client = new Client(transport);
  const explorer = new Explorer(client, address);
  Object.assign(explorer, { startWorker, downloads });
  const shell = new Shell(el, explorer);
  const end = [attach(shell, explorer, keys), takeDrops(shell.el, explorer)];
  drawMarks(explorer);
  client.on("welcome", (welcome) => {
    shell.absent(null);
    if (explorer.state) {
      explorer.ask();
      explorer.notify("the connection is back");
      return;
    }
    addPane(explorer, shell, 0);
    for (const make of panels) shell.add(make(explorer, shell));
    shell.measure();
    explorer.begin(welcome);
  });
  client.on("close", () => explorer.notify("the connection to the server was lost; trying again", "warning"));
  client.on("refused", ({ why }) => shell.absent(absence(why)));
  client.on("device-lost", ({ line }) => explorer.notify(line, "warning"));
  client.on("device-back", ({ line }) => explorer.notify(line));
  client.on("problem", (message) => message.id === undefined && explorer.notify(message.line, "warning"));
  client.on("frame", (frame) => explorer.panes.find(({ index }) => index === frame.pane)?.take(frame));
  for (const kind of ["settled", "progress", "complete", "failed"]) {
    client.on(kind, (message) => explorer.panes.find(({ index }) => index === message.pane)?.hear(message));
  }
  address.listen((hash) => explorer.state && explorer.follow(hash, "browser"));
  client.start();
  el.explorer = explorer;
  return () => {
    for (const each of end) each();
    for (const pane of explorer.panes) pane.close();
    shell.close();
    client.close();
  };
}
