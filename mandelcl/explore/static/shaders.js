// The shaders: each pixel from the first layer that has it, and its colour by whole numbers, as turns.js finds it.

import { EFFECTS_FUNCTIONS, EFFECTS_UNIFORMS } from "./effects_shader.js";

export const LAYERS = 6;

export const VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}
`;

const LAYER = (k) => `
uniform usampler2DArray layer${k};
uniform vec4 turn${k};
uniform vec2 shift${k};
uniform ivec4 window${k};
uniform ivec2 first${k};
uniform uint cap${k};
uniform ivec2 pairs${k};
`;

const LOOK = (k) => `
  if (!found && ${k} < used) {
    vec2 at = vec2(dot(turn${k}.xy, pixel), dot(turn${k}.zw, pixel)) + shift${k};
    ivec2 place = ivec2(floor(at + 0.5)) - window${k}.xy;
    if (all(greaterThanEqual(place, ivec2(0))) && all(lessThan(place, window${k}.zw))) {
      place += first${k};
      place -= window${k}.zw * ivec2(greaterThanEqual(place, window${k}.zw));
      count = texelFetch(layer${k}, ivec3(place, 0), 0).r;
      found = count != NONE;
      fraction = uintBitsToFloat(texelFetch(layer${k}, ivec3(place, 1), 0).r);
      inside = count == cap${k} || count >= cap;
      has = greaterThan(pairs${k}, ivec2(0));
      if (has.x) slope = pair(texelFetch(layer${k}, ivec3(place, pairs${k}.x), 0).r, texelFetch(layer${k}, ivec3(place, pairs${k}.x + 1), 0).r);
      if (has.y) last = pair(texelFetch(layer${k}, ivec3(place, pairs${k}.y), 0).r, texelFetch(layer${k}, ivec3(place, pairs${k}.y + 1), 0).r);
    }
  }
`;

const EACH = (part) => Array.from({ length: LAYERS }, (_, k) => part(k)).join("");

export const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
precision highp usampler2DArray;
precision highp sampler2D;

const uint NONE = 0xffffffffu;
const uint CHORD_MASK = 0x3fffu;

uniform int used;
uniform vec2 middle;
uniform uint cap;
uniform bool rooted;
uniform bool fractions;
uniform uint size;
uniform uvec2 per_count;
uniform uvec2 per_unit;
uniform uvec2 start;
uniform sampler2D table;
uniform usampler2D chords;
uniform bool lit;
${EFFECTS_UNIFORMS}
${EACH(LAYER)}
out vec4 colour;

/* The high and the low word of a product of two words. */
uvec2 wide(uint a, uint b) {
  uint al = a & 0xffffu, ah = a >> 16, bl = b & 0xffffu, bh = b >> 16;
  uint low = al * bl, one = ah * bl + (low >> 16), other = al * bh + (one & 0xffffu);
  return uvec2((low & 0xffffu) | (other << 16), ah * bh + (one >> 16) + (other >> 16));
}

uvec2 sum(uvec2 a, uvec2 b) {
  uint low = a.x + b.x;
  return uvec2(low, a.y + b.y + (low < a.x ? 1u : 0u));
}

/* The low 64 bits of a product. */
uvec2 times(uvec2 a, uvec2 b) {
  uvec2 low = wide(a.x, b.x);
  return uvec2(low.x, low.y + a.x * b.y + a.y * b.x);
}

uint rooted_place(uint count, float fraction) {
  float added = fractions ? fraction + 7.0 : 8.0;
  uint bits = min(floatBitsToUint(max(float(count) + added, 8.0)), 0x4fffffffu) - 0x41000000u;
  int chord = int(bits >> 14);
  uvec2 line = texelFetch(chords, ivec2(chord & 127, chord >> 7), 0).rg;
  return wide((bits & CHORD_MASK) * line.g + line.r + start.x, size).y;
}

uint linear_place(uint count, float fraction) {
  uvec2 turned = sum(times(uvec2(count, 0u), per_count), start);
  if (fractions) {
    int units = int(clamp(fraction, -31.0, 31.0) * 67108864.0);
    turned = sum(turned, times(uvec2(uint(units), units < 0 ? 0xffffffffu : 0u), per_unit));
  }
  return sum(wide(turned.y, size), uvec2(wide(turned.x, size).y, 0u)).y;
}

vec4 shade(uint count, float fraction, bool inside) {
  uint place = inside ? size : rooted ? rooted_place(count, fraction) : linear_place(count, fraction);
  return texelFetch(table, ivec2(int(place & 255u), int(place >> 8)), 0);
}

vec2 pair(uint re, uint im) {
  return vec2(uintBitsToFloat(re), uintBitsToFloat(im));
}
${EFFECTS_FUNCTIONS}
void main() {
  vec2 pixel = vec2(gl_FragCoord.x - 0.5, 2.0 * middle.y - (gl_FragCoord.y - 0.5)) - middle;
  bool found = false, inside = false;
  bvec2 has = bvec2(false);
  uint count = 0u;
  float fraction = 0.0;
  vec2 slope = vec2(0.0), last = vec2(0.0);
  ${EACH(LOOK)}
  if (!found) colour = vec4(0.055, 0.06, 0.075, 1.0);
  else {
    colour = shade(count, fraction, inside);
    if (lit && !inside) colour.rgb = effects(colour.rgb, slope, last, has);
  }
}
`;
