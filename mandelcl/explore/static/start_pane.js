// A pane of the explorer, and its events.

import { Pane } from "./pane.js";
import { recolour } from "./recolour.js";

/** Add a pane. `own` are the settings in which its job differs, such as devices. */
export function addPane(explorer, shell, index, own = {}) {
  const hooks = {
    onsettled: (pane, message) => {
      pane.settled = message;
      if (pane === explorer.panes[0]) explorer.resolved(message.iterations);
      if (pane === explorer.panes[0] && explorer.ready.effects && message.degree !== explorer.ready.degree) recolour(explorer);
      for (const line of message.warnings ?? []) explorer.notify(line, "warning");
      explorer.emit("settled", pane);
    },
    onprogress: (pane, message) => explorer.emit("progress", { pane, message }),
    oncomplete: (pane) => {
      explorer.emit("progress", { pane, message: pane.finished });
      explorer.completed(pane);
    },
    onfailed: (pane, message) => {
      explorer.notify(message.why, "warning");
      explorer.emit("failed", pane);
    },
    onmoving: (pane, message, view) => {
      if (message.say === "settled" && pane === explorer.panes[0]) explorer.limitedTo(message.iterations);
      if (message.say === "failed") hooks.onfailed(pane, message);
      else explorer.motion.hear(message, view);
    },
    onrefused: (error) => explorer.notify(error.message, "warning"),
    onpainted: (pane) => explorer.emit("painted", pane),
    ondrawn: (pane, view) => explorer.emit("drawn", { pane, view }),
  };
  const pane = new Pane({ index, client: explorer.client, startWorker: explorer.startWorker, hooks });
  pane.own = own;
  explorer.panes.push(pane);
  shell.addPane(pane);
  if (explorer.state) {
    pane.colouring = explorer.ready;
    pane.target = explorer.state.sight;
  }
  return pane;
}
