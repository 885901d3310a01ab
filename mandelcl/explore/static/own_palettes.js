// The user's own palettes: from dropped files, or edited here colour by colour. The browser keeps them.

import { button, element } from "./dom.js";
import { sketched } from "./recolour.js";

const KEPT = "mandelcl-palettes";
const MOST_KEPT = 64;
const MOST_TEXT = 1 << 19; // of all kept palettes
const STOPS = 8; // of a copy of a palette that has only a table
const MOST_STOPS = 32;
const NAME = "own";

export function ownPalettes(explorer, paint) {
  let kept = restored();
  const list = element("div", { class: "palettes", "aria-label": "Own palettes" }), stops = element("div", { class: "stops", role: "group", "aria-label": "Colours of the palette" });
  const choose = (palette) => explorer.show({ colouring: { palette, cycle: null, transfer: undefined, inside: undefined } }, "colour");
  const current = () => explorer.state.colouring.palette;

  const show = () => {
    list.replaceChildren(...kept.map((palette) => {
      const swatch = element("canvas", { width: 256, height: 1, "aria-hidden": "true" });
      paint(swatch, sketched(palette));
      return element("button", { type: "button", title: palette.description ?? "", onclick: () => choose(palette) }, swatch, element("span", {}, palette.name || NAME));
    }));
  };
  const keep = (palettes) => {
    const names = new Set(palettes.map(({ name }) => name));
    kept = [...palettes, ...kept.filter(({ name }) => !names.has(name))].slice(0, MOST_KEPT);
    remember(kept);
    show();
  };
  const change = (colours) => choose({ ...current(), colours, positions: [], discrete: false, blend: "oklab" });
  const edited = () => [...stops.querySelectorAll("input")].map(({ value }) => value);
  const fill = () => {
    const palette = current(), fits = typeof palette === "object" && palette.colours.length <= MOST_STOPS;
    stops.hidden = less.hidden = more.hidden = store.hidden = !fits;
    if (!fits) return;
    if (stops.children.length !== palette.colours.length) {
      stops.replaceChildren(...palette.colours.map((_, k) => element("input", { type: "color", "aria-label": `Colour ${k + 1}`, oninput: () => change(edited()) })));
    }
    palette.colours.forEach((colour, k) => (stops.children[k].value = colour));
  };
  const copy = button("Edit a copy", "Edit a copy of this palette", () => choose(copied(explorer)));
  const more = button("+", "Add a colour", () => edited().length < MOST_STOPS && change([...edited(), edited()[0]]));
  const less = button("−", "Remove the last colour", () => edited().length > 2 && change(edited().slice(0, -1)));
  const store = button("Keep", "Keep this palette in this browser", () => keep([current()]));
  explorer.on("palettes", (palettes) => keep(palettes.filter((each) => typeof each === "object")));
  explorer.on("change", fill);
  show();
  return [element("h3", {}, "Own palettes"), list, stops, element("div", { class: "buttons" }, copy, more, less, store)];
}

/** The current palette by its colours, few enough to edit. */
function copied(explorer) {
  const { palette } = explorer, chosen = explorer.state.colouring.palette;
  const few = typeof chosen === "object" && chosen.colours.length <= MOST_STOPS;
  const colours = few ? chosen.colours : Array.from({ length: STOPS }, (_, k) => hexadecimal(palette.table, Math.floor((k * palette.size) / STOPS)));
  return { name: NAME, description: "", colours, cycle: palette.cycle, inside: palette.inside, discrete: false, blend: "oklab", positions: [] };
}

function hexadecimal(table, place) {
  return `#${[...table.subarray(3 * place, 3 * place + 3)].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function restored() {
  try {
    const palettes = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return palettes.filter(({ colours }) => Array.isArray(colours) && colours.every((each) => /^#[0-9a-f]{6}$/i.test(each)));
  } catch {
    return []; // no storage, or invalid contents
  }
}

function remember(palettes) {
  try {
    let few = palettes;
    while (JSON.stringify(few).length > MOST_TEXT) few = few.slice(0, -1);
    localStorage.setItem(KEPT, JSON.stringify(few));
  } catch {
    // without storage they are lost with the page
  }
}
