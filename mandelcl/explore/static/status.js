// The status line below the picture: the location, the point under the pointer, and the current work.

import { element, plain } from "./dom.js";

const PROBE_MS = 120; // after this rest of the pointer, the period under it is requested

export function status(explorer, shell) {
  const part = (name, title) => element("span", { class: name, title });
  const parts = {
    place: part("place", "Centre, to an eighth of a pixel"),
    zoom: part("zoom", "Zoom: the picture is 4/zoom high; ↺ is its rotation"),
    maxIterations: part("limit", "Iteration limit; “auto”: it follows the view. Keys: i doubles it, I halves it, a makes it automatic"),
    point: part("point", "Under the pointer: n is the iteration count; inside the set, the period of the cycle"),
    how: part("how", "How it is computed: the number format, its rounding or perturbation, and the devices"),
    work: part("work", "The share of finished pixels or the time that all took, and 10⁹ iterations per second; at rest the mean number of samples of the antialiased picture"),
  };
  const bar = element("progress", { max: 1, value: 0, "aria-label": "Finished pixels" });
  const spoken = element("span", { class: "spoken", role: "status" }); // for screen readers, where the view rests
  shell.status.replaceChildren(...Object.values(parts), bar, spoken);

  explorer.on("change", () => {
    const { sight, job, auto } = explorer.state;
    const place = sight.settled();
    parts.place.textContent = `${shortened(place.re)} ${shortened(place.im, true)}`;
    parts.zoom.textContent = `×${place.zoom.toShort(3)}${place.rotation.sign ? ` ↺${place.rotation.toShort(4)}°` : ""}`;
    parts.maxIterations.textContent = `${plain(job.iterations)}${auto ? " auto" : ""}`;
  });
  explorer.on("rest", () => {
    spoken.textContent = `At rest: zoom ${parts.zoom.textContent.slice(1)}, centre ${parts.place.textContent}, ${parts.maxIterations.textContent} iterations`;
  });
  explorer.on("asked", () => {
    shell.el.dataset.state = "working";
    bar.value = 0;
  });
  explorer.on("progress", ({ pane, message }) => {
    if (pane !== explorer.panes[0]) return;
    const [width, height] = pane.target.size;
    const share = message.say === "complete" ? 1 : message.level === 0 ? message.done / (width * height) : 0;
    bar.value = share;
    const rate = message.giter_per_s ?? message.iterations_total / message.kernel_s / 1e9;
    const speed = Number.isFinite(rate) && rate > 0 ? `${rate.toPrecision(3)} Giter/s` : "";
    const reference = message.reference ? `reference ${plain(message.reference)}` : "";
    const seconds = message.say === "complete" ? `${message.seconds.toFixed(2)} s` : `${Math.floor(100 * share)} %`;
    parts.work.textContent = [reference || seconds, speed].filter(Boolean).join(" · ");
  });
  explorer.on("settled", (pane) => {
    if (pane !== explorer.panes[0]) return;
    const { number, rounding, method, devices } = pane.settled;
    const how = method === "perturbation" ? `${number} perturbation` : `${number} ${rounding}`;
    const names = devices.map((spec) => explorer.deviceNames?.get(spec) ?? spec);
    parts.how.textContent = `${how} · ${names.join(" + ")}`;
  });
  explorer.on("refined", ({ pane, samples, mean }) => {
    if (pane === explorer.panes[0] && samples !== 1) parts.work.textContent = `${mean.toFixed(1)} samples a pixel`;
  });
  explorer.on("rest", () => (shell.el.dataset.state = "rest"));
  pointed(explorer, parts.point);
  return null;
}

/** Show the count under the pointer at once, and the period when the pointer rests. */
function pointed(explorer, part) {
  let timer = null;
  const show = () => {
    clearTimeout(timer);
    part.textContent = "";
    if (!explorer.pointed) return;
    const { pane, at } = explorer.pointed;
    const known = pane.probe(at);
    if (!known || known.count === null) return;
    const inside = known.count === known.maxIterations;
    part.textContent = inside ? "inside" : `n ${plain(known.count)}`;
    if (inside) timer = setTimeout(() => ask(pane, known), PROBE_MS);
  };
  const ask = async (pane, known) => {
    const generation = pane.generation;
    const answer = await pane.client.ask({ do: "probe", pane: pane.index, at: [known.column, known.row] }).catch(() => null);
    if (!answer || generation !== pane.generation || !explorer.pointed) return;
    part.textContent = answer.period ? `inside, period ${plain(answer.period)}` : "inside";
  };
  explorer.on("point", show);
  explorer.on("progress", ({ message }) => message.say === "complete" && show());
}

/** A coordinate that fits the line: the beginning and the end of a long one. */
function shortened(value, imaginary = false) {
  const text = value.toText().includes("/") ? `${value.toNumber()}` : value.toText();
  const signed = imaginary ? `${text.startsWith("-") ? "− " : "+ "}${text.replace("-", "")} i` : text.replace("-", "−");
  return signed.length <= 26 ? signed : `${signed.slice(0, 13)}…${signed.slice(-9)}`;
}
