// Cosine and sine of angles in degrees, in integer arithmetic: to the last bit those of mandelcl/base/rotation.py.

import { Ratio } from "./ratio.js";

const BITS = 128n; // both are multiples of 2^−BITS
const GUARD = 64n; // guard bits
const QUARTERS = [[1n, 0n], [0n, 1n], [-1n, 0n], [0n, -1n]];

/** [cos, sin] of an angle, each rounded to nearest at 2^−128; multiples of 90 degrees are exact. */
export function cosineAndSine(degrees) {
  const quarter = degrees.over(90n).round();
  const [cosine, sine] = series(degrees.minus(90n * quarter));
  const [c, s] = QUARTERS[Number(((quarter % 4n) + 4n) % 4n)];
  const unit = 1n << BITS;
  return [new Ratio(c * cosine - s * sine, unit), new Ratio(s * cosine + c * sine, unit)];
}

/** Cosine and sine of at most 45 degrees, in units of 2^−128: Taylor's series. */
function series(degrees) {
  const one = 1n << (BITS + GUARD);
  const angle = degrees.times(pi()).over(180n).round();
  const sums = [one, 0n];
  let term = one, n = 0n;
  while (term) {
    n += 1n;
    term = floorDivide(term * angle, n * one);
    sums[Number(n % 2n)] += n % 4n === 2n || n % 4n === 3n ? -term : term;
  }
  return sums.map((total) => new Ratio(total, 1n << GUARD).round());
}

let keptPi = null;

/** π in units of 2^−(BITS + GUARD), to about a unit: Machin's formula (1706). */
function pi() {
  const one = 1n << (BITS + 2n * GUARD);
  keptPi ??= (16n * inverseTangent(5n, one) - 4n * inverseTangent(239n, one)) >> GUARD;
  return keptPi;
}

function inverseTangent(inverse, one) {
  let power = one / inverse, total = power, n = 1n;
  while (power) {
    power /= inverse * inverse;
    n += 2n;
    total += n % 4n === 1n ? power / n : -(power / n);
  }
  return total;
}

function floorDivide(a, b) {
  const whole = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? whole - 1n : whole;
}
