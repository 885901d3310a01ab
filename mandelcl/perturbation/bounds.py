"""How far a long step may be from the iterations that it stands for: what a certified count adds up.

A record's coefficients are rounded, and terms above second order are left out. Beside each join of two steps x then y
go, all by the triangle inequality and with nothing left out, logarithms to base 2 of

    G0 … G3   of what is left out, at most G0·|t|³ + G1·|t|²·|c| + G2·|t|·|c|² + G3·|c|³
    eB        of the error of B; that of A is at most rA·|A| units of 2^−53, and rA is kept as it is
    MB … MF   of B, D, E, F with nothing cancelled: the error of D, E, F is at most 32·length units of that

for all |t| up to `Domain` times the step's threshold and all |c| up to the job's radius. They only decide which counts
are certain, so they need not have the same bits everywhere; `_MARGIN` covers the rounding of all of this.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.perturbation.jets import A, B, D, E, F, Floats, Integers, Pairs, Positives

DOUBLE_BITS = 53
NOTHING = -(2.0**40)  # the logarithm of 0, which can be added and multiplied
LARGEST_KEY, _LEAST_KEY = (1 << 31) - 1, -(1 << 31) + 1

# Rows of what is kept of each step while the table is built.
MB, MD, ME, MF, B_ERROR, G0, G1, G2, G3, A_ERROR = range(10)
ROWS = 10

# Units of 2^−53: reading Z rounded toward 0, then one complex product, or two.
_ONE_PRODUCT, _TWO_PRODUCTS = 2 + math.sqrt(5), 2 + 2 * math.sqrt(5)
_QUADRATIC_ROUNDINGS = 32.0  # units of 2^−53 an iteration, of D, E, F with nothing cancelled; by induction over joins
_EVALUATION = 8.0  # units, of each product in the step's quadratic part
_MARGIN = math.log2(1 + 2.0**-6)
# What is used of |t| is below its key's threshold in the larger part, so below √2 times that in absolute value.
_USED = math.sqrt(2) * (1 + 2.0**-7)
# Where two steps join, the second one's t is at most the first one's share of its threshold and c's, and what is left.
_LEFT = 1 + 2.0**-4


@dataclass(frozen=True, slots=True)
class Domain:
    """Where bounds hold, in logarithms: |c| up to `radius`, |t| up to `own` times the threshold.

    `below` is that factor for the steps that are joined. It is larger, so that what reaches them is in reach.
    """

    radius: float
    own: float
    below: float

    @classmethod
    def of(cls, radius: Positives, levels_above: int) -> "Domain":
        """Return the domain of a level with so many others above it, for |c| up to the radius."""
        factor = _USED
        for _level in range(levels_above):
            factor = (factor + 1) * _LEFT
        return cls(float(logarithms(radius)[0]), math.log2(factor), math.log2((factor + 1) * _LEFT))


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Bounds on the errors of a level's K records, for all t that their keys admit and all c of the job.

    A step's result is off by at most gain·(error of t) + |D|·(error of t)² + u·a_error·|A·t| + b_error·|c| + G0·|t|³ +
    G1·|t|²·|c| + G2·|t|·|c|² + G3·|c|³, and by the rounding of A·t + B·c and of adding to it. u is the unit of the
    number in which the step is computed. All but `a_error` are keys, as those of the levels, and rounded up: a key k is
    the number (1/2 + (k mod 256)/512)·2^(k >> 8).
    """

    gain: Integers  # |A| + 2·|D|·|t| + |E|·|c|
    a_error: npt.NDArray[np.float32]  # in units u; with the quadratic part's share of rounding that grows with t
    b_error: Integers  # with its share that grows with c
    left_out: Integers  # (4, K): G0, G1, G2, G3


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Where two steps meet: twice the reference, the jet of the second one's t, and the thresholds."""

    twice: Pairs
    inner: Pairs
    t: Positives  # of both steps
    y_t: Positives  # of the second one
    domain: Domain


def logarithms(values: Positives) -> Floats:
    """Return the logarithms of numbers."""
    result: Floats = np.maximum(np.log2(values.mantissa) + values.exponent, NOTHING)
    return result


def sizes(pairs: Pairs) -> Floats:
    """Return the logarithms of absolute values."""
    result: Floats = np.log2(pairs.re * pairs.re + pairs.im * pairs.im) * 0.5 + pairs.exponent
    return np.maximum(result, NOTHING)


def single(count: int) -> Floats:
    """Return the rows of single iterations, (ROWS, count), which are exact."""
    rows = np.full((ROWS, count), NOTHING)
    rows[MB] = rows[A_ERROR] = 0.0
    return rows


