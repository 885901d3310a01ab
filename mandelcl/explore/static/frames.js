// Binary frames: pixels from the server, and pieces of files to it.

const PIXELS = 0x314c434d; // the letters MCL1
const UPLOAD = 0x554c434d; // the letters MCLU
const HEADER_BYTES = 32;
const KINDS = { 1: "counts", 2: "colours", 3: "values" };
const UPLOAD_HEADER_BYTES = 8;
/** The planes of an orbit's last iterates. */
export const TRAILS = [...[1, 2, 3, 4, 5, 6, 7, 8].map((k) => `stripe-${k}`), "triangle", "trap-point", "trap-cross", "trap-circle"];
const FOLLOWING = ["smooth", "distance", "last", ...TRAILS]; // the planes that may follow the counts; their flags are 1, 2, 4, …
const WORDS = { smooth: ["smooth"], distance: ["distance_re", "distance_im"], last: ["last_re", "last_im"], ...Object.fromEntries(TRAILS.map((name) => [name, [name]])) };
const TWO_WORDS = 1 << 15; // the flag of counts of 64 bits
const MOST_NARROW = 0xfffffffe; // above this iteration limit, counts have 64 bits
export const PIECE_BYTES = 49152;

/** The names of a count's words, the low one first, at an iteration limit. */
export function countWords(maxIterations) {
  return maxIterations > MOST_NARROW ? ["counts", "high"] : ["counts"];
}

/** Parse a rectangle of a level's pixels, {…, words}: 32 bits per pixel, by name; null for invalid bytes. */
export function parseFrame(buffer) {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const header = new DataView(buffer, 0, HEADER_BYTES);
  if (header.getUint32(0, true) !== PIXELS) return null;
  const frame = {
    kind: KINDS[header.getUint16(4, true)],
    pane: header.getUint32(8, true),
    generation: header.getUint32(12, true),
    level: header.getUint32(16, true),
    column: header.getInt32(20, true),
    row: header.getInt32(24, true),
    width: header.getUint16(28, true),
    height: header.getUint16(30, true),
  };
  const pixels = frame.width * frame.height, flags = header.getUint16(6, true);
  if (frame.kind === "colours") {
    return buffer.byteLength === HEADER_BYTES + 3 * pixels ? { ...frame, colours: new Uint8Array(buffer, HEADER_BYTES) } : null;
  }
  const planes = FOLLOWING.filter((_, k) => flags & (1 << k));
  const names = frame.kind === "values" ? ["values"] : ["counts", ...(flags & TWO_WORDS ? ["high"] : []), ...wordsOf(planes)];
  if (buffer.byteLength !== HEADER_BYTES + 4 * pixels * names.length) return null;
  const words = names.map((name, k) => [name, new Uint32Array(buffer, HEADER_BYTES + 4 * pixels * k, pixels)]);
  return { ...frame, words: Object.fromEntries(words) };
}

/** The names of the words of planes besides counts, in the order of transmission. */
export function wordsOf(planes) {
  return FOLLOWING.filter((plane) => planes.includes(plane)).flatMap((plane) => WORDS[plane]);
}

/** The pieces in which a file is sent. */
export function* pieces(id, bytes) {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    const part = bytes.subarray(start, start + PIECE_BYTES);
    const piece = new Uint8Array(UPLOAD_HEADER_BYTES + part.length);
    const header = new DataView(piece.buffer);
    header.setUint32(0, UPLOAD, true);
    header.setUint32(4, id, true);
    piece.set(part, UPLOAD_HEADER_BYTES);
    yield piece;
  }
}
