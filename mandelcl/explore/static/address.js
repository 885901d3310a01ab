// A location as the part of a URL after #: decimals of any length, and everything else that determines the picture.

import { EFFECTS, changed, readEffect, writeEffect } from "./effects.js";
import { TRAILS } from "./frames.js";
import { readPalette, writePalette } from "./palette_text.js";
import { parse } from "./ratio.js";
import { Place } from "./place.js";

const COLOUR = /^[0-9a-fA-F]{6}$/;
export const MEASURED = ["distance", ...TRAILS]; // the planes that can advance a palette
const MOST_ITERATIONS = 10n ** 15n;
const OPERATIONS = /^[a-z0-9 /]{1,400}$/;
const WORD = /^[a-z0-9:+ /-]{1,80}$/;

/** Parse the part after #: {place, iterations, auto, colouring, formula, number}, without what it leaves out.
 *
 * Throws RangeError, with a line for the user, for an invalid part.
 */
export function readAddress(hash, home) {
  const given = new Map(
    hash.replace(/^#/, "").split("&").filter(Boolean).map((part) => {
      const [name, ...value] = part.split("=");
      return [name, decode(value.join("="))];
    }),
  );
  const state = {};
  const texts = { re: given.get("re") ?? home.re, im: given.get("im") ?? home.im, zoom: given.get("zoom") ?? home.zoom };
  if (given.has("re") || given.has("im") || given.has("zoom") || given.has("rotate")) {
    state.place = Place.of({ ...texts, rotation: given.get("rotate") ?? "0" });
  }
  if (given.has("n")) state.iterations = whole(given.get("n"));
  if (given.get("limit") === "auto") state.auto = true;
  const colouring = readColouring(given);
  if (Object.keys(colouring).length > 0) state.colouring = colouring;
  if (given.has("formula")) state.formula = readFormula(given);
  if (given.has("number")) state.number = word(given.get("number"), "number");
  return state;
}

function readColouring(given) {
  const colouring = {};
  if (given.has("colours")) colouring.palette = readPalette(given);
  else if (given.has("palette")) colouring.palette = word(given.get("palette"), "palette");
  if (given.has("cycle")) colouring.cycle = float(given.get("cycle"), "cycle");
  if (given.has("offset")) colouring.offset = float(given.get("offset"), "offset");
  if (given.has("transfer")) colouring.transfer = word(given.get("transfer"), "transfer");
  if (given.has("by")) {
    colouring.by = given.get("by");
    if (!MEASURED.includes(colouring.by)) throw new RangeError(`no palette is advanced by ${colouring.by.slice(0, 40)}`);
  }
  if (given.has("equalise")) colouring.equalise = float(given.get("equalise"), "strength of equalising");
  if (given.has("inside")) {
    if (!COLOUR.test(given.get("inside"))) throw new RangeError("inside must be a colour of six digits, like 402030");
    colouring.inside = `#${given.get("inside").toLowerCase()}`;
  }
  for (const name of Object.keys(EFFECTS)) {
    if (given.has(name)) colouring.effects = changed(colouring, name, readEffect(name, given.get(name)));
  }
  return colouring;
}

function readFormula(given) {
  const formula = { name: word(given.get("formula"), "formula") };
  for (const [name, value] of given) {
    if (name === "formula.operations") formula.operations = operations(value);
    else if (name.startsWith("formula.")) formula[name.slice(8)] = parse(value).toText();
  }
  return formula;
}

/** The part of a URL after # for what is shown; default values are left out. */
export function writeAddress({ place, iterations, auto, colouring, formula, number }) {
  const parts = { re: place.re.toText(), im: place.im.toText(), zoom: place.zoom.toShort(12) };
  if (!parse(parts.zoom).equals(place.zoom)) parts.zoom = place.zoom.toText();
  if (place.rotation.sign !== 0) parts.rotate = place.rotation.toText();
  parts.n = `${iterations}`;
  if (auto) parts.limit = "auto";
  if (typeof colouring.palette === "string") parts.palette = colouring.palette;
  else Object.assign(parts, writePalette(colouring.palette));
  if (colouring.cycle !== null) parts.cycle = `${colouring.cycle}`;
  if (colouring.offset !== 0) parts.offset = `${colouring.offset}`;
  if (colouring.transfer) parts.transfer = colouring.transfer;
  if (colouring.by) parts.by = colouring.by;
  if (colouring.equalise) parts.equalise = `${colouring.equalise}`;
  if (colouring.inside) parts.inside = colouring.inside.slice(1);
  for (const [name, values] of Object.entries(colouring.effects ?? {})) parts[name] = writeEffect(values);
  if (formula && formula.name !== "mandelbrot") {
    for (const [name, value] of Object.entries(formula)) parts[name === "name" ? "formula" : `formula.${name}`] = value;
  }
  if (number && number !== "auto") parts.number = number;
  return "#" + Object.entries(parts).map(([name, value]) => `${name}=${encode(value)}`).join("&");
}

function encode(value) {
  return encodeURIComponent(value).replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",");
}

function decode(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new RangeError("the link is damaged after a % sign");
  }
}

function whole(text) {
  const value = parse(text).reduced();
  if (value.den !== 1n || value.num < 1n || value.num > MOST_ITERATIONS) throw new RangeError(`${text.slice(0, 40)} is not an iteration limit`);
  return Number(value.num);
}

function float(text, what) {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new RangeError(`the ${what} must be a number, not ${text.slice(0, 40)}`);
  return value;
}

function operations(text) {
  if (!OPERATIONS.test(text)) throw new RangeError(`${text.slice(0, 40)} is no list of operations`);
  return text;
}

function word(text, what) {
  if (!WORD.test(text)) throw new RangeError(`${text.slice(0, 40)} is no ${what}`);
  return text;
}
