// Effects that can be laid over a palette's colours: their parameters, in links and for WebGL.

const SHARE = { least: 0, most: 1, step: 0.01 };
const COLOUR = { label: "colour", colour: true, usual: "#000000" };

/** Each effect's parameters, in the order of `Colouring`'s JSON, with a slider's range and the valid `bounds`. */
export const EFFECTS = {
  light: {
    title: "Light", planes: ["distance"],
    parts: [
      { label: "from (degrees)", usual: 135, least: -180, most: 180, step: 1, bounds: [-Infinity, Infinity] },
      { label: "height", usual: 1.5, least: 0, most: 6, step: 0.05, bounds: [0, 1000] },
      { label: "strength", usual: 1, ...SHARE, bounds: [0, 1] },
    ],
  },
  boundary: {
    title: "Boundary", planes: ["distance"],
    parts: [{ label: "width (pixels)", usual: 1.5, least: 0.1, most: 10, step: 0.1, bounds: [1e-6, 1e6] }, COLOUR],
  },
  stripes: {
    title: "Stripes", planes: ["last"],
    parts: [
      { label: "number", usual: 4, least: 1, most: 24, step: 1, bounds: [1, 64], whole: true },
      { label: "strength", usual: 0.5, ...SHARE, bounds: [0, 1] }, COLOUR,
    ],
  },
  decomposition: {
    title: "Decomposition", planes: ["last"],
    parts: [{ label: "share", usual: 0.7, ...SHARE, bounds: [0, 1] }, COLOUR],
  },
};
const COLOUR_DIGITS = /^[0-9a-fA-F]{6}$/;

/** The planes that a colouring needs besides the usual ones: for its effects, and the one that advances the palette. */
export function planesOf({ effects, by }) {
  return [...new Set([...Object.keys(effects ?? {}).flatMap((name) => EFFECTS[name]?.planes ?? []), ...(by ? [by] : [])])];
}

/** A colouring's effects with one of them changed, or removed if null; undefined if none is left. */
export function changed({ effects }, name, values) {
  const { [name]: _, ...others } = effects ?? {};
  const all = values === null ? others : { ...others, [name]: values };
  return Object.keys(all).length > 0 ? all : undefined;
}

/** Parse an effect in a link. Throws RangeError, with a line for the user, for invalid values. */
export function readEffect(name, text) {
  const { parts } = EFFECTS[name], given = text.split(",");
  if (given.length > parts.length || given[0] === "") throw new RangeError(`${name} needs 1 to ${parts.length} values`);
  return parts.map((part, k) => (given[k] === undefined ? part.usual : valueOf(part, given[k], name)));
}

function valueOf({ label, colour, bounds, whole }, text, name) {
  if (colour) {
    if (!COLOUR_DIGITS.test(text)) throw new RangeError(`the colour of ${name} must be six digits, like 402030`);
    return `#${text.toLowerCase()}`;
  }
  const value = Number(text), fits = text.trim() !== "" && Number.isFinite(value) && value >= bounds[0] && value <= bounds[1];
  if (!fits || (whole && !Number.isInteger(value))) throw new RangeError(`${name}: ${text.slice(0, 40)} is not a valid ${label}`);
  return value;
}

/** The text of an effect in a link. */
export function writeEffect(values) {
  return values.map((value) => (typeof value === "string" ? value.slice(1) : `${value}`)).join(",");
}

/** The arguments of effects_shader.js, {names, values}: the effects, and uniforms by name; null without effects.
 *
 * `degree` is the growth of |z| under the formula, and `radius` is the one at which the last z is kept.
 */
export function uniformsOf({ effects }, degree, radius) {
  if (!effects) return null;
  const [angle, height, strength] = effects.light ?? [0, 0, 0];
  const [width, line] = effects.boundary ?? [0, "#000000"];
  const [share, below] = effects.decomposition ?? [1, "#000000"];
  const [number, darker, between] = effects.stripes ?? [1, 0, "#000000"];
  const turned = (angle * Math.PI) / 180;
  const values = {
    light: [Math.cos(turned), Math.sin(turned), height, strength],
    boundary: [...lightOf(line), width],
    decomposition: [...lightOf(below), share],
    stripes: [...lightOf(between), darker],
    stripes_of: [number, Math.max(degree, 1.0001), 2 * Math.log(radius)],
  };
  return { names: Object.keys(effects).filter((name) => name in EFFECTS).sort(), values };
}

/** The linear light of a colour's channels (the transfer function of IEC 61966-2-1). */
function lightOf(colour) {
  return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
}
