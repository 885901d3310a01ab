// The shaders: the colours of a layer's pixels, in integers as in cycles.js, and the drawing of layers in a view.
//
// Each painting program is made for one kind of mapping and one set of effects. If a processor stands in for a GPU, it
// would compute both sides of every branch.

import { effectsFunctions, effectsUniforms } from "./effects_shader.js";

/** One triangle that covers the whole target; `v` is a corner's position in a layer's window. */
export const VERTEX = `#version 300 es
uniform mat2 turn;
uniform vec2 shift;
out vec2 v;
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
  v = turn * corner + shift;
}
`;

/** Draw what has been painted: nothing outside the window, or where no pixel has arrived. */
export const SHOW = `#version 300 es
precision highp float;
precision highp sampler2D;
uniform sampler2D painted;
uniform vec2 first;
uniform vec2 half_pixel;
in vec2 v;
out vec4 colour;
void main() {
  if (any(notEqual(floor(v), vec2(0.0)))) discard;
  colour = texture(painted, clamp(v, half_pixel, 1.0 - half_pixel) + first);
  if (colour.a == 0.0) discard;
  colour /= colour.a; // a blend of pixels, some of which have not arrived
}
`;

/** The fragment shader that paints a layer with {rooted, wide, fractions, effects}: three switches and names of effects.
 *
 * `wide` counts have 64 bits: two words, the low one first.
 */
export function paint({ rooted, wide, fractions, effects }) {
  const planes = effects.length > 0;
  return `${BEGIN}${wide ? WIDE : NARROW}${planes ? PLANES + effectsUniforms : ""}${rooted ? rootedPlace(wide, fractions) : linearPlace(fractions)}
${planes ? effectsFunctions(effects) : ""}
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  uint first = word(at, 0);
  float value = uintBitsToFloat(first);
  uvec2 count = valued ? (first == INSIDE ? own_limit : count_in(value)) : uvec2(first, high_word(at));
  bool inside = count == own_limit || !below(count, max_iterations);
  uint place = inside ? size : place_of(count${fractions ? ", valued ? fract(value) : uintBitsToFloat(word(at, 1))" : ""});
  colour = texelFetch(table, ivec2(int(place & 255u), int(place >> 8)), 0);
  ${planes ? "if (!inside) colour.rgb = effects(colour.rgb, pair(at, pairs.x), pair(at, pairs.y), greaterThan(pairs, ivec2(0)));" : ""}
  if (!valued && missing(count)) colour = vec4(0.0);
}
`;
}

const BEGIN = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
precision highp usampler2DArray;
precision highp sampler2D;

const uint NONE = 0xffffffffu;
const uint INSIDE = 0xfffffffeu;
const uint CHORD_MASK = 0x3fffu;

uniform usampler2DArray layer;
uniform bool valued;          /* one word per pixel: count plus fraction */
uniform uvec2 own_limit;
uniform uvec2 max_iterations;
uniform uint size;
uniform uvec2 start;
uniform sampler2D table;
out vec4 colour;

uint word(ivec2 at, int slice) {
  return texelFetch(layer, ivec3(at, slice), 0).r;
}

/* The high and low words of a product of two words. */
uvec2 wide(uint a, uint b) {
  uint al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
  uint low = al * bl, one = ah * bl + (low >> 16), other = al * bh + (one & 0xffffu);
  return uvec2((low & 0xffffu) | (other << 16), ah * bh + (one >> 16) + (other >> 16));
}
`;

const NARROW = `
uint high_word(ivec2 at) {
  return 0u;
}

uvec2 count_in(float value) {
  return uvec2(uint(value), 0u);
}

bool below(uvec2 a, uvec2 b) {
  return b.y > 0u || a.x < b.x;
}

bool missing(uvec2 count) {
  return count.x == NONE;
}
`;

const WIDE = `
uniform int high;             /* the slice of the high words */

uint high_word(ivec2 at) {
  return word(at, high);
}

/* The whole part of a float, which has 24 bits. */
uvec2 count_in(float value) {
  uint above = uint(value * ${2 ** -32});
  return uvec2(uint(value - float(above) * 4294967296.0), above);
}

bool below(uvec2 a, uvec2 b) {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

bool missing(uvec2 count) {
  return count.y == NONE;
}

/* The float nearest to a count, of a high word below 2^24; of two, the even one. */
float nearest(uvec2 count) {
  if (count.y == 0u) return float(count.x);
  uint bits = (floatBitsToUint(float(count.y)) >> 23) - 126u, dropped = bits + 8u;
  uint kept = count.y << (24u - bits) | count.x >> dropped, rest = count.x & ((1u << dropped) - 1u);
  uint half_way = 1u << (dropped - 1u);
  if (rest > half_way || (rest == half_way && (kept & 1u) == 1u)) kept++;
  return uintBitsToFloat(kept + ((157u + bits) << 23));
}
`;

const PLANES = `
uniform ivec2 pairs;          /* the slices where distances and last points begin; -1 for none */

vec2 pair(ivec2 at, int slice) {
  return slice < 0 ? vec2(0.0) : vec2(uintBitsToFloat(word(at, slice)), uintBitsToFloat(word(at, slice + 1)));
}
`;

/** The place in the table: for a bend, interpolated along chords, … */
const rootedPlace = (wide, fractions) => `
uniform usampler2D chords;

uint place_of(uvec2 count${fractions ? ", float fraction" : ""}) {
  float added = ${fractions ? "fraction + 7.0" : "8.0"};
  uint bits = min(floatBitsToUint(max(${wide ? "nearest(count)" : "float(count.x)"} + added, 8.0)), 0x58ffffffu) - 0x41000000u;
  int chord = int(bits >> 14);
  uvec2 line = texelFetch(chords, ivec2(chord & 127, chord >> 7), 0).rg;
  return wide((bits & CHORD_MASK) * line.g + line.r + start.x, size).y;
}
`;

/** … or for the count itself. */
const linearPlace = (fractions) => `
uniform uvec2 per_count;
uniform uvec2 per_unit;

uvec2 sum(uvec2 a, uvec2 b) {
  uint low = a.x + b.x;
  return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}

/* The low 64 bits of a product. */
uvec2 times(uvec2 a, uvec2 b) {
  uvec2 low = wide(a.x, b.x);
  return uvec2(low.x, low.y + a.x * b.y + a.y * b.x);
}

uint place_of(uvec2 count${fractions ? ", float fraction" : ""}) {
  uvec2 turned = sum(times(count, per_count), start);
  ${fractions ? `int units = int(clamp(fraction, -31.0, 31.0) * 67108864.0);
  turned = sum(turned, times(uvec2(uint(units), units < 0 ? 0xffffffffu : 0u), per_unit));` : ""}
  return sum(wide(turned.y, size), uvec2(wide(turned.x, size).y, 0u)).y;
}
`;
