// The panel for what is shown: its exact location, which can be typed or pasted, iteration limit, formula and number.

import { button, element, row } from "./dom.js";
import { Place } from "./place.js";
import { parse } from "./ratio.js";
import { automatic, maxIterations, home } from "./moves.js";

const PROGRAM = "program"; // the name of a formula that is not in the list

export function view(explorer, shell) {
  const field = (label, rows) => element("textarea", { rows, spellcheck: "false", "aria-label": label, autocomplete: "off" });
  const re = field("Real part", 3), im = field("Imaginary part", 3);
  const input = (label) => element("input", { type: "text", "aria-label": label, autocomplete: "off", spellcheck: "false" });
  const zoom = input("Zoom"), rotation = input("Counter-clockwise rotation, in degrees"), iterations = input("Iteration limit");
  const auto = element("input", { type: "checkbox", onchange: () => automatic(explorer, auto.checked) });
  const number = element("input", { type: "text", list: "numbers", "aria-label": "Number", autocomplete: "off" });
  const numbers = element("datalist", { id: "numbers" }, ["auto", ...explorer.client.welcome.numbers, "fixed:5", "fixed:8"].map((name) => element("option", { value: name })));
  const formula = element("select", { "aria-label": "Formula" }, explorer.client.welcome.formulas.map(({ name, summary }) => element("option", { value: name, title: summary }, name)), element("option", { value: PROGRAM, disabled: true }, "another (f)"));
  const parameters = element("div", {});

  const go = () => tried(explorer, () => {
    const place = Place.of({ re: re.value.replace(/\s/g, ""), im: im.value.replace(/\s/g, ""), zoom: zoom.value, rotation: rotation.value });
    explorer.show({ place }, "typed");
  });
  const compute = () => tried(explorer, () => {
    const texts = [...parameters.querySelectorAll("input")].map((each) => [each.name, parse(each.value).toText()]);
    const before = explorer.state.job.formula.name;
    const { operations } = before === PROGRAM && formula.value === PROGRAM ? explorer.state.job.formula : {};
    const job = { number: number.value.trim() || "auto", formula: { name: formula.value, ...(operations ? { operations } : {}), ...Object.fromEntries(texts) } };
    explorer.show({ job, place: before === formula.value ? undefined : Place.of(explorer.homeOf(formula.value)) }, "typed");
  });
  iterations.addEventListener("change", () => tried(explorer, () => maxIterations(explorer, parse(iterations.value).toNumber())));
  number.addEventListener("change", compute);
  formula.addEventListener("change", () => {
    fill({ name: formula.value });
    compute();
  });
  parameters.addEventListener("change", compute);
  const fill = (chosen) => {
    const names = explorer.formulas.get(chosen.name)?.parameters ?? [];
    const inputs = names.map((name) => row(name, element("input", { type: "text", name, value: chosen[name] ?? "0", "aria-label": name })));
    parameters.replaceChildren(...inputs);
  };
  explorer.on("change", () => {
    const { sight, job } = explorer.state, place = sight.settled();
    [re.value, im.value] = [place.re.toText(), place.im.toText()];
    [zoom.value, rotation.value, iterations.value] = [place.zoom.toText().length < 16 ? place.zoom.toText() : place.zoom.toShort(12), place.rotation.toText(), `${job.iterations}`];
    [auto.checked, number.value, formula.value] = [explorer.state.auto, job.number, job.formula.name];
    fill(job.formula);
  });
  const el = element(
    "form", { class: "view", onsubmit: (event) => event.preventDefault() },
    row("Re", re), row("Im", im), row("Zoom", zoom), row("Turn", rotation),
    element("div", { class: "buttons" }, button("Go there", "Go to this location", go), button("Home", "The whole set", () => home(explorer))),
    row("Iteration limit", iterations, element("label", { class: "inline" }, auto, "automatic")), row("Formula", formula), parameters, row("Number", number),
  );
  shell.el.append(numbers);
  return { name: "view", title: "What is shown", icon: "view", label: "View", key: "v", el };
}

/** Perform a user's request, and show why it failed if it is invalid. */
function tried(explorer, act) {
  try {
    act();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    explorer.notify(error.message, "warning");
  }
}
