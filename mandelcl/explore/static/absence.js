// What a page shows without a server: the reason, and what to do.

import { element } from "./dom.js";
import { FULL, STRANGER, UNKNOWN } from "./introduce.js";

const AGAIN = "This page then continues by itself.";

/** What to show if the server refuses the page or does not answer; `link` is the view's. */
export function absence(why, link) {
  const command = element("code", { class: "code" }, `mandelcl explore '${link}'`);
  if (why === FULL) return [element("h2", {}, "The server has too many open pages"), element("p", {}, `Close another page. ${AGAIN}`)];
  if (why === UNKNOWN) {
    return [
      element("h2", {}, "This browser has no access"),
      element("p", {}, "Open the link that the server printed in its terminal. Or run this in a terminal, which opens this view:"),
      command,
    ];
  }
  const what = why === STRANGER ? "Another program is using this address" : "The server does not answer";
  return [element("h2", {}, what), element("p", {}, "Start it in a terminal:"), command, why === STRANGER ? null : element("p", {}, AGAIN)];
}
