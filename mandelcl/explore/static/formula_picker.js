// The formula panel: all formulas with thumbnails, and a field for any other, such as a hybrid.

import { element } from "./dom.js";
import { Place } from "./place.js";

const PREFIX = "formula:"; // of the names of their thumbnails

export function formulaPicker(explorer) {
  const { client } = explorer;
  const canvases = new Map(), wanted = new Set();
  const choose = (formula) => explorer.show({ job: { formula, number: "auto" }, place: Place.of(explorer.homeOf(formula.name)) }, "formula");
  const list = element("div", { class: "places", "aria-label": "Formulas" }, client.welcome.formulas.map(({ name, summary, parameters }) => {
    const canvas = element("canvas", { width: 160, height: 90, "aria-hidden": "true" });
    canvases.set(PREFIX + name, canvas);
    wanted.add(PREFIX + name);
    const usual = Object.fromEntries(parameters.map((parameter, k) => [parameter, JULIA[k] ?? "0"]));
    return element("button", { type: "button", title: summary, "data-formula": name, onclick: () => choose({ name, ...usual }) }, canvas, element("span", {}, name));
  }));
  client.on("thumbnail", async ({ name, png }) => {
    const canvas = canvases.get(name);
    if (!canvas) return;
    wanted.delete(name);
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    canvas.getContext("2d").drawImage(await createImageBitmap(new Blob([bytes], { type: "image/png" })), 0, 0, canvas.width, canvas.height);
  });
  const text = element("input", { type: "text", "aria-label": "Formula", placeholder: "z^5 + c", maxlength: 400, autocomplete: "off", spellcheck: "false" });
  const form = element("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    const said = await client.ask({ do: "formula", text: text.value }).catch((error) => explorer.notify(error.message, "warning"));
    if (!said) return;
    const { formula } = said;
    explorer.show({ job: { formula, number: "auto" }, place: Place.of(explorer.homeOf(formula.name)) }, "formula");
  } }, text, element("button", {}, "Draw"));
  const hint = element("p", { class: "hint" }, "Write a formula, like (|x| + i|y|)^2 + c, or a hybrid that takes turns: mandelbrot / burning-ship.");
  explorer.on("change", () => {
    for (const each of list.children) each.setAttribute("aria-pressed", String(each.dataset.formula === explorer.state.job.formula.name));
  });
  const el = element("div", {}, form, hint, list);
  return { name: "formula", title: "Formula", icon: "formula", key: "f", el, show: () => client.send({ do: "thumbnails", names: [...wanted] }) };
}

const JULIA = ["-0.8", "0.156"]; // the constant of the thumbnail's Julia set
