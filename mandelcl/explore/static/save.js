// The panel that saves what is shown: at any size, through the server, with progress.

import { bytesText, element, plain, row } from "./dom.js";
import { shownColouring } from "./refine.js";

const SCALES = [1, 2, 4, 8];
const DEEP = [".png", ".tif", ".tiff", ".ppm", ".dzi"]; // formats that hold 16 bits a channel
const FIELDS = [".npz", ".exr"]; // formats of counts, of which a pixel has one
const SIZE = /^\s*(\d{1,6})\s*[x×]\s*(\d{1,6})\s*$/i;

export function save(explorer) {
  const { welcome } = explorer.client;
  const formats = (welcome.formats ?? ["png"]).map((format) => element("option", { value: format }, format));
  const format = element("select", { "aria-label": "Format" }, formats);
  const scale = element("select", { "aria-label": "Size" }, SCALES.map((factor) => element("option", { value: factor }, `${factor}×`)), element("option", { value: "" }, "other …"));
  const size = element("input", { type: "text", "aria-label": "Width × height", placeholder: "3840x2160", hidden: true });
  const samples = element("select", { "aria-label": "Samples per pixel" }, [["", "as shown"], ["1", "1"], ["auto", "auto, up to 16"], ["4", "4"], ["16", "16"]].map(([value, text]) => element("option", { value }, text)));
  const depth = element("select", { "aria-label": "Bits per channel" }, ["8", "16"].map((bits) => element("option", { value: bits }, bits)));
  const name = element("input", { type: "text", "aria-label": "Name", placeholder: "mandelbrot" });
  const hint = element("p", { class: "hint" });
  const list = element("div", { class: "saves" });
  const wanted = () => {
    if (scale.value) return { scale: Number(scale.value) };
    const sides = SIZE.exec(size.value);
    return sides ? { size: [Number(sides[1]), Number(sides[2])] } : null;
  };
  /** The page's colours, as finely as the file is to have them. */
  const fine = () => {
    const own = explorer.state.colouring;
    if (FIELDS.includes(format.value)) return { ...own };
    const colouring = { ...(samples.value === "" ? shownColouring(explorer) : own) };
    if (samples.value !== "" && samples.value !== "1") colouring.samples = samples.value === "auto" ? "auto" : Number(samples.value);
    if (depth.value === "16" && !depth.disabled) colouring.depth = 16;
    return colouring;
  };
  const describe = () => {
    depth.disabled = !DEEP.includes(format.value);
    samples.disabled = FIELDS.includes(format.value);
    size.hidden = scale.value !== "";
    const chosen = wanted();
    const [width, height] = chosen?.size ?? explorer.size.map((side) => side * (chosen?.scale ?? 1));
    hint.textContent = chosen ? `${plain(width)} × ${plain(height)} pixels, to ${welcome.folder}` : "write a size like 3840x2160";
  };
  const film = (event) => {
    event.preventDefault();
    const message = { do: "film", pane: explorer.panes[0].index, colouring: explorer.state.colouring, format: filmFormat.value, speed: Number(speed.value) };
    list.prepend(once(explorer, { ...message, size: filmSize.value.split("x").map(Number) }));
  };
  const start = (event) => {
    event.preventDefault();
    const chosen = wanted();
    if (!chosen) return describe();
    const message = { do: "save", pane: explorer.panes[0].index, colouring: fine(), format: format.value, ...chosen };
    list.prepend(once(explorer, name.value.trim() ? { ...message, name: name.value.trim() } : message));
    return undefined;
  };
  for (const control of [scale, size, format]) control.addEventListener("input", describe);
  explorer.on("change", describe);
  const films = welcome.films ?? [];
  const choice = (label, values) => element("select", { "aria-label": label }, values.map(([value, text]) => element("option", { value }, text)));
  const filmFormat = choice("Format of the film", films.map((format) => [format, format]));
  const filmSize = choice("Size of the film", ["640x360", "1280x720", "1920x1080", "3840x2160", "720x1280"].map((text) => [text, text.replace("x", " × ")]));
  const speed = choice("Speed of the film", [[1, "1"], [2, "2"], [4, "4"], [0.5, "½"]]);
  const filming = element(
    "div", {}, element("h3", {}, "Film to here"),
    ...(films.length === 0 ? [element("p", { class: "hint" }, "Films need the extra “video”; see docs/installing.md.")] : [
      row("Format", filmFormat), row("Size", filmSize), row("Speed", speed, element("span", { class: "hint" }, "doublings a second")),
      element("div", { class: "buttons" }, element("button", { type: "button", "data-film": true, onclick: film }, "Film to here")),
    ]),
  );
  const el = element(
    "form", { class: "save", onsubmit: start }, row("Format", format), row("Size", scale, size), row("Samples", samples), row("Bits", depth), row("Name", name), hint,
    element("div", { class: "buttons" }, element("button", { "data-save": true }, "Save")), filming, list,
  );
  return { name: "save", title: "Save", icon: "save", key: "s", el, show: describe };
}

/** A save that begins when the current view is complete. */
function once(explorer, message) {
  if (explorer.atRest) return saving(explorer, message);
  const end = element("button", { type: "button" }, "Cancel");
  const line = element("div", { class: "saving" }, element("span", {}, "waiting for the view …"), end);
  const off = explorer.once(["rest", "failed"], () => line.replaceWith(saving(explorer, message)));
  end.addEventListener("click", () => {
    off();
    line.remove();
  });
  return line;
}

/** A running save, as a line with its progress. */
function saving(explorer, message) {
  const { client } = explorer;
  const bar = element("progress", { max: 1, value: 0, "aria-label": "Saved so far" }), text = element("span", {}, "…");
  const end = element("button", { type: "button" }, "Cancel");
  const line = element("div", { class: "saving" }, text, bar, end);
  let known = message.name;
  const answer = client.ask(message, ({ name, done, pixels, seconds }) => {
    known = name;
    bar.value = done / pixels;
    const left = done > 0 ? Math.ceil((seconds * (pixels - done)) / done) : null;
    text.textContent = `${name}: ${Math.floor((100 * done) / pixels)} %${left === null ? "" : `, ${plain(left)} s left`}`;
  });
  const stop = () => client.stop(answer);
  end.addEventListener("click", stop);
  answer.then((reply) => {
    if (reply.say === "saved") return finish(reply);
    known = reply.name ?? known;
    text.textContent = `${known ?? "the save"} was cancelled`;
    return reply.resumable ? again("Resume") : end.remove();
  }, (error) => {
    text.textContent = error.message;
    bar.remove();
    if (known) again("Try again");
    else end.remove();
  });
  const again = (label) => {
    end.removeEventListener("click", stop);
    end.textContent = label;
    end.addEventListener("click", () => line.replaceWith(saving(explorer, { do: "save", name: known, resume: true })));
  };
  const finish = ({ name, path, bytes, download }) => {
    const shown = download && explorer.downloads ? element("a", { href: "#", onclick: (event) => take(event, name) }, name) : name;
    line.replaceChildren(element("span", { title: path }, shown, `, ${bytesText(bytes)}`));
    explorer.notify(`saved ${path}`);
  };
  /** Let the browser download a saved file, with a new ticket each time. */
  const take = async (event, name) => {
    event.preventDefault();
    const ticket = await client.ask({ do: "ticket", name }).catch((error) => explorer.notify(error.message, "warning"));
    if (ticket) element("a", { href: ticket.path, download: name }).click();
  };
  return line;
}
