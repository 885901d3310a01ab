// A page's tokens. The page proves to its server that it knows one, and the server proves the same; neither sends a
// token. docs/explore-protocol.md has the formulas.
//
// A run's token is worthless once that server has ended, so it may be in localStorage. The kept token opens later runs.
// It is stored as a key that no script can read, for example one of a program that listens on the port later.

import { hmacSha256 } from "./sha256.js";

const RUN = "mandelcl-run";
const STORE = "keys";
const NONCE_BYTES = 16;
const encoder = new TextEncoder();

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** A key for HMACs from bytes: one that scripts cannot read, if the browser supports that. */
async function keyOf(bytes) {
  return globalThis.crypto?.subtle ? crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]) : bytes;
}

async function hmac(key, text) {
  const bytes = encoder.encode(text);
  return key instanceof Uint8Array ? hmacSha256(key, bytes) : new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes));
}

async function unsealed(key, text, sealed) {
  const pad = await hmac(key, text);
  return unhex(sealed).map((byte, k) => byte ^ pad[k]);
}

export class Tokens {
  /** `given` is the token in the address, if any; `origin` is the page's. */
  constructor(given, origin) {
    Object.assign(this, { origin, run: given || remembered() });
  }

  /** The answer to the server's nonce, {nonce, run, kept}, and a function that checks the server's reply. */
  async answer(nonce) {
    const own = hex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    const run = this.run || remembered(); // another tab may know it by now
    const keys = { run: run ? await keyOf(encoder.encode(run)) : null, kept: await kept() };
    const about = `${this.origin}\n${nonce}\n${own}`, proofs = {};
    for (const [name, key] of Object.entries(keys)) if (key) proofs[name] = hex(await hmac(key, `page\n${about}`));
    return { message: { do: "prove", nonce: own, ...proofs }, check: (reply) => this.check(reply, keys, about) };
  }

  /** Whether the answering program knows the token, too. If so, both tokens are stored. */
  async check(reply, keys, about) {
    const key = keys[reply.with];
    if (!key || reply.proof !== hex(await hmac(key, `server\n${about}`))) return false;
    this.run = new TextDecoder().decode(await unsealed(key, `run\n${about}`, reply.run));
    remember(this.run);
    if (reply.with === "run") await keep(await keyOf(await unsealed(key, `kept\n${about}`, reply.kept)));
    return true;
  }
}

function remembered() {
  try {
    return localStorage.getItem(RUN) ?? "";
  } catch {
    return ""; // a browser without storage
  }
}

function remember(run) {
  try {
    localStorage.setItem(RUN, run);
  } catch {
    // the token is still in the link
  }
}

/** Use the store of keys; null if the browser has none. */
function stored(mode, act) {
  return new Promise((resolve) => {
    const none = () => resolve(null);
    if (!globalThis.crypto?.subtle || !globalThis.indexedDB) return none();
    const opening = indexedDB.open("mandelcl", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = opening.onblocked = none;
    opening.onsuccess = () => {
      const database = opening.result;
      try {
        const transaction = database.transaction(STORE, mode), request = act(transaction.objectStore(STORE));
        transaction.oncomplete = () => resolve(request.result ?? null);
        transaction.onerror = transaction.onabort = none;
      } catch {
        none();
      }
      database.close(); // takes effect after its transactions have ended
    };
    return undefined;
  });
}

const kept = async () => {
  const key = await stored("readonly", (store) => store.get("kept"));
  return globalThis.CryptoKey && key instanceof CryptoKey ? key : null; // not every page has CryptoKey
};
const keep = (key) => stored("readwrite", (store) => store.put(key, "kept"));
