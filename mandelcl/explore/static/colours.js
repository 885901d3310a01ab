// The colours panel: palettes, cycle, offset, the colour of the set, and effects.

import { MEASURED } from "./address.js";
import { element, row } from "./dom.js";
import { effectsPanel } from "./effects_panel.js";
import { favourite } from "./moves.js";
import { ownPalettes } from "./own_palettes.js";
import { withTable } from "./recolour.js";
import { transferOf } from "./cycles.js";

export function colours(explorer) {
  const list = element("div", { class: "palettes", role: "radiogroup", "aria-label": "Palettes" });
  const change = (colouring) => explorer.show({ colouring }, "colour");
  const offset = element("input", {
    type: "range", min: 0, max: 1, step: 0.001, "aria-label": "Offset in cycles",
    oninput: () => change({ offset: Number(offset.value) }),
  });
  const own = element("input", { type: "checkbox", onchange: () => change({ cycle: own.checked ? transferOf(explorer.palette, explorer.state.colouring)[1] : null }) });
  // The slider sets the logarithm of the length: from a tenth of a count to a million.
  const cycle = element("input", {
    type: "range", min: -1, max: 6, step: 0.01, "aria-label": "Cycle in counts",
    oninput: () => change({ cycle: Number((10 ** Number(cycle.value)).toPrecision(4)) }),
  });
  const length = element("output", {});
  const transfer = element("select", { "aria-label": "What advances the palette", onchange: () => change({ transfer: transfer.value || undefined, cycle: null }) },
    [["", "default"], ["root4", "fourth root"], ["root2", "square root"], ["log", "logarithm"], ["linear", "count"]].map(([value, text]) => element("option", { value }, text)));
  const by = element("select", { "aria-label": "Colour by", onchange: () => change({ by: by.value || undefined, cycle: null, transfer: undefined, equalise: undefined }) },
    ["", ...MEASURED].map((plane) => element("option", { value: plane }, plane || "count")));
  const equalise = element("input", {
    type: "range", min: 0, max: 1, step: 0.05, "aria-label": "Equalise", oninput: () => change({ equalise: Number(equalise.value) || undefined, knots: undefined }),
  });
  const inside = element("input", { type: "color", "aria-label": "Colour of the set", oninput: () => change({ inside: inside.value }) });
  const usual = element("button", { type: "button", onclick: () => change({ inside: undefined }) }, "palette's own");
  const fine = element("input", { type: "checkbox", onchange: () => explorer.setRefines(fine.checked) });
  const keep = element("button", { type: "button", onclick: () => favourite(explorer, 1, true) }, "Store as 1");

  for (const palette of explorer.client.welcome.palettes) {
    const swatch = element("canvas", { width: 256, height: 1, "aria-hidden": "true" });
    paint(swatch, withTable(palette));
    const chosen = element(
      "button", { type: "button", role: "radio", "data-palette": palette.name, title: palette.description, onclick: () => change({ palette: palette.name }) },
      swatch, element("span", {}, palette.name),
    );
    list.append(chosen);
  }
  explorer.on("change", () => {
    const { colouring } = explorer.state;
    for (const each of list.children) each.setAttribute("aria-checked", String(each.dataset.palette === colouring.palette));
    offset.value = colouring.offset - Math.floor(colouring.offset);
    own.checked = colouring.cycle !== null;
    cycle.disabled = colouring.cycle === null;
    cycle.value = Math.log10(colouring.cycle ?? transferOf(explorer.palette, colouring)[1]);
    length.value = `${Number(transferOf(explorer.palette, colouring)[1].toPrecision(4))}`;
    by.value = colouring.by ?? "";
    [transfer.value, equalise.value] = [colouring.transfer ?? "", colouring.equalise ?? 0];
    inside.value = colouring.inside ?? explorer.palette.inside;
    usual.disabled = !colouring.inside;
    fine.checked = explorer.refines;
  });
  const el = element(
    "div", { class: "colours" }, list, row("Offset", offset), row("Colour by", by), row("Transfer", transfer), row("Cycle", own, cycle, length), row("Equalise", equalise), row("Set", inside, usual), row("Antialias", fine, element("span", { class: "hint" }, "at rest, as `render` does")),
    ...ownPalettes(explorer, paint), element("h3", {}, "Effects"), ...effectsPanel(explorer),
    element("p", { class: "hint" }, "Keys 1 … 9 choose a palette; with Alt they store the current one. [ and ] shift the colours, , and . change the cycle."), keep,
  );
  return { name: "colours", title: "Colours", icon: "colours", el };
}

function paint(canvas, { table, size }) {
  const image = new ImageData(canvas.width, 1);
  for (let x = 0; x < canvas.width; x++) {
    const place = 3 * Math.floor((x * size) / canvas.width);
    image.data.set([...table.subarray(place, place + 3), 255], 4 * x);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}
