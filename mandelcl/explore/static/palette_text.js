// A palette that is not built in, as parts of a link: its colours and how they are blended.

const COLOUR = /^[0-9a-f]{6}$/;
const BLENDS = ["even", "oklab", "linear", "sine"];
const DISCRETE = "discrete"; // stands in place of a blend
const MOST_TEXT = 16000; // of all parts: browsers accept more, chats and mails often do not
const MOST_NAME = 80;

/** The parts of a link for a palette in the form of a job; null if it has too many colours. */
export function writePalette({ name = "", colours, cycle, discrete = false, inside = "#000000", blend = "even", positions = [] }) {
  const parts = { palette: name.slice(0, MOST_NAME), colours: colours.map((colour) => colour.slice(1).toLowerCase()).join("."), turn: `${cycle}` };
  if (discrete || blend !== "even") parts.blend = discrete ? DISCRETE : blend;
  if (positions.length > 0) parts.positions = positions.join(",");
  if (inside !== "#000000") parts.ground = inside.slice(1);
  return Object.values(parts).join("").length > MOST_TEXT ? null : parts;
}

/** Parse the palette in the parts of a link, a Map with `colours`. Throws RangeError, with a line for the user. */
export function readPalette(given) {
  const text = (name, usual) => given.get(name) ?? usual;
  if ([...given.values()].join("").length > 2 * MOST_TEXT) throw new RangeError("the link has too many colours");
  const colours = text("colours").split(".").map((colour) => hexadecimal(colour)), cycle = Number(text("turn", NaN));
  if (!(cycle > 0 && cycle < Infinity)) throw new RangeError("the cycle of a palette must be a length above 0");
  const blend = text("blend", BLENDS[0]), discrete = blend === DISCRETE;
  if (!discrete && !BLENDS.includes(blend)) throw new RangeError(`${blend.slice(0, 40)} is not a known blend`);
  const positions = given.has("positions") ? text("positions").split(",").map(Number) : [];
  const ascending = positions.every((at, k) => at >= 0 && at < 1 && (k === 0 || at > positions[k - 1]));
  const placed = positions.length === colours.length && !discrete && blend !== BLENDS[0];
  if (positions.length > 0 && !(ascending && placed)) throw new RangeError("a palette needs one position per colour, ascending, from 0 to below 1");
  const palette = { name: text("palette", "").slice(0, MOST_NAME), colours, cycle, inside: hexadecimal(text("ground", "000000")) };
  return { ...palette, discrete, blend: discrete ? BLENDS[0] : blend, positions };
}

function hexadecimal(text) {
  const digits = text.toLowerCase();
  if (!COLOUR.test(digits)) throw new RangeError(`${text.slice(0, 40)} is not a colour of six digits, like 402030`);
  return `#${digits}`;
}
