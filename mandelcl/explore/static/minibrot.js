// Go to the minibrot in a box: the user draws the box, the server searches, and the view moves there.

import { Place } from "./place.js";

/** The tool. The first press waits for a box; the second press searches the whole view. */
export function minibrot(explorer) {
  const act = () => {
    if (explorer.search) return stop(explorer);
    if (explorer.armed) return seek(explorer, [0, 0], explorer.size);
    explorer.armed = (from, to) => seek(explorer, from, to);
    return explorer.notify("draw a box around a minibrot, or press m again to search the whole view");
  };
  explorer.on("escape", () => {
    explorer.armed = null;
    if (explorer.search) stop(explorer);
  });
  return { name: "minibrot", title: "To the minibrot in a box", icon: "minibrot", label: "Minibrot", key: "m", act };
}

function stop(explorer) {
  explorer.client.stop(explorer.search);
}

/** Search for the largest minibrot in a box of the canvas, and go there. */
async function seek(explorer, from, to) {
  explorer.armed = null;
  const pane = explorer.panes[0];
  const corners = [from, to].map((at) => pane.probe(at));
  const [left, top] = ["column", "row"].map((name) => Math.min(...corners.map((corner) => corner[name])));
  const [width, height] = ["column", "row"].map((name) => Math.abs(corners[0][name] - corners[1][name]) || 1);
  const search = explorer.client.ask({ do: "nucleus", pane: pane.index, box: [left, top, width, height] }, ({ phase, done, most }) =>
    explorer.notify(`searching for a minibrot: ${phase}, ${done} of ${most}`));
  explorer.search = search;
  try {
    const found = await search;
    if (found.say !== "nucleus") return explorer.notify("the search was stopped");
    const { re, im, zoom, iterations, period } = found;
    explorer.show({ place: Place.of({ re, im, zoom }), job: { iterations: Math.max(iterations, explorer.state.job.iterations) } }, "minibrot");
    explorer.notify(`found a minibrot of period ${period}`);
  } catch (error) {
    explorer.notify(error.message, "warning");
  } finally {
    explorer.search = null;
  }
  return undefined;
}
