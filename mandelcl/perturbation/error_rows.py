"""What the errors of joined steps are at most: rows of logarithms to base 2 that go beside each join of two steps.

For the step x then y, with the Greek letters of `segments`, all by the triangle inequality and with nothing left out;
beside folds B stands for |B| + |B̃| and so on:

    G0 … G3   what is above second order: at most G0·|t|³ + G1·|t|²·|c| + G2·|t|·|c|² + G3·|c|³
    eB        the error of B
    MB … MF   B, D, E, F with nothing cancelled
    rA        the error of A, in units of 2^−53·|A|; the only row that is no logarithm

They hold for all |t| up to a `Domain`'s factor times the step's threshold and all |c| up to the job's radius. They only
decide which counts are certain, so they need not have the same bits everywhere.
"""

import math
from dataclasses import dataclass

import numpy as np

from mandelcl.perturbation.jets import (
    DIRECT_ROWS,
    MIRRORED_B,
    MIRRORED_E,
    A,
    B,
    D,
    E,
    F,
    Floats,
    G,
    H,
    Pairs,
    Positives,
)

DOUBLE_BITS = 53
NOTHING = -(2.0**40)  # the logarithm of 0, which can be added and multiplied

MB, MD, ME, MF, B_ERROR, G0, G1, G2, G3, A_ERROR = range(10)
ROWS = 10

