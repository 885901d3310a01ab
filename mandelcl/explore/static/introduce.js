// How a page and its server come to know each other on a new socket, before anything else is said.

/** What became of it: "welcome", or why not. */
export const WELCOME = "welcome";
export const UNKNOWN = "unknown"; // the server does not know the page's tokens
export const FULL = "full"; // it has as many pages as it may
export const STRANGER = "stranger"; // what has answered is no server that knows the page's token

/** Say who the page is; `next()` returns the next text from the server, and `send(text)` sends one. */
export async function introduce(tokens, next, send) {
  const hello = parsed(await next());
  if (hello.say !== "hello" || typeof hello.nonce !== "string") return STRANGER;
  const { message, check } = await tokens.answer(hello.nonce);
  send(JSON.stringify(message));
  const said = parsed(await next());
  if (said.say === "refused" && said.why === "full") return FULL;
  if (said.say === "refused") {
    tokens.run = ""; // another tab may know one
    return UNKNOWN;
  }
  return said.say === "proved" && (await check(said)) ? WELCOME : STRANGER;
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
