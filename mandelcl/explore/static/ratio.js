// Exact numbers: ratios of integers of any length, and their conversion from and to text.

const DECIMAL = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,9}))?$/;
const RATIO = /^([+-]?)(\d+)\/(\d+)$/;
export const MAX_DIGITS = 12000; // the limit everywhere in mandelcl
const FLOAT_BITS = 64;

/** A ratio of two integers with a positive denominator. It is only reduced when it is written. */
export class Ratio {
  constructor(num, den = 1n) {
    this.num = den < 0n ? -num : num;
    this.den = den < 0n ? -den : den;
    if (this.den === 0n) throw new RangeError("a number has a denominator of zero");
  }

  /** The exact value of a ratio, an integer, a float (as the binary fraction that it is) or a text. */
  static of(value) {
    if (value instanceof Ratio) return value;
    if (typeof value === "bigint") return new Ratio(value);
    if (typeof value === "number") return fromFloat(value);
    return parse(String(value));
  }

  plus(other) {
    const { num, den } = Ratio.of(other);
    return den === this.den ? new Ratio(this.num + num, den) : new Ratio(this.num * den + num * this.den, this.den * den);
  }

  minus(other) {
    return this.plus(Ratio.of(other).negated());
  }

  times(other) {
    const { num, den } = Ratio.of(other);
    return new Ratio(this.num * num, this.den * den);
  }

  over(other) {
    const { num, den } = Ratio.of(other);
    return new Ratio(this.num * den, this.den * num);
  }

  negated() {
    return new Ratio(-this.num, this.den);
  }

