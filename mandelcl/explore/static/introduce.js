// The handshake of a page and its server on a new socket, before any other message.

/** The result: "welcome", or the reason for a failure. */
export const WELCOME = "welcome";
export const UNKNOWN = "unknown"; // the server does not know the page's tokens
export const FULL = "full"; // the server has too many pages
export const STRANGER = "stranger"; // the answering program does not know the page's token

/** Do the handshake. `next()` returns the next text from the server, and `send(text)` sends one. */
export async function introduce(tokens, next, send) {
  const hello = parsed(await next());
  if (hello.say !== "hello" || typeof hello.nonce !== "string") return STRANGER;
  const { message, check } = await tokens.answer(hello.nonce);
  send(JSON.stringify(message));
  const reply = parsed(await next());
  if (reply.say === "refused" && reply.why === "full") return FULL;
  if (reply.say === "refused") {
    tokens.run = ""; // another tab may know one
    return UNKNOWN;
  }
  return reply.say === "proved" && (await check(reply)) ? WELCOME : STRANGER;
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
