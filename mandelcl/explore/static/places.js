// The locations panel: bookmarks and named locations, with thumbnails that the server draws when it is idle.

import { button, element } from "./dom.js";
import { PLAIN } from "./recolour.js";
import { Place } from "./place.js";

export function places(explorer) {
  const { client } = explorer;
  const own = element("div", { class: "places" }), named = element("div", { class: "places" });
  const pictures = new Map(); // name to a drawn canvas
  const waiting = new Map(); // name to the canvas that waits for its picture

  const picture = (name) => {
    const canvas = element("canvas", { width: 144, height: 81, "aria-hidden": "true" });
    if (pictures.has(name)) canvas.getContext("2d").drawImage(pictures.get(name), 0, 0, canvas.width, canvas.height);
    else waiting.set(name, canvas);
    return canvas;
  };
  const go = ({ re, im, zoom, iterations, formula, colouring }) => explorer.show({
    place: Place.of({ re, im, zoom }), colouring: { ...PLAIN, ...colouring },
    job: { iterations, formula, number: "auto" }, auto: true, kept: true,
  }, "place");
  for (const place of client.welcome.places) {
    named.append(element("button", { type: "button", title: place.description, "data-place": place.name, onclick: () => go(place) }, picture(place.name), element("span", {}, place.name)));
  }
  const list = (bookmarks) => {
    own.replaceChildren(...bookmarks.map((each) => element(
      "div", { class: "bookmark" },
      element("button", { type: "button", "data-bookmark": each.name, onclick: () => open(explorer, each) }, picture(each.name), element("span", {}, each.name)),
      button("✕", `Remove the bookmark ${each.name}`, () => change(explorer, { remove: each.name })),
    )));
    if (bookmarks.length === 0) own.append(element("p", { class: "hint" }, "None yet. Press k to bookmark the current location."));
  };
  const draw = (bookmarks) => {
    list(bookmarks);
    if (el.isConnected) show(bookmarks);
  };
  const show = (bookmarks) => client.send({ do: "thumbnails", names: [...bookmarks, ...client.welcome.places].map((each) => each.name).filter((each) => !pictures.has(each)) });
  client.on("bookmarks", (message) => {
    client.welcome.bookmarks = message.bookmarks;
    draw(message.bookmarks);
  });
  client.on("thumbnail", async ({ name, png }) => {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    pictures.set(name, bitmap);
    const canvas = waiting.get(name);
    canvas?.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  });
  list(client.welcome.bookmarks ?? []);
  const name = element("input", { type: "text", placeholder: "a name", "aria-label": "Name of the bookmark", maxlength: 60 });
  const add = element("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    keep(explorer, name.value.trim());
    name.value = "";
  } }, name, element("button", {}, "Bookmark this location"));
  const el = element("div", {}, add, element("h3", {}, "Bookmarks"), own, element("h3", {}, "Named locations"), named);
  return { name: "places", title: "Places", icon: "places", key: "p", el, show: () => show(client.welcome.bookmarks ?? []) };
}

/** Bookmark what is shown. The default name is made from its zoom. */
export async function keep(explorer, name = "") {
  const { settled } = explorer.panes[0];
  if (!settled) return;
  const { sight, colouring } = explorer.state;
  const called = name || `×${sight.place.zoom.toShort(3)} ${new Date().toISOString().slice(0, 19).replace("T", " ")}`;
  if (await change(explorer, { add: { name: called, job: settled.job, colouring } })) explorer.notify(`bookmarked as “${called}”`);
}

async function change(explorer, what) {
  const answer = await explorer.client.ask({ do: "bookmark", ...what }).catch((error) => explorer.notify(error.message, "warning"));
  return Boolean(answer);
}

async function open(explorer, { job, colouring }) {
  try {
    const placed = await explorer.client.ask({ do: "place", size: explorer.size, job });
    explorer.open({ ...placed, colouring });
  } catch (error) {
    explorer.notify(error.message, "warning");
  }
}
