// The sharing panel: the link, the command and the Python code that draw what is shown.

import { button, element } from "./dom.js";
import { writePalette } from "./palette_text.js";
import { shownColouring } from "./refine.js";

const KINDS = { link: "the link", command: "the command", python: "the Python code" };

export function share(explorer) {
  const texts = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, element("div", { class: "code", tabindex: 0, "data-text": kind })]));
  const parts = Object.entries(KINDS).map(([kind, what]) => [
    element("h3", {}, kind === "link" ? "Link" : kind === "command" ? "Command" : "Python"), texts[kind],
    button("Copy", `Copy ${what}`, () => copy(explorer, kind), { "data-copy": kind }),
  ]);
  const fill = async () => {
    if (!el.isConnected) return;
    texts.link.textContent = explorer.address.share(explorer.link);
    const copied = await texted(explorer).catch((error) => ({ command: error.message, python: "" }));
    texts.command.textContent = copied.command;
    texts.python.textContent = copied.python;
  };
  const el = element("div", {}, parts.flat());
  explorer.on("rest", fill);
  explorer.on("refined", fill);
  explorer.on("change", () => el.isConnected && (texts.link.textContent = explorer.address.share(explorer.link)));
  return { name: "share", title: "Copy", icon: "share", el, show: fill };
}

/** Copy the link, the command or the Python code of what is shown. */
export async function copy(explorer, kind) {
  try {
    const text = kind === "link" ? explorer.address.share(explorer.link) : (await texted(explorer))[kind];
    await navigator.clipboard.writeText(text);
    const { palette } = explorer.state.colouring;
    const lacks = kind === "link" && typeof palette !== "string" && writePalette(palette) === null;
    explorer.notify(lacks ? "copied the link without its palette, which has too many colours; copy the command to keep them" : `copied ${KINDS[kind]}`, lacks ? "warning" : "note");
  } catch (error) {
    explorer.notify(`could not copy: ${error.message}`, "warning");
  }
}

function texted(explorer) {
  return explorer.client.ask({ do: "copy", pane: explorer.panes[0].index, colouring: shownColouring(explorer) });
}
