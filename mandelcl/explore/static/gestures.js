// Pointer, wheel and touch events on a pane, as pans, zooms, rotations, boxes and taps in its own pixels.

const RUNG_PIXELS = 36; // of wheel movement per rung; a notch of a mouse wheel is about three rungs
const RUNG_PINCH = 9; // the same if a touch pad reports a pinch as a wheel
const LINE_PIXELS = 20;
const DRAG_PIXELS = 4; // less is a click
const TURN_DEGREES = 6; // smaller twists are ignored
const FLING_MS = 80; // the last part of a drag, which gives its speed
const FLING_SPEED = 0.2; // pixels of the screen per millisecond; a slower drag ends where it is

/** Let gestures on an element drive `to`: {pan, zoom, pinch, turn, box, boxing, point, leave, begin, end, click, hold, fling}.
 *
 * Positions are in pixels from the corner of the canvas. Returns a function that stops this.
 */
export function listen(el, to) {
  const pointers = new Map();
  const at = (event) => {
    const edge = el.getBoundingClientRect(), scale = devicePixelRatio;
    return [(event.clientX - edge.left) * scale, (event.clientY - edge.top) * scale];
  };
  let drag = null; // {kind, from, last, moved}
  let pinch = null; // {from, spread, angle}
  let wheel = 0;

  const down = (event) => {
    if (event.button > 0 && event.button !== 1) return;
    el.setPointerCapture(event.pointerId);
    el.focus({ preventScroll: true });
    to.hold?.();
    pointers.set(event.pointerId, at(event));
    if (pointers.size === 1) {
      const kind = event.shiftKey || to.boxes() ? "box" : event.altKey ? "turn" : "pan";
      drag = { kind, from: at(event), last: at(event), moved: false, track: [] };
    } else if (pointers.size === 2) {
      drag = null;
      pinch = measured([...pointers.values()]);
      to.begin("pinch");
    }
  };

  const move = (event) => {
    const place = at(event);
    if (!pointers.has(event.pointerId)) return to.point(place);
    pointers.set(event.pointerId, place);
    if (pinch && pointers.size === 2) {
      const now = measured([...pointers.values()]);
      const twist = ((now.angle - pinch.angle + 540) % 360) - 180;
      return to.pinch(pinch.middle, now.middle, now.spread / pinch.spread, Math.abs(twist) < TURN_DEGREES ? 0 : -twist);
    }
    if (drag) dragged(place);
    return undefined;
  };

  const dragged = (place) => {
    const far = Math.hypot(place[0] - drag.from[0], place[1] - drag.from[1]);
    if (!drag.moved && far < DRAG_PIXELS * devicePixelRatio) return;
    if (!drag.moved) to.begin(drag.kind);
    drag.moved = true;
    const now = performance.now();
    drag.track = [...drag.track.filter((each) => now - each.now < FLING_MS), { now, place }];
    if (drag.kind === "pan") to.pan(place[0] - drag.last[0], place[1] - drag.last[1]);
    else if (drag.kind === "box") to.boxing(drag.from, place);
    else to.turn(drag.from, drag.last, place);
    drag.last = place;
  };

  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (pinch && pointers.size < 2) {
      pinch = null;
      to.end("pinch");
    } else if (drag && drag.moved) {
      if (drag.kind === "box") to.box(drag.from, drag.last);
      if (drag.kind === "pan") flung(drag);
      to.end(drag.kind);
    } else if (drag && event.type === "pointerup") to.click(drag.from, event);
    drag = null;
  };

  /** A drag that ends in motion goes on: tell its speed in pixels per millisecond. */
  const flung = ({ track }) => {
    const now = performance.now(), first = track[0];
    if (!first || now === first.now) return;
    const speed = [0, 1].map((k) => (track.at(-1).place[k] - first.place[k]) / (now - first.now));
    if (now - track.at(-1).now < FLING_MS && Math.hypot(...speed) > FLING_SPEED * devicePixelRatio) to.fling?.(...speed);
  };

  const turned = (event) => {
    event.preventDefault();
    const pixels = event.deltaY * [1, LINE_PIXELS, el.clientHeight][event.deltaMode];
    wheel -= pixels / (event.ctrlKey ? RUNG_PINCH : RUNG_PIXELS);
    const rungs = Math.trunc(wheel);
    wheel -= rungs;
    if (rungs !== 0) to.zoom(at(event), rungs, "wheel");
  };

  const twice = (event) => to.zoom(at(event), event.shiftKey ? -6 : 6, "double");
  const listeners = {
    pointerdown: down, pointermove: move, pointerup: up, pointercancel: up, wheel: turned, dblclick: twice,
    pointerleave: (event) => pointers.size === 0 && to.leave(event),
  };
  for (const [kind, listener] of Object.entries(listeners)) el.addEventListener(kind, listener, { passive: false });
  return () => Object.entries(listeners).forEach(([kind, listener]) => el.removeEventListener(kind, listener));
}

function measured([[x1, y1], [x2, y2]]) {
  return {
    middle: [(x1 + x2) / 2, (y1 + y2) / 2],
    spread: Math.max(1, Math.hypot(x2 - x1, y2 - y1)),
    angle: (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI,
  };
}