def one_more(rows: Floats, size: Floats, z: Floats, reach: Floats, radius: float) -> Floats:
    """Return the rows of steps with one more single iteration: plain numbers, not logarithms, but of A's error.

    `size` has the absolute values of A, B, D, E, F, `z` those of 2Z, `reach` and `radius` the largest |t| and |c|.
    """
    a, b, d, e, f = size
    left = rows[G0:A_ERROR]
    by_t, by_c = d * reach + e * radius, f * radius
    largest = (a + by_t) * reach + (b + by_c) * radius
    most_left = ((left[0] * reach + left[1] * radius) * reach + left[2] * radius**2) * reach + left[3] * radius**3
    of_left = z + 2 * largest + most_left
    by_t += 2 * a
    by_c += 2 * b
    result = rows * z
    result[MB] += 1
    result[MD] += a * a
    result[ME] += 2 * a * rows[MB]
    result[MF] += rows[MB] * rows[MB]
    result[B_ERROR] += ((_ONE_PRODUCT + 1) * z * b + 1) * 2.0**-DOUBLE_BITS
    result[G0:A_ERROR] = of_left * left
    result[G0:G3] += by_t * size[D:]
    result[G1:A_ERROR] += by_c * size[D:]
    result[A_ERROR] = rows[A_ERROR] + _ONE_PRODUCT
    return result


def from_plain(rows: Floats) -> Floats:
    """Return rows that `one_more` has made as the others are."""
    logs: Floats = np.maximum(np.log2(rows), NOTHING)
    logs[A_ERROR] = rows[A_ERROR]
    return logs


def plain(count: int) -> Floats:
    """Return the rows of single iterations for `one_more`."""
    rows = np.zeros((ROWS, count))
    rows[MB] = 1.0
    return rows


def joined(x: Pairs, x_rows: Floats, y: Pairs, y_rows: Floats, join: "Join") -> Floats:
    """Return the rows of the steps x then y."""
    at_x, at_y, greek, z = sizes(x), sizes(y), sizes(join.inner), sizes(join.twice)
    reach, radius = logarithms(join.t) + join.domain.own, join.domain.radius
    left = _left_of_t(at_x, x_rows[G0:A_ERROR], z, reach, radius)
    rows = np.empty_like(x_rows)
    rows[MB : MF + 1] = _nothing_cancelled(at_x, x_rows, at_y, y_rows, greek[A], z)
    rows[G0:A_ERROR] = _left_of_step(at_y, y_rows[G0:A_ERROR], greek, left, join, reach)
    through = at_y[A] + z
    rows[B_ERROR] = _sum(
        through + at_x[B] + np.log2(y_rows[A_ERROR] + _TWO_PRODUCTS + 1) - DOUBLE_BITS,
        through + x_rows[B_ERROR],
        y_rows[B_ERROR],
        at_y[B] - DOUBLE_BITS,
    )
    rows[A_ERROR] = x_rows[A_ERROR] + y_rows[A_ERROR] + _TWO_PRODUCTS
    return rows


def _left_of_t(x: Floats, left: Floats, z: Floats, reach: Floats, radius: float) -> Floats:
    """Return the logarithms of G0 … G3, (4, n), of what t for the second step lacks: 2Z·z + z² above second order.

    With z = L + Q + R, linear, quadratic and left out, that is (2Z + 2L + 2Q + R)·R + (2L + Q)·Q, where the factors of
    R are taken at their largest, and Q as a factor of Q with |t| or |c| of each product at its largest.
    """
    a, b, d, e, f = x
    largest = _sum(1 + a + reach, 1 + b + radius, 1 + d + 2 * reach, 1 + e + reach + radius, 1 + f + 2 * radius)
    of_left = _sum(z, largest, _largest(left, reach, radius))
    by_t, by_c = _sum(1 + a, d + reach, e + radius), _sum(1 + b, f + radius)
    return _sum(of_left + left, by_t + _shifted(x[D:], 0), by_c + _shifted(x[D:], 1))


def _left_of_step(y: Floats, left_y: Floats, greek: Floats, left_t: Floats, join: "Join", reach: Floats) -> Floats:
    """Return the logarithms of G0 … G3, (4, n), of the two steps.

    The second one's t is λ + κ + θ, linear, quadratic and left out. What is left of A·t + D·t² + E·t·c is
    A·θ + D·((2λ + κ)·κ + (2λ + 2κ + θ)·θ) + E·(κ + θ)·c; what the second step leaves out itself is at most its own
    bound with |t| ≤ a·|t| + b·|c|, where the higher powers in λ + κ + θ are taken at their largest but one.
    """
    ay, _, dy, ey, _ = y
    alpha, beta, gamma, delta, phi = greek
    radius = join.domain.radius
    bent_t, bent_c = _sum(gamma + reach, delta + radius), phi + radius
    a = _sum(alpha, bent_t, left_t[0] + 2 * reach, left_t[1] + reach + radius, left_t[2] + 2 * radius)
    b = _sum(beta, bent_c, left_t[3] + 2 * radius)
    t = _sum(a + reach, b + radius)
    within = t <= logarithms(join.y_t) + join.domain.below
    by_t, by_c = dy + _sum(1 + alpha, bent_t), dy + _sum(1 + beta, bent_c)
    bent = greek[D:]
    three = math.log2(3)
    own = np.full((4, 4, len(t)), NOTHING)
    own[0] = left_y[0] + np.stack((3 * a, three + 2 * a + b, three + a + 2 * b, 3 * b))
    own[1, 1:] = left_y[1] + np.stack((2 * a, 1 + a + b, 2 * b))
    own[2, 2:] = left_y[2] + np.stack((a, b))
    own[3, 3] = left_y[3]
    left = _sum(
        _sum(ay, 1 + dy + t, ey + radius) + left_t,
        by_t + _shifted(bent, 0),
        by_c + _shifted(bent, 1),
        ey + _shifted(bent, 1),
        *own,
    )
    return np.where(within, left, np.inf)


