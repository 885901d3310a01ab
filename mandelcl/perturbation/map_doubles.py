"""A return map in doubles: steps of it, the slopes at its nodes, and whether these leave it soon."""

import math
from collections.abc import Sequence

from mandelcl.perturbation.map_growth import GrowthSums
from mandelcl.perturbation.map_jets import ORDER, SCANNED, TERMS

_ROUNDED = 2.0**-44  # of a step, at most
_SLOPE_SHARE = 2.0**-20  # more than slopes are off by, as a share
_MOST_ERROR = 2.0**-10  # of a node that says anything


class NodeSlopes:
    """F_w and r·F_c at a point, in doubles: real operations in the order that is written.

    `known` are the terms in t alone, and the others those of TERMS.
    """

    def __init__(self, known: Sequence[complex], terms: Sequence[complex], radius: float) -> None:
        f = [*known, *[0j] * (ORDER - len(known))]
        self._f = [(part.real, part.imag) for part in f]
        by_c, by_tc = (terms[TERMS.index(term)] * radius for term in ((0, 1), (1, 1)))
        self._by_c, self._by_tc = (by_c.real, by_c.imag), (by_tc.real, by_tc.imag)

    def at(self, x: float, y: float) -> tuple[float, float, float, float]:
        """Return F_w and r·F_c at x + y·i."""
        tx, ty = x * x - y * y, 2 * (x * y)
        (a, b), (c, d), (e, f), (g, h) = self._f
        u, v = 3 * e + 4 * (g * tx - h * ty), 3 * f + 4 * (g * ty + h * tx)
        u, v = 2 * c + (u * tx - v * ty), 2 * d + (u * ty + v * tx)
        u, v = a + (u * tx - v * ty), b + (u * ty + v * tx)
        p, q = self._by_tc
        by_x, by_y = self._by_c[0] + (p * tx - q * ty), self._by_c[1] + (p * ty + q * tx)
        return 2 * (x * u - y * v), 2 * (x * v + y * u), by_x, by_y


def in_t_alone(terms: Sequence[complex]) -> list[complex]:
    """Return f_10, f_20, … of TERMS."""
    return [terms[TERMS.index((j, 0))] for j in range(1, ORDER + 1)]


def next_node(first: tuple[float, float], known: Sequence[complex], x: float, y: float) -> tuple[float, float]:
    """Return F at x + y·i, from W_1 and the terms in t alone: real operations in the order that is written."""
    t_x, t_y = x * x - y * y, 2 * (x * y)
    u, v = known[-1].real, known[-1].imag
    for term in known[-2::-1]:
        u, v = term.real + (u * t_x - v * t_y), term.imag + (u * t_y + v * t_x)
    return first[0] + (u * t_x - v * t_y), first[1] + (u * t_y + v * t_x)


def leaves_soon(
    period: int,
    growth: GrowthSums,
    terms: Sequence[complex],
    first: tuple[float, float],
    leaves: float,
    radius: float,
    most: int,
) -> bool:
    """Return whether doubles prove that one of the first `most` nodes leaves a map, and that none is a period before.

    All is in the map's units: the growth, the terms in doubles, W_1, |w|² from which on a node has left, and the
    radius. There |F_ww| is below 4.
    """
    known = in_t_alone(terms)
    slopes = NodeSlopes(known, terms, radius)
    local = sum(j * period * SCANNED * share for j, share in enumerate(growth.terms(ORDER, leaves), 1))
    local += growth.rest(ORDER, leaves, 0.0) + _ROUNDED
    (x, y), (dx, dy) = first, slopes.at(0.0, 0.0)[2:]
    error, slope_error = local, math.hypot(dx, dy) * _SLOPE_SHARE
    for _ in range(most):
        size, slope = math.hypot(x, y) - error, math.hypot(dx, dy)
        if not (size > slope + slope_error and error < _MOST_ERROR):
            return False
        if size * size > leaves * (1 + _SLOPE_SHARE):
            return True
        fx, fy, cx, cy = slopes.at(x, y)
        f, off = math.hypot(fx, fy), 4 * error + 16 * local
        slope_error = (f + off) * slope_error + off * slope + (f * slope + math.hypot(cx, cy)) * _SLOPE_SHARE
        dx, dy = fx * dx - fy * dy + cx, fx * dy + fy * dx + cy
        error = (f + 4 * error) * error + local
        x, y = next_node(first, known, x, y)
    return False
