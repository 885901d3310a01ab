// What a page without a server says: why, and what to do.

import { element } from "./dom.js";
import { FULL, STRANGER, UNKNOWN } from "./introduce.js";

const AGAIN = "This page goes on by itself then.";

/** What to show of a server that does not let the page in, or does not answer; `link` is that of the view. */
export function absence(why, link) {
  const command = element("code", { class: "code" }, `mandelcl explore '${link}'`);
  if (why === FULL) return [element("h2", {}, "The server has as many pages open as it may"), element("p", {}, `Close another page. ${AGAIN}`)];
  if (why === UNKNOWN) {
    return [
      element("h2", {}, "This link is not good any more"),
      element("p", {}, "The server was started again since, and this browser has not been let in yet. Open the address that the terminal printed, or run this in a terminal:"),
      command,
    ];
  }
  const what = why === STRANGER ? "Another program answers at this address" : "The server does not answer";
  return [element("h2", {}, what), element("p", {}, "Start it in a terminal:"), command, why === STRANGER ? null : element("p", {}, AGAIN)];
}
