"""Nuclei of periods of many iterations: Newton's method by the nodes of a return map."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from mandelcl.base.errors import NEVER, Token
from mandelcl.core.reference import MAP_VERSION, Reference
from mandelcl.perturbation.map_orbit import MapEnd, end_of
from mandelcl.perturbation.newton import BEYOND, Nucleus

_MOST_STEPS = 40
_STRAY = 8  # radii from the guess at which the search is given up
_SPARE_BITS = 16  # of a nucleus, beyond those that it is good for
_STEP_BITS = 40  # of a place, below the step that led there: the next step is about as much smaller, at most


def find_map_nucleus(
    re: Fraction,
    im: Fraction,
    radius: Fraction,
    base: int,
    nodes: int,
    *,
    cancel: Token = NEVER,
    progress: Callable[[int], None] = lambda _done: None,
) -> Nucleus | None:
    """Return the nucleus of the period base·nodes to which Newton's method leads from re + im·i; None where to none.

    `progress` is called with the iterations done of each step's. Raises CancelledError.
    """
    reference = Reference(re, im, radius, version=MAP_VERSION)
    for _ in range(_MOST_STEPS):
        end = end_of(reference, base, nodes, cancel, progress)
        if end is None or end.slope == (0.0, 0.0):
            return None
        step_re, step_im = newton_step(end)
        places = reference.re + step_re, reference.im + step_im
        if abs(places[0] - re) + abs(places[1] - im) > _STRAY * radius:
            return None
        size_log2 = -(math.log2(math.hypot(*end.slope)) + end.exponent + end.size)
        needed = math.ceil(-size_log2) + BEYOND
        good = Fraction(1, 1 << needed) if needed > 0 else Fraction(1)
        if reference.radius <= good and max(abs(step_re), abs(step_im)) <= good * 256:
            turn = math.remainder(-end.turn - math.atan2(end.slope[1], end.slope[0]), math.tau)
            size = Fraction(2) ** math.floor(size_log2) * Fraction(2.0 ** (size_log2 % 1))
            scale = 1 << needed + _SPARE_BITS
            x, y = (Fraction(round(part * scale), scale) for part in places)
            return Nucleus(base * nodes, x, y, size, turn, needed)
        known = max(good / (1 << _SPARE_BITS), (abs(step_re) + abs(step_im)) / (1 << _STEP_BITS))
        reference = replace(reference, re=places[0], im=places[1], radius=min(reference.radius, known))
    return None


def newton_step(end: MapEnd) -> tuple[Fraction, Fraction]:
    """Return −w/(dw/dc)."""
    x, y = end.w
    u, v = (Fraction(part) for part in end.slope)
    by = Fraction(2) ** (-end.w_bits - end.exponent) / (u * u + v * v)
    return -(x * u + y * v) * by, -(y * u - x * v) * by
