// The automatic iteration limit: three times the 99.5th percentile of the escaping pixels' counts.

import { NONE } from "./layer.js";

const LEAST = 1000;
const QUANTILE = 0.995;
const FACTOR = 3;
const FEW = 64; // with fewer pixels outside, there is no suggestion
const SAMPLES = 1 << 16;

/** The iteration limit for these layers, rounded up to 1, 2 or 5 times a power of ten; null if they show too little. */
export function suggestedLimit(layers, most = 4294967294) {
  const layer = layers.find(({ filled, level }) => filled && level > 0) ?? layers.find(({ filled }) => filled);
  if (!layer) return null;
  const counts = [];
  const step = Math.max(1, Math.floor(layer.counts.length / SAMPLES));
  for (let i = 0; i < layer.counts.length; i += step) {
    const count = layer.counts[i];
    if (count !== NONE && count !== layer.maxIterations) counts.push(count);
  }
  if (counts.length < FEW) return null;
  counts.sort((a, b) => a - b);
  const wanted = FACTOR * counts[Math.floor(QUANTILE * (counts.length - 1))];
  return Math.min(Math.max(LEAST, rounded(wanted)), most);
}

function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.round([1, 2, 5, 10].find((digit) => digit * power >= value * (1 - 1e-12)) * power);
}
