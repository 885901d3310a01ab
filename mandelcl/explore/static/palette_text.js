// A palette that is in no list as parts of an address: its colours, and how they follow one another.

const COLOUR = /^[0-9a-f]{6}$/;
const BLENDS = ["even", "oklab", "linear", "sine"];
const DISCRETE = "discrete"; // in the place of a blend
const MOST_TEXT = 16000; // of all parts: browsers take more, chats and mails rarely
const MOST_NAME = 80;

/** The parts of an address for a palette as a job describes it; null for one of too many colours for an address. */
export function writePalette({ name = "", colours, cycle, discrete = false, inside = "#000000", blend = "even", positions = [] }) {
  const parts = { palette: name.slice(0, MOST_NAME), colours: colours.map((colour) => colour.slice(1).toLowerCase()).join("."), turn: `${cycle}` };
  if (discrete || blend !== "even") parts.blend = discrete ? DISCRETE : blend;
  if (positions.length > 0) parts.positions = positions.join(",");
  if (inside !== "#000000") parts.ground = inside.slice(1);
  return Object.values(parts).join("").length > MOST_TEXT ? null : parts;
}

/** The palette of the parts of an address, a Map with `colours`; throws RangeError, with a line for the user. */
export function readPalette(given) {
  const text = (name, usual) => given.get(name) ?? usual;
  if ([...given.values()].join("").length > 2 * MOST_TEXT) throw new RangeError("an address has no room for so many colours");
  const colours = text("colours").split(".").map((colour) => hexadecimal(colour)), cycle = Number(text("turn", NaN));
  if (!(cycle > 0 && cycle < Infinity)) throw new RangeError("the turn of a palette is a length above 0");
  const blend = text("blend", BLENDS[0]), discrete = blend === DISCRETE;
  if (!discrete && !BLENDS.includes(blend)) throw new RangeError(`${blend.slice(0, 40)} is no way to blend colours`);
  const positions = given.has("positions") ? text("positions").split(",").map(Number) : [];
  const ascending = positions.every((at, k) => at >= 0 && at < 1 && (k === 0 || at > positions[k - 1]));
  const placed = positions.length === colours.length && !discrete && blend !== BLENDS[0];
  if (positions.length > 0 && !(ascending && placed)) throw new RangeError("the positions of a palette are one a colour, ascending, from 0 to below 1");
  const palette = { name: text("palette", "").slice(0, MOST_NAME), colours, cycle, inside: hexadecimal(text("ground", "000000")) };
  return { ...palette, discrete, blend: discrete ? BLENDS[0] : blend, positions };
}

function hexadecimal(text) {
  const digits = text.toLowerCase();
  if (!COLOUR.test(digits)) throw new RangeError(`${text.slice(0, 40)} is no colour of six digits, like 402030`);
  return `#${digits}`;
}