def _nothing_cancelled(x: Floats, x_rows: Floats, y: Floats, y_rows: Floats, alpha: Floats, z: Floats) -> Floats:
    """Return the logarithms of B, D, E, F, (4, n), of the two steps with nothing cancelled."""
    a, ay = x[A], y[A]
    beta = z + x_rows[MB]
    d, e = y_rows[MD], y_rows[ME]
    terms = np.full((5, 4, len(z)), NOTHING)
    terms[0] = ay + z + x_rows[MB : MF + 1]
    terms[1, 1:] = ay + np.stack((2 * a, 1 + a + x_rows[MB], 2 * x_rows[MB]))
    terms[2, 1:] = d + np.stack((2 * alpha, 1 + alpha + beta, 2 * beta))
    terms[3, 2:] = e + np.stack((alpha, beta))
    terms[4, 0], terms[4, 3] = y_rows[MB], y_rows[MF]
    return _sum(*terms)


def _shifted(bent: Floats, by_c: int) -> Floats:
    """Return the logarithms of cubic coefficients, (4, n): quadratic ones, (3, n), times t, or times c."""
    rows = np.full((4, bent.shape[1]), NOTHING)
    rows[by_c : by_c + 3] = bent
    return rows


def _largest(left: Floats, reach: Floats, radius: float) -> Floats:
    """Return the logarithm of the bound on what is left out, at the largest |t| and |c|."""
    return _sum(left[0] + 3 * reach, left[1] + 2 * reach + radius, left[2] + reach + 2 * radius, left[3] + 3 * radius)


def _sum(*logs: Floats) -> Floats:
    """Return the logarithm of a sum."""
    terms = np.stack(logs)
    most = terms.max(axis=0)
    terms -= most
    result: Floats = most + np.log2(np.exp2(terms).sum(axis=0))
    return result


def of_level(jets: Pairs, rows: Floats, t: Positives, length: Integers, domain: Domain, unit_bits: int) -> Bounds:
    """Return the bounds of steps of so many iterations with t as threshold, in a number that rounds by 2^−unit_bits."""
    size = sizes(jets)
    reach, radius = logarithms(t) + math.log2(_USED), domain.radius
    rounded = np.log2(_QUADRATIC_ROUNDINGS * length)
    # What grows with t, in units of |A|: of the quadratic part, and of the errors of its coefficients.
    bent = np.exp2(_sum(size[D] + reach, size[E] + radius) - size[A])
    bent_error = np.exp2(rounded + _sum(rows[MD] + reach, rows[ME] + radius) - size[A])
    own = rows[A_ERROR] + bent_error
    # In a shorter number the coefficients are rounded once more, each by a unit.
    again = float(unit_bits < DOUBLE_BITS)
    a_error = own * 2.0 ** (unit_bits - DOUBLE_BITS) + again + (_EVALUATION + again) * bent
    quadratic = math.log2(_EVALUATION + again) - unit_bits + size[F] + radius
    b_error = _sum(rows[B_ERROR], rounded - DOUBLE_BITS + rows[MF] + radius, quadratic)
    if again:
        b_error = _sum(b_error, size[B] - unit_bits)
    gain = _sum(size[A], 1 + size[D] + reach, size[E] + radius)
    return Bounds(
        gain=_keys_above(gain),
        a_error=np.nextafter((a_error * 2.0**_MARGIN).astype(np.float32), np.float32(np.inf)),
        b_error=_keys_above(b_error),
        left_out=_keys_above(rows[G0:A_ERROR]),
    )


def _keys_above(logs: Floats) -> Integers:
    """Return the keys of numbers, and `_MARGIN` more; of what is unknown the largest."""
    logs = np.where(np.isnan(logs), np.inf, logs + _MARGIN)
    logs = np.clip(logs, -(2.0**23), 2.0**23)
    exponent = np.floor(logs) + 1
    keys: Integers = np.clip(
        exponent * 256 + np.ceil(np.exp2(logs - exponent) * 512) - 256, _LEAST_KEY, LARGEST_KEY
    ).astype(np.int32)
    return keys