  /** −1, 0 or 1: less than, equal to, or greater than the other. */
  compare(other) {
    const { num, den } = Ratio.of(other);
    const left = this.num * den, right = num * this.den;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  equals(other) {
    return this.compare(other) === 0;
  }

  get sign() {
    return this.num < 0n ? -1 : this.num > 0n ? 1 : 0;
  }

  /** The largest integer that is not above it. */
  floor() {
    const whole = this.num / this.den;
    return this.num < 0n && whole * this.den !== this.num ? whole - 1n : whole;
  }

  /** The nearest integer; ties go to the even one, as in Python. */
  round() {
    const twice = 2n * this.num + this.den, den = 2n * this.den;
    const up = new Ratio(twice, den).floor();
    return up * den === twice && up % 2n !== 0n ? up - 1n : up;
  }

  reduced() {
    let a = this.num < 0n ? -this.num : this.num, b = this.den;
    while (b) [a, b] = [b, a % b];
    return a > 1n ? new Ratio(this.num / a, this.den / a) : this;
  }

  /** The nearest multiple of 10^−digits. */
  rounded(digits) {
    const unit = 10n ** BigInt(Math.max(0, digits));
    return new Ratio(this.times(unit).round(), unit);
  }

  /** The largest e with 2^e ≤ |value|; the value must not be 0. */
  log2() {
    const size = this.num < 0n ? -this.num : this.num;
    const e = bits(size) - bits(this.den);
    const enough = e >= 0 ? size >= this.den << BigInt(e) : size << BigInt(-e) >= this.den;
    return enough ? e : e - 1;
  }

  /** The largest e with 10^e ≤ |value|; the value must not be 0. */
  log10() {
    const size = this.num < 0n ? this.negated() : this;
    let e = Math.floor(size.log2() * Math.LOG10E * Math.LN2);
    while (size.compare(power10(e + 1)) >= 0) e++;
    while (size.compare(power10(e)) < 0) e--;
    return e;
  }

  /** The approximate value as a float; 0 or infinity if it is out of range. */
  toNumber() {
    if (this.num === 0n) return 0;
    const shift = FLOAT_BITS - this.log2();
    const scaled = shift >= 0 ? (this.num << BigInt(shift)) / this.den : this.num / (this.den << BigInt(-shift));
    const half = Math.trunc(shift / 2); // in two steps, since 2^shift alone may exceed a float's range
    return Number(scaled) * 2 ** -half * 2 ** (half - shift);
  }

  /** The exact value as a text: a finite decimal if there is one, otherwise p/q. */
  toText() {
    const exact = this.reduced();
    const digits = decimals(exact.den);
    return digits === null ? `${exact.num}/${exact.den}` : exact.toDecimal(digits);
  }

  /** The value with this many digits after the point, rounded to nearest, without trailing zeros. */
  toDecimal(digits) {
    const scaled = this.times(10n ** BigInt(Math.max(0, digits))).round();
    const text = (scaled < 0n ? -scaled : scaled).toString().padStart(digits + 1, "0");
    const whole = text.slice(0, text.length - digits);
    const part = text.slice(text.length - digits).replace(/0+$/, "");
    return (scaled < 0n ? "-" : "") + (digits > 0 && part ? `${whole}.${part}` : digits > 0 ? whole : text);
  }

  /** The value with this many digits, like 1.25e-300, rounded to nearest. */
  toShort(digits) {
    if (this.num === 0n) return "0";
    let e = this.log10();
    let leading = this.times(power10(digits - 1 - e)).round();
    if ((leading < 0n ? -leading : leading) >= 10n ** BigInt(digits)) {
      e += 1;
      leading /= 10n;
    }
    const value = new Ratio(leading).times(power10(e - digits + 1));
    if (e >= -5 && e < 7) return value.toText();
    return `${new Ratio(leading).times(power10(1 - digits)).toText()}e${e}`;
  }
}

/** 10^e, for any integer e. */
export function power10(e) {
  return e >= 0 ? new Ratio(10n ** BigInt(e)) : new Ratio(1n, 10n ** BigInt(-e));
}

/** 2^e, for any integer e. */
export function power2(e) {
  return e >= 0 ? new Ratio(1n << BigInt(e)) : new Ratio(1n, 1n << BigInt(-e));
}

/** Parse a number exactly. Throws RangeError for a text that is not a number. */
export function parse(text) {
  const trimmed = text.trim();
  const shown = trimmed.length > 40 ? `${trimmed.slice(0, 40)}…` : trimmed;
  const decimal = DECIMAL.exec(trimmed);
  if (decimal) {
    const [whole, part = ""] = decimal[2].split(".");
    const exponent = Number(decimal[3] ?? 0);
    if (whole.length + part.length > MAX_DIGITS || Math.abs(exponent) > MAX_DIGITS) {
      throw new RangeError(`“${shown}” has more than ${MAX_DIGITS} digits or an exponent beyond it`);
    }
    const value = new Ratio(BigInt(whole + part || "0")).times(power10(exponent - part.length));
    return decimal[1] === "-" ? value.negated() : value;
  }
  const ratio = RATIO.exec(trimmed);
  if (ratio && ratio[2].length <= MAX_DIGITS && ratio[3].length <= MAX_DIGITS) {
    const value = new Ratio(BigInt(ratio[2]), BigInt(ratio[3]));
    return ratio[1] === "-" ? value.negated() : value;
  }
  throw new RangeError(`“${shown}” is not a number; write it like -0.75, 1.5e-30 or 1/3`);
}

function fromFloat(value) {
  if (!Number.isFinite(value)) throw new RangeError(`a number must be finite, not ${value}`);
  if (Number.isInteger(value)) return new Ratio(BigInt(value));
  let e = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    e++;
  }
  return new Ratio(BigInt(scaled), 1n << BigInt(e));
}

function bits(value) {
  const hex = value.toString(16);
  return value === 0n ? 0 : 4 * (hex.length - 1) + (32 - Math.clz32(parseInt(hex[0], 16)));
}

/** The number of digits after the point for this reduced denominator; null if there are infinitely many. */
function decimals(den) {
  let rest = den, twos = 0, fives = 0;
  while (rest % 2n === 0n) {
    rest /= 2n;
    twos++;
  }
  while (rest % 5n === 0n) {
    rest /= 5n;
    fives++;
  }
  return rest === 1n ? Math.max(twos, fives) : null;
}
