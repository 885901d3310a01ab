"""The radius beyond which orbits grow, by theorems on |z′| ≥ |z|^d − |c| in exact fractions.

Where |c| ≤ R, |z| ≥ R grows by at least |z|^d − |z| − R, which is least at R. Where |c| > R and orbits begin at 0, one
leaves with the first c that is added, with |z| = |c|; if |z| ≥ |c|, it grows by at least |z|^d − |z| − |c|, which is
least at |z| = |c|, |c|^d − 2·|c|, and that, too, is least at R; so |z| ≥ |c| for ever.
"""

from collections.abc import Callable
from fractions import Fraction

from mandelcl.base.exact import root_above, root_below

_BITS = 64


def power(radius_squared: Fraction, degree: int) -> Fraction:
    """Return R^degree, or slightly less if it is not a ratio."""
    odd = root_below(radius_squared) if degree % 2 else 1
    return radius_squared ** (degree // 2) * odd


def growing_from(degree: int, constant: Fraction | None) -> Fraction:
    """Return the square of the least R from which |z|^degree − |c| ≥ |z| for all |z| ≥ R, or hardly more.

    With `constant` |c| is that, else c is any with |c| ≤ |z|. Of R^d − R ≥ |c| the least is at most 2^(1/(d − 1)) where
    |c| is at most that, as for all c of orbits from 0 that are inside.
    """
    free = Fraction(4) if degree == 2 else _least(lambda square: square ** (degree - 1) >= 4, Fraction(2))
    if constant is None or constant * constant <= free:
        return free
    if degree == 2:
        return ((1 + root_above(1 + 4 * constant)) / 2) ** 2
    return _least(lambda radius: radius**degree - radius >= constant, 1 + constant) ** 2


def outgrows(radius_squared: Fraction, degree: int, constant: Fraction, unit: Fraction) -> bool:
    """Return whether R^d − R − |c|, by which |z| = R grows at least, exceeds twice what rounding takes.

    That is unit·(|z|^d + |c|); the second half is for rounding |z|², R² and c.
    """
    most = power(radius_squared, degree)
    return most - root_above(radius_squared) - constant > 2 * unit * (most + constant)


def _least(holds: Callable[[Fraction], bool], enough: Fraction) -> Fraction:
    """Return the least number for which a condition holds, that holds for larger ones, too: up to 2⁻⁶⁴ more."""
    below, above = 0, int(enough * 2**_BITS) + 1
    while above - below > 1:
        middle = (below + above) // 2
        if holds(Fraction(middle, 2**_BITS)):
            above = middle
        else:
            below = middle
    return Fraction(above, 2**_BITS)
