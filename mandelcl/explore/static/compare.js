// Two panes side by side, each with its own device or number format. Pixels with different counts are red, and counted.

import { compose } from "./compose.js";
import { element, plain, row } from "./dom.js";
import { addPane } from "./start_pane.js";

const SECOND = 1; // the number of the second pane
const WAIT_MS = 250;

export function compare(explorer, shell) {
  const { client } = explorer;
  const verdict = element("p", { class: "verdict", role: "status" }, "");
  const captions = [element("div", { class: "caption" }), element("div", { class: "caption" })];
  const sides = ["Left", "Right"].map((side, k) => ({
    device: element("select", { "aria-label": `${side}: device`, onchange: () => ask(k) }),
    number: element("input", { type: "text", list: "numbers", value: "auto", autocomplete: "off", "aria-label": `${side}: number`, onchange: () => ask(k) }),
  }));
  let on = false, timer = null;

  const ask = (k) => {
    const pane = explorer.panes[k];
    if (!on || !pane) return;
    const { device, number } = sides[k];
    pane.own = { ...(device.value ? { devices: [device.value] } : {}), ...(number.value && number.value !== "auto" ? { number: number.value } : {}) };
    pane.move();
    explorer.schedule(0);
  };
  const open = () => {
    on = true;
    shell.el.classList.add("comparing");
    addPane(explorer, shell, SECOND);
    explorer.panes.slice(0, 2).forEach((pane, k) => pane.el.append(captions[k]));
    client.send({ do: "devices" });
    [0, 1].forEach(ask);
  };
  const close = () => {
    on = false;
    shell.el.classList.remove("comparing");
    clearTimeout(timer);
    for (const pane of explorer.panes.filter(({ index }) => index === SECOND)) pane.close();
    explorer.panes = explorer.panes.filter(({ index }) => index !== SECOND);
    explorer.panes[0].own = {};
    captions.forEach((caption) => caption.remove());
    explorer.emit("difference", null);
    shell.measure();
    explorer.panes[0].move();
    explorer.schedule(0);
  };
  const look = () => {
    timer = null;
    const [left, right] = explorer.panes;
    if (!on || !right?.layers.fine || !left.layers.fine) return;
    const found = difference(left, right, explorer.state.sight);
    const whole = found.compared === left.target.size[0] * left.target.size[1];
    verdict.textContent = `${plain(found.differ)} of ${plain(found.compared)} pixels differ${whole ? "" : " so far"}`;
    captions[1].dataset.verdict = verdict.textContent;
    [left, right].forEach((pane, k) => (captions[k].textContent = caption(explorer, pane) + (k ? ` · ${verdict.textContent}` : "")));
    explorer.emit("difference", { pane: right, ...found });
  };
  const soon = () => (timer ??= on ? setTimeout(look, WAIT_MS) : null);
  explorer.on("progress", soon);
  explorer.on("settled", soon);
  explorer.on("asked", () => explorer.emit("difference", null));
  explorer.on("devices", (known) => {
    for (const { device } of sides) {
      const before = device.value;
      device.replaceChildren(element("option", { value: "" }, "the fastest"), ...known.map(({ spec, name }) => element("option", { value: spec }, `${spec} ${name}`)));
      device.value = before;
    }
  });
  const el = element(
    "div", {}, verdict, element("h3", {}, "Left"), row("Device", sides[0].device), row("Number", sides[0].number),
    element("h3", {}, "Right"), row("Device", sides[1].device), row("Number", sides[1].number),
    element("p", { class: "hint" }, "Both panes show the same pixels. Red pixels have a different count on the right. `mandelcl compare` compares two files in the same way."),
  );
  return { name: "compare", title: "Compare", icon: "compare", key: "x", el, show: open, hide: close };
}

function caption(explorer, { settled }) {
  if (!settled) return "";
  const names = settled.devices.map((spec) => explorer.deviceNames?.get(spec) ?? spec);
  return `${names.join(" + ")}, ${settled.number}${settled.method === "perturbation" ? " perturbation" : ` ${settled.rounding}`}`;
}

/** {differ, compared, marks}: of the pixels that both have, how many differ; and RGBA with these in red. */
function difference(left, right, sight) {
  const [one, other] = [left, right].map((pane) => compose([pane.layers.fine], sight, pane.layers.fine.maxIterations));
  const marks = new Uint8ClampedArray(4 * one.counts.length);
  let differ = 0, compared = 0;
  for (let i = 0; i < one.counts.length; i++) {
    if (!one.found[i] || !other.found[i]) continue;
    compared++;
    if (one.counts[i] === other.counts[i]) continue;
    differ++;
    marks[4 * i] = marks[4 * i + 3] = 255;
  }
  return { differ, compared, marks };
}
