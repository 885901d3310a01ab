// The tools and panels, in the order of their buttons.

import { colours } from "./colours.js";
import { compare } from "./compare.js";
import { copy, share } from "./share.js";
import { dark } from "./dark.js";
import { devices } from "./devices.js";
import { julia } from "./julia.js";
import { keys } from "./keys.js";
import { formulaPicker } from "./formula_picker.js";
import { home, zoom } from "./moves.js";
import { keep, places } from "./places.js";
import { minibrot } from "./minibrot.js";
import { refine } from "./refine.js";
import { save } from "./save.js";
import { status } from "./status.js";
import { view } from "./view.js";

const tool = (name, title, icon, act, label) => (explorer) => ({ name, title, label, icon, act: () => act(explorer) });
const middle = ({ size }) => size.map((side) => (side - 1) / 2);

export const panels = [
  tool("home", "The whole set (Home)", "home", home, "Home"),
  tool("back", "Back (Backspace)", "back", (explorer) => explorer.back()),
  tool("in", "Zoom in (+)", "in", (explorer) => zoom(explorer, middle(explorer), 6, "button")),
  tool("out", "Zoom out (−)", "out", (explorer) => zoom(explorer, middle(explorer), -6, "button")),
  view,
  formulaPicker,
  colours,
  places,
  tool("keep", "Bookmark this location (k)", "keep", (explorer) => keep(explorer), "Bookmark"),
  minibrot,
  julia,
  share,
  save,
  devices,
  compare,
  keys,
  status,
  refine,
  dark,
  ...["command", "python", "link"].map((kind) => tool(kind, `Copy the ${kind}`, null, (explorer) => copy(explorer, kind))),
];
