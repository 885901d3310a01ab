// The panel that lists gestures and keys.

import { element } from "./dom.js";
import { KEYS } from "./input.js";

export function keys() {
  const lines = KEYS.flatMap(([key, what]) => [element("dt", {}, key), element("dd", {}, what)]);
  return { name: "keys", title: "Gestures and keys", icon: "keys", label: "Keys", key: "?", el: element("dl", { class: "keys" }, lines) };
}
