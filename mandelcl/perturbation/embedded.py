"""Zooms at which embedded Julia sets appear about a nucleus: between its size and those of the sets around it."""

import math
from dataclasses import dataclass
from fractions import Fraction

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.formulas import Formula
from mandelcl.perturbation.integers import FASTEST
from mandelcl.perturbation.jacobian import JacobianOrbit
from mandelcl.perturbation.newton import Nucleus

_DIGITS, _BEYOND, _BATCH = 64, 64, 256
_LEAST_RATIO_LOG2 = 4.0  # of the sizes of a set and of the next one in it


@dataclass(frozen=True, slots=True)
class EmbeddedJulia:
    """A Julia set about a nucleus, inside a set of the period `parent`, and the size of what there is to see."""

    parent: int
    size: Fraction


def embedded_julia_sets(nucleus: Nucleus, formula: Formula, cancel: Token = NEVER) -> list[EmbeddedJulia]:
    """Return the embedded Julia sets about a nucleus, the largest first.

    The sets around it are those of its close returns: the n at which |z_n| is less than at all before. The first is the
    whole set, of period 1 and size 1. In a set of size r the Julia set about a minibrot of size s has the size
    r^(1/d²)·s^(1 − 1/d²), where d is the degree of the first line: r^(1/4)·s^(3/4) for z² + c. Raises CancelledError.
    """
    bits, lines = nucleus.bits + _BEYOND, len(formula.lines)
    c = tuple(FASTEST.whole(round(part * (1 << bits))) for part in (nucleus.re, nucleus.im))
    orbit = JacobianOrbit(formula, (c[0], c[1]), bits, _DIGITS, by_first=True)
    own, least = _log2(nucleus.size), None
    sizes: list[tuple[int, float]] = []
    while orbit.n < nucleus.period - 1:
        if orbit.n % _BATCH == 0:
            stop_if(cancel)
        orbit.step()
        square = orbit.z[0] ** 2 + orbit.z[1] ** 2
        if orbit.n % lines or (least is not None and square >= least):
            continue
        least, size = square, orbit.size_log2
        if math.isfinite(size) and size > own + _LEAST_RATIO_LOG2:
            sizes.append((orbit.n, min(size, 0.0)))
    share = 1 / formula.lines[0].degree ** 2
    found: list[EmbeddedJulia] = []
    last = math.inf
    for n, size in sizes:
        if size < last - _LEAST_RATIO_LOG2:
            found.append(EmbeddedJulia(n, _power(share * size + (1 - share) * own)))
            last = size
    return found


def _log2(value: Fraction) -> float:
    whole = value.numerator.bit_length() - value.denominator.bit_length()
    return whole + math.log2(value / Fraction(2) ** whole)


def _power(log2: float) -> Fraction:
    """Return 2^log2, which may be far below the range of a float."""
    return Fraction(2) ** math.floor(log2) * Fraction(2.0 ** (log2 % 1))
