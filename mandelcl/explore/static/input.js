// Gestures and keys, and their effect on the explorer.

import { listen } from "./gestures.js";
import * as moves from "./moves.js";
import { STEPS_TO_DOUBLE } from "./place.js";

const PAN_PART = 8; // an arrow key pans by 1/8 of the height
const TURN_DEGREES = 15;

/** Gestures and keys with their effects, as listed in the page's help. */
export const KEYS = [
  ["Drag, arrow keys", "pan (Shift: farther)"],
  ["Wheel, pinch, + and −", "zoom about the pointer"],
  ["Shift + drag", "zoom into a box"],
  ["Alt + drag, twist, r and R", "rotate"],
  ["Double click", "zoom in (Shift: out)"],
  ["Backspace", "go back"],
  ["Home", "the whole set"],
  ["1 … 9", "choose a palette (Alt: store the current one)"],
  ["[ and ]", "shift the colours (Shift: more)"],
  [", and .", "shorter and longer palette cycle"],
  ["i and I", "iteration limit × 2, ÷ 2"],
  ["a", "automatic iteration limit"],
  ["m", "go to the minibrot in a box, or in the view"],
  ["j", "Julia set and orbit of the point under the pointer"],
  ["k", "bookmark this location"],
  ["c and y", "copy the command, copy as Python"],
  ["l", "copy the link"],
  ["s", "save"],
  ["p", "places"],
  ["f", "formulas"],
  ["d", "devices"],
  ["x", "compare two devices or numbers"],
  ["v", "details of what is shown"],
  ["h", "hide everything except the picture"],
  ["?", "list these keys"],
];

/** Let key events of `keys`, and gestures on each pane, drive the explorer. Returns a function that stops this. */
export function attach(shell, explorer, keys) {
  const onkey = (event) => {
    if (!explorer.state || event.ctrlKey || event.metaKey || isField(event.target)) return;
    if (press(event, shell, explorer)) event.preventDefault();
  };
  keys.addEventListener("keydown", onkey);
  const watched = new Map();
  const watcher = new MutationObserver(() => {
    for (const pane of explorer.panes) if (!watched.has(pane)) watched.set(pane, watch(pane, explorer));
  });
  watcher.observe(shell.panes, { childList: true });
  return () => {
    keys.removeEventListener("keydown", onkey);
    watcher.disconnect();
    for (const end of watched.values()) end();
  };
}

function watch(pane, explorer) {
  let start = null;
  return listen(pane.el, {
    begin: (kind) => {
      start = explorer.state.sight;
      explorer.leave(kind === "box" ? "" : `${kind} ${performance.now()}`);
    },
    pan: (columns, rows) => moves.drag(explorer, columns, rows),
    hold: () => moves.hold(explorer),
    fling: (across, down) => moves.fling(explorer, across, down),
    zoom: (at, rungs, kind) => moves.zoom(explorer, at, rungs, kind),
    pinch: (from, to, scale, degrees) => explorer.glide(start.pinched(from, to, scale, degrees)),
    turn: (from, last, now) => explorer.glide(start.turned(Math.round(angle(from, explorer) - angle(now, explorer)))),
    boxing: (from, to) => explorer.emit("boxing", { pane, from, to }),
    box: (from, to) => (explorer.armed ?? ((...corners) => moves.boxed(explorer, ...corners)))(from, to),
    boxes: () => Boolean(explorer.armed),
    end: () => explorer.emit("boxing", null),
    point: (at) => explorer.point(pane, at),
    leave: () => explorer.point(null, null),
    click: (at, event) => event.pointerType !== "mouse" && explorer.point(pane, at),
  });
}

/** The direction of a point from the canvas's centre, in degrees clockwise. */
function angle([x, y], { size }) {
  return (Math.atan2(y - size[1] / 2, x - size[0] / 2) * 180) / Math.PI;
}

function press(event, shell, explorer) {
  const { key } = event, { size } = explorer;
  const at = explorer.pointed?.at ?? size.map((side) => (side - 1) / 2);
  const pan = (columns, rows) => {
    const step = (size[1] / PAN_PART) * (event.shiftKey ? 4 : 1);
    moves.pan(explorer, columns * step, rows * step, event.repeat ? "held pan" : `pan ${performance.now()}`, true);
  };
  const zoom = (rungs) => moves.zoom(explorer, at, rungs, event.repeat ? "held zoom" : `zoom ${performance.now()}`);
  const acts = {
    ArrowLeft: () => pan(-1, 0), ArrowRight: () => pan(1, 0), ArrowUp: () => pan(0, -1), ArrowDown: () => pan(0, 1),
    "+": () => zoom(STEPS_TO_DOUBLE), "=": () => zoom(STEPS_TO_DOUBLE), "-": () => zoom(-STEPS_TO_DOUBLE), "_": () => zoom(-STEPS_TO_DOUBLE),
    Home: () => moves.home(explorer), Backspace: () => explorer.back(),
    r: () => moves.turn(explorer, TURN_DEGREES), R: () => moves.turn(explorer, -TURN_DEGREES),
    i: () => moves.maxIterations(explorer, 2 * explorer.state.job.iterations), I: () => moves.maxIterations(explorer, explorer.state.job.iterations / 2),
    a: () => moves.automatic(explorer, !explorer.state.auto),
    "[": () => moves.shift(explorer, -0.01), "]": () => moves.shift(explorer, 0.01), "{": () => moves.shift(explorer, -0.1), "}": () => moves.shift(explorer, 0.1),
    ",": () => moves.stretch(explorer, 1 / 1.1), ".": () => moves.stretch(explorer, 1.1),
    h: () => shell.bare(), Escape: () => {
      explorer.emit("escape");
      if (shell.open) shell.toggle(shell.open);
      else shell.el.classList.remove("bare");
    },
  };
  const tools = { "?": "keys", s: "save", f: "formula", d: "devices", p: "places", x: "compare", v: "view", m: "minibrot", j: "julia", k: "keep", c: "command", y: "python", l: "link" };
  if (/^[1-9]$/.test(key) || /^Digit[1-9]$/.test(event.code)) moves.favourite(explorer, Number(event.code.at(-1) || key), event.altKey || event.shiftKey);
  else if (Object.hasOwn(acts, key)) acts[key]();
  else if (Object.hasOwn(tools, key)) shell.act(tools[key]);
  else return false;
  return true;
}

function isField(target) {
  const field = target.closest?.("input, select, textarea");
  return Boolean(field) && !["checkbox", "button", "color"].includes(field.type);
}