# Units of 2^−53: a complex product, and reading Z rounded toward 0 before one.
_PRODUCT = math.sqrt(5)
_ONE_PRODUCT = 2 + _PRODUCT
# The larger part of t is below the threshold, so |t| below √2 times that, and the exact t that it stands for at most a
# quarter further off: an error of 2^−4 of |z| makes one of 2^−3 of |t| where |Z + z| ≥ |z|, and no more is certified.
USED = math.sqrt(2) * (1 + 2.0**-2)
# Where two steps join, the second one's t is at most the first one's share of its threshold and c's, and what is left.
# Below 2^−8 or so, by `step_bits`, what is left is no longer small, and bounds become infinite.
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
        factor = USED
        for _level in range(levels_above):
            factor = (factor + 1) * _LEFT
        return cls(float(logarithms(radius)[0]), math.log2(factor), math.log2((factor + 1) * _LEFT))


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Where two steps meet: the derivative's modulus of the line there, what it makes, and the thresholds.

    Of t for the second step there are the sizes of its jet, what that leaves out, its coefficients with nothing
    cancelled, and the units by which the line rounds.
    """

    slope: Positives
    inner: Floats  # (5, n)
    left: Floats  # (4, n)
    whole: Floats  # (4, n)
    units: float
    reach: Floats  # of |t| of both steps
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


def group_sizes(jet: Pairs) -> Floats:
    """Return the logarithms of |A|, |B| + |B̃|, |D|, |E| + |Ẽ| and |F| + |G| + |H|, (5, n)."""
    size = sizes(jet)
    if len(size) == DIRECT_ROWS:
        return size
    by_c, mixed, square = sum_of(size[B], size[MIRRORED_B]), sum_of(size[E], size[MIRRORED_E]), sum_of(*size[[F, G, H]])
    return np.stack((size[A], by_c, size[D], mixed, square))


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
    at_x, at_y, greek = group_sizes(x), group_sizes(y), join.inner
    rows = np.empty_like(x_rows)
    rows[MB : MF + 1] = _nothing_cancelled(at_y, y_rows, greek[A], join.whole)
    rows[G0:A_ERROR] = _left_of_step(at_y, y_rows[G0:A_ERROR], greek, join.left, join, join.reach)
    through = at_y[A] + logarithms(join.slope)
    rounded = join.units + _PRODUCT
    rows[B_ERROR] = sum_of(
        through + at_x[B] + np.log2(y_rows[A_ERROR] + rounded + 1) - DOUBLE_BITS,
        through + x_rows[B_ERROR],
        y_rows[B_ERROR],
        at_y[B] - DOUBLE_BITS,
    )
    rows[A_ERROR] = x_rows[A_ERROR] + y_rows[A_ERROR] + rounded
    return rows


def left_of_square(x: Floats, left: Floats, z: Floats, reach: Floats, radius: float) -> Floats:
    """Return the logarithms of G0 … G3, (4, n), of what t for the second step lacks: 2Z·z + z² above second order.

    With z = L + Q + R, linear, quadratic and left out, that is (2Z + 2L + 2Q + R)·R + (2L + Q)·Q, where the factors of
    R are taken at their largest, and Q as a factor of Q with |t| or |c| of each product at its largest.
    """
    a, b, d, e, f = x
    largest = sum_of(1 + a + reach, 1 + b + radius, 1 + d + 2 * reach, 1 + e + reach + radius, 1 + f + 2 * radius)
    of_left = sum_of(z, largest, largest_left(left, reach, radius))
    by_t, by_c = sum_of(1 + a, d + reach, e + radius), sum_of(1 + b, f + radius)
    return sum_from((0, of_left + left), (0, by_t + x[D:]), (1, by_c + x[D:]))


def _left_of_step(y: Floats, left_y: Floats, greek: Floats, left_t: Floats, join: "Join", reach: Floats) -> Floats:
    """Return the logarithms of G0 … G3, (4, n), of the two steps.

    The second one's t is λ + κ + θ, linear, quadratic and left out. What is left of A·t + D·t² + E·t·c is
    A·θ + D·((2λ + κ)·κ + (2λ + 2κ + θ)·θ) + E·(κ + θ)·c; what the second step leaves out itself is at most its own
    bound with |t| ≤ a·|t| + b·|c|, where the higher powers in λ + κ + θ are taken at their largest but one.
    """
    ay, _, dy, ey, _ = y
    alpha, beta, gamma, delta, phi = greek
    radius = join.domain.radius
    bent_t, bent_c = sum_of(gamma + reach, delta + radius), phi + radius
    a = sum_of(alpha, bent_t, left_t[0] + 2 * reach, left_t[1] + reach + radius, left_t[2] + 2 * radius)
    b = sum_of(beta, bent_c, left_t[3] + 2 * radius)
    t = sum_of(a + reach, b + radius)
    within = t <= logarithms(join.y_t) + join.domain.below
    by_t, by_c = dy + sum_of(1 + alpha, bent_t), dy + sum_of(1 + beta, bent_c)
    bent, three = greek[D:], math.log2(3)
    left = sum_from(
        (0, sum_of(ay, 1 + dy + t, ey + radius) + left_t),
        (0, by_t + bent),
        (1, by_c + bent),
        (1, ey + bent),
        (0, left_y[0] + np.stack((3 * a, three + 2 * a + b, three + a + 2 * b, 3 * b))),
        (1, left_y[1] + np.stack((2 * a, 1 + a + b, 2 * b))),
        (2, left_y[2] + np.stack((a, b))),
        (3, left_y[3:]),
    )
    return np.where(within, left, np.inf)


def _nothing_cancelled(y: Floats, y_rows: Floats, alpha: Floats, whole: Floats) -> Floats:
    """Return the logarithms of B, D, E, F, (4, n), of the two steps with nothing cancelled."""
    ay, beta = y[A], whole[0]
    d, e = y_rows[MD], y_rows[ME]
    return sum_from(
        (0, ay + whole),
        (0, y_rows[MB : MB + 1]),
        (1, d + np.stack((2 * alpha, 1 + alpha + beta, 2 * beta))),
        (2, e + np.stack((alpha, beta))),
        (3, y_rows[MF : MF + 1]),
    )


def largest_left(left: Floats, reach: Floats, radius: float) -> Floats:
    """Return the logarithm of the bound on what is left out, at the largest |t| and |c|."""
    return sum_of(left[0] + 3 * reach, left[1] + 2 * reach + radius, left[2] + reach + 2 * radius, left[3] + 3 * radius)


def sum_of(*logs: Floats) -> Floats:
    """Return the logarithm of a sum."""
    most = logs[0]
    for log in logs[1:]:
        most = np.maximum(most, log)
    total = np.exp2(logs[0] - most)
    for log in logs[1:]:
        total += np.exp2(log - most)
    result: Floats = most + np.log2(total)
    return result


def sum_from(*terms: tuple[int, Floats]) -> Floats:
    """Return the logarithms of sums, row by row, (4, n): each term has rows from one on, the first has all."""
    most = terms[0][1].copy()
    for first, logs in terms[1:]:
        part = most[first : first + len(logs)]
        np.maximum(part, logs, out=part)
    total = np.exp2(terms[0][1] - most)
    for first, logs in terms[1:]:
        rows = slice(first, first + len(logs))
        total[rows] += np.exp2(logs - most[rows])
    result: Floats = most + np.log2(total)
    return result
