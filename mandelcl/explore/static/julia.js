// An inset with the Julia set of the point under the pointer, and that point's orbit.

import { element } from "./dom.js";
import { Pane } from "./pane.js";
import { Place } from "./place.js";
import { Sight } from "./journey.js";

const INSET = 3; // the number of the inset's pane
const WAIT_MS = 80;
const MOST_CAP = 2000;
const STEPS = 400; // steps of the orbit that are drawn
const HOME = { re: "0", im: "0", zoom: "1.15" };

export function julia(explorer, shell) {
  const { client } = explorer;
  const line = element("p", { class: "hint" });
  const box = element("div", { class: "inset", hidden: true, role: "img", "aria-label": "The Julia set of the point under the pointer" });
  shell.panes.after(box);
  let pane = null, timer = null, points = [];

  const look = async () => {
    timer = null;
    const { pointed, state } = explorer;
    if (!pane || !pointed) return;
    if (state.job.formula.name !== "mandelbrot") return void (line.textContent = `${state.job.formula.name} has no Julia set inset`);
    const { place, height } = state.sight;
    const [re, im] = place.centred(...state.sight.point(pointed.at.map(Math.round)), height).texts();
    const known = pointed.pane.probe(pointed.at);
    pane.ask({ iterations: Math.min(state.job.iterations, MOST_CAP), formula: { name: "julia", re, im }, devices: state.job.devices }, explorer.ready.planes);
    line.textContent = "";
    if (!known) return;
    const answer = await client.ask({ do: "orbit", pane: pointed.pane.index, at: [known.column, known.row], most: STEPS }).catch(() => null);
    if (answer) points = pairs(answer.points);
    line.textContent = !answer ? "" : answer.period ? `period ${answer.period}` : answer.escaped !== null ? `escapes at ${answer.escaped}` : "";
    if (pane) draw(pane, points);
  };
  const soon = () => (timer ??= pane ? setTimeout(look, WAIT_MS) : null);
  const toggle = () => {
    if (pane) return close();
    box.hidden = false;
    pane = new Pane({ index: INSET, client, startWorker: () => null, hooks: { ondrawn: () => draw(pane, points) } });
    box.replaceChildren(pane.el, line);
    const edge = pane.el.getBoundingClientRect();
    const size = [edge.width, edge.height].map((side) => Math.max(2, Math.round(side * devicePixelRatio)));
    pane.resize(size);
    pane.colouring = explorer.ready;
    pane.target = new Sight(Place.of(HOME), size);
    explorer.inset = pane;
    line.textContent = "move the pointer over the picture";
    return soon();
  };
  const close = () => {
    clearTimeout(timer);
    timer = null;
    box.hidden = true;
    pane.close();
    pane = explorer.inset = null;
    points = [];
  };
  for (const kind of ["frame", "settled", "complete", "progress"]) {
    client.on(kind, (message) => message.pane === INSET && pane && (kind === "frame" ? pane.take(message) : pane.hear(message)));
  }
  explorer.on("point", soon);
  explorer.on("recoloured", (ready) => pane?.recolour(ready));
  return { name: "julia", title: "Julia set and orbit of the point under the pointer", icon: "julia", label: "Julia set", key: "j", act: toggle };
}

function pairs(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const values = new Float64Array(bytes.buffer);
  return Array.from({ length: values.length / 2 }, (_, k) => [values[2 * k], values[2 * k + 1]]);
}

/** Draw an orbit over the Julia set. */
function draw(pane, points) {
  const { marks, target } = pane, { size } = target;
  marks.hidden = points.length === 0;
  const context = marks.getContext("2d"), pitch = target.place.pitch(size[1]).toNumber();
  const at = ([re, im]) => [re / pitch + size[0] / 2, -im / pitch + size[1] / 2];
  context.clearRect(0, 0, ...size);
  context.lineWidth = devicePixelRatio;
  context.strokeStyle = "rgb(255 255 255 / 70%)";
  context.beginPath();
  for (const point of points) context.lineTo(...at(point));
  context.stroke();
  context.fillStyle = "#f2b134";
  for (const point of points) context.fillRect(...at(point).map((value) => value - devicePixelRatio), 2 * devicePixelRatio, 2 * devicePixelRatio);
}
