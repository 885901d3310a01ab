// Effects as WebGL draws them while anything moves: floats, where mandelcl/shading has doubles and rounds to bytes.

export const EFFECTS_UNIFORMS = `
uniform vec4 light;           /* where it comes from (x, y), its height, its strength; 0 for none */
uniform vec4 boundary;        /* its colour's light, and its width in pixels; 0 for none */
uniform vec4 decomposition;   /* the colour's light, and the share that remains; below 0 for none */
uniform vec4 stripes;         /* the colour's light, and their strength; 0 for none */
uniform vec3 stripes_of;      /* their number, the formula's degree, and ln of the squared radius at which z was kept */
`;

export const EFFECTS_FUNCTIONS = `
vec3 decoded(vec3 value) {
  return mix(value / 12.92, pow((value + 0.055) / 1.055, vec3(2.4)), greaterThan(value, vec3(0.04045)));
}

vec3 encoded(vec3 value) {
  vec3 held = clamp(value, 0.0, 1.0);
  return mix(held * 12.92, 1.055 * pow(held, vec3(1.0 / 2.4)) - 0.055, greaterThan(held, vec3(0.0031308)));
}

/* The length of a pair and its direction, (0, 0) for none, without squares that no float holds. */
vec3 direction(vec2 value) {
  float most = max(abs(value.x), abs(value.y));
  if (most == 0.0) return vec3(0.0);
  vec2 scaled = value / most;
  float along = length(scaled);
  return vec3(scaled / along, along * most);
}

float striped(vec2 last) {
  vec3 way = direction(last);
  if (way.z == 0.0) return 1.0 - 0.5 * stripes.w;
  float grown = max(2.0 * log(way.z), stripes_of.z), angle = stripes_of.x * atan(way.y, way.x);
  float weight = min(log(grown / stripes_of.z) / log(stripes_of.y), 1.0);
  float height = (1.0 - weight) * sin(stripes_of.y * angle) + weight * sin(angle);
  return clamp(1.0 - stripes.w * (0.5 - 0.5 * height), 0.0, 1.0);
}

vec3 effects(vec3 value, vec2 slope, vec2 last, bvec2 has) {
  vec3 own = decoded(value);
  if (has.y && stripes.w > 0.0) own = mix(stripes.rgb, own, striped(last));
  if (has.y && decomposition.w >= 0.0 && last.y < 0.0) own = mix(decomposition.rgb, own, decomposition.w);
  vec3 way = direction(slope);
  if (has.x && light.w > 0.0) {
    float share = light.w / (1.0 + light.z);
    own *= max(1.0 - share + share * dot(way.xy, light.xy), 1.0 - light.w);
  }
  if (has.x && boundary.w > 0.0) own = mix(boundary.rgb, own, min(way.z / boundary.w, 1.0));
  return encoded(own);
}
`;
