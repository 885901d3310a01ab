// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) of bytes, for pages over plain HTTP from another machine: browsers give
// those
// no crypto.subtle. Other pages use crypto.subtle.

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);
const fraction = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32);
const ROUNDS = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const BLOCK = 64;
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** The digest of bytes, as 32 bytes. */
export function sha256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK), view = new DataView(padded.buffer);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  view.setBigUint64(padded.length - 8, 8n * BigInt(bytes.length));
  const state = Uint32Array.from(START), words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let k = 0; k < 16; k++) words[k] = view.getUint32(at + 4 * k);
    for (let k = 16; k < 64; k++) {
      const [early, late] = [words[k - 15], words[k - 2]];
      const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3), second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[k] = words[k - 16] + first + words[k - 7] + second;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let k = 0; k < 64; k++) {
      const up = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[k] + words[k]) | 0;
      const down = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + up) | 0, c, b, a, (up + down) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, k) => (state[k] += word));
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, k) => digest.setUint32(4 * k, word));
  return new Uint8Array(digest.buffer);
}

/** The HMAC of bytes under a key of at most 64 bytes, as 32 bytes. */
export function hmacSha256(key, bytes) {
  const under = (pad, inner) => {
    const all = new Uint8Array(BLOCK + inner.length).fill(pad, 0, BLOCK);
    key.forEach((byte, k) => (all[k] ^= byte));
    all.set(inner, BLOCK);
    return sha256(all);
  };
  return under(0x5c, under(0x36, bytes));
}
