// The effects in the colours panel: each can be switched on and adjusted.

import { element, row } from "./dom.js";
import { EFFECTS, changed } from "./effects.js";

export function effectsPanel(explorer) {
  const groups = Object.entries(EFFECTS).map(([name, effect]) => group(explorer, name, effect));
  explorer.on("change", () => groups.forEach(({ show }) => show(explorer.state.colouring.effects)));
  return groups.map(({ el }) => el);
}

function group(explorer, name, { title, parts }) {
  const own = element("input", { type: "checkbox", "aria-label": title, "data-effect": name, onchange: () => change() });
  const controls = parts.map(({ label, colour, least, most, step, usual }) => {
    const kind = colour ? { type: "color" } : { type: "range", min: least, max: most, step };
    return element("input", { ...kind, value: usual, "aria-label": `${title}: ${label}`, oninput: () => change() });
  });
  let values = parts.map(({ usual }) => usual);
  const change = () => {
    values = controls.map((control, k) => (parts[k].colour ? control.value : Number(control.value)));
    explorer.show({ colouring: { effects: changed(explorer.state.colouring, name, own.checked ? values : null) } }, "colour");
  };
  const show = (effects) => {
    const given = effects?.[name];
    own.checked = Boolean(given);
    // A value outside a slider's range, from a file or a link, is kept until the slider is moved.
    if (given && given.some((value, k) => value !== values[k])) given.forEach((value, k) => (controls[k].value = value));
    if (given) values = given;
    for (const each of rows) each.hidden = !given;
  };
  const rows = controls.map((control, k) => row(parts[k].label, control));
  return { el: element("div", { class: "effect" }, row(title, own), ...rows), show };
}
