// Effects in WebGL, while anything moves: in floats, where mandelcl/colour uses doubles and rounds to bytes.

export const effectsUniforms = `
uniform vec4 light;           /* its direction (x, y), its height, its strength */
uniform vec4 boundary;        /* its colour's light, and its width in pixels */
uniform vec4 decomposition;   /* the colour's light, and the share that remains */
uniform vec4 stripes;         /* the colour's light, and their strength */
uniform vec3 stripes_of;      /* their number, the formula's degree, and ln of the squared radius at which z was kept */
`;

const COMMON = `
vec3 decoded(vec3 value) {
  return mix(value / 12.92, pow((value + 0.055) / 1.055, vec3(2.4)), greaterThan(value, vec3(0.04045)));
}

vec3 encoded(vec3 value) {
  vec3 held = clamp(value, 0.0, 1.0);
  return mix(held * 12.92, 1.055 * pow(held, vec3(1.0 / 2.4)) - 0.055, greaterThan(held, vec3(0.0031308)));
}

/* The length of a pair and its direction, (0, 0) for none, without squares beyond a float's range. */
vec3 direction(vec2 value) {
  float most = max(abs(value.x), abs(value.y));
  if (most == 0.0) return vec3(0.0);
  vec2 scaled = value / most;
  float along = length(scaled);
  return vec3(scaled / along, along * most);
}

`;

const STRIPED = `
float striped(vec2 last) {
  vec3 way = direction(last);
  if (way.z == 0.0) return 1.0 - 0.5 * stripes.w;
  float grown = max(2.0 * log(way.z), stripes_of.z), angle = stripes_of.x * atan(way.y, way.x);
  float weight = min(log(grown / stripes_of.z) / log(stripes_of.y), 1.0);
  float height = (1.0 - weight) * sin(stripes_of.y * angle) + weight * sin(angle);
  return clamp(1.0 - stripes.w * (0.5 - 0.5 * height), 0.0, 1.0);
}
`;

/* The code of each effect, in their order. */
const EACH = {
  stripes: "if (has.y) own = mix(stripes.rgb, own, striped(last));",
  decomposition: "if (has.y && last.y < 0.0) own = mix(decomposition.rgb, own, decomposition.w);",
  light: `float share = light.w / (1.0 + light.z);
  if (has.x) own *= max(1.0 - share + share * dot(way.xy, light.xy), 1.0 - light.w);`,
  boundary: "if (has.x) own = mix(boundary.rgb, own, min(way.z / boundary.w, 1.0));",
};

/** The shader function `effects` with these effects. */
export function effectsFunctions(names) {
  const chosen = Object.keys(EACH).filter((name) => names.includes(name));
  return `${COMMON}${chosen.includes("stripes") ? STRIPED : ""}
vec3 effects(vec3 value, vec2 slope, vec2 last, bvec2 has) {
  vec3 own = decoded(value);
  ${chosen.includes("light") || chosen.includes("boundary") ? "vec3 way = direction(slope);" : ""}
  ${chosen.map((name) => EACH[name]).join("\n  ")}
  return encoded(own);
}
`;
}
