// A notice where nothing is to be seen: all points reach the iteration limit.

import { element, plain } from "./dom.js";
import { maxIterations } from "./moves.js";

const DARK = 0.98; // of all pixels
const STEP = 8; // by which the button raises the limit

export function dark(explorer, shell) {
  const text = element("p", {});
  const raise = element("button", { type: "button", "data-raise": true, onclick: () => maxIterations(explorer, STEP * explorer.state.job.iterations) }, "Raise the limit");
  const back = element("button", { type: "button", onclick: () => explorer.back() }, "Back");
  const notice = element("section", { class: "notice", role: "status", hidden: true }, text, element("div", { class: "buttons" }, raise, back));
  shell.el.append(notice);
  explorer.on("rest", () => {
    const { inside } = explorer.panes[0].finished, [width, height] = explorer.size, { iterations } = explorer.state.job;
    notice.hidden = inside < DARK * width * height;
    if (notice.hidden) return;
    text.textContent = `Nothing is to be seen: the points reach the limit of ${plain(iterations)} iterations. They are inside the set, or need a higher limit.`;
    raise.disabled = iterations >= explorer.client.welcome.limits.iterations;
    back.disabled = explorer.journey.entries.length === 0;
  });
  explorer.on("asked", () => (notice.hidden = true));
  return null;
}
