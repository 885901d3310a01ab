"""Whether a whole region of c is known never to escape: its orbits are attracted, all together, to a cycle.

With Z the orbit of the region's centre, w that of a point of it and E ≥ |w − Z|, one step of z² + c makes of E at most
(2|Z| + E)·E + radius. A line of degree d makes of it at most (|Z| + E)^d − |Z|^d, and a radius more where it adds c: it
is a product of d factors of the modulus |z|, and folds and mirrors move no two points apart. Let p steps, with all
lines as often, map the disc of some r about Z_n into itself, whatever c of the region its points have:
|Z_{n+p} − Z_n| + E ≤ r, where E began as r. Then an orbit that is in it at n is there again at n + p, and for ever
after; and if |Z| + E stays below R up to there, none leaves the disc of radius R.

This asks for more than that: E is taken to grow by one part in 2^20 more with each square. So orbits stay whose steps
are rounded as those of float and double are. Z is the exact orbit; a reference's is off by far less than such a part of
E.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import cycle

import numpy as np

from mandelcl.formulas import MANDELBROT
from mandelcl.formulas.line import Line
from mandelcl.perturbation.integers import Doubles

_LOOSE_HALF = 2.0**-21
_LOOSE = 1 + 2 * _LOOSE_HALF
_ROUNDED = 2.0**-50  # of values that are rounded toward zero, and what is made of them
_LEAST = 2.0**-890  # values whose parts are rounded to 0 are below
_LARGEST = Fraction(2) ** 100  # no R² need be larger
_TRIES = 12  # discs, each four times as large

# A line: numbers from 1 to below its degree, how far apart it adds c, and by how much more E is taken to grow.
_Line = tuple[range, float, float]


def all_stay(
    re: Doubles,
    im: Doubles,
    radius: Fraction,
    radius_squared: Fraction,
    lines: Sequence[Line] = MANDELBROT.lines,
    phase: int = 0,
) -> bool:
    """Return whether it is proved that no c within `radius` of another escapes, of which Z_0 to Z_M are the orbit.

    Z_m goes through line m + `phase`. The parts of Z are rounded toward zero. R² is `radius_squared`. False says
    nothing: the cycle may have more than a third of so many points, attract slowly, or the region may be as small as
    2^−900.
    """
    sizes = np.hypot(re, im) * (1 + _ROUNDED) + _LEAST
    period = math.lcm(_period(sizes), len(lines))
    turns = (len(sizes) - 1) // period
    if turns < 3:
        return False
    first, last = (turns - 1) * period, turns * period
    before = math.hypot(re[first] - re[first - period], im[first] - im[first - period])
    apart = math.hypot(re[last] - re[first], im[last] - im[first])
    noise = float(sizes[first] + sizes[last]) * _ROUNDED
    if apart > max(before, noise):
        return False
    apart += noise
    reach = max(float(radius), _LEAST) * _LOOSE
    room = math.sqrt(float(min(radius_squared, _LARGEST))) / _LOOSE - float(sizes.max())
    in_turn = cycle(
        (range(1, line.degree), reach if line.adds else 0.0, 1 + line.degree * _LOOSE_HALF)
        for line in [*lines[phase:], *lines[:phase]]
    )
    steps = list(zip(sizes[:last].tolist(), in_turn, strict=False))
    disc = 4 * (apart + reach)
    for _ in range(_TRIES):
        if (apart + _spread(steps[first:], disc, room)) * _LOOSE <= disc:
            return _spread(steps[:first], 0.0, room) <= disc
        disc *= 4
    return False


def _period(sizes: Doubles) -> int:
    """Return the last index at which |Z| fell below half of all before."""
    least = np.minimum.accumulate(sizes[1:])
    lower = np.flatnonzero(2 * sizes[2:] < least[:-1])
    return int(lower[-1]) + 2 if lower.size else 1


def _spread(steps: Sequence[tuple[float, _Line]], error: float, room: float) -> float:
    """Return what becomes of E along values of |Z| and the lines behind them; infinity once it is above `room`."""
    for size, (again, reach, loose) in steps:
        # (|Z| + E)^d − |Z|^d, without a difference that cancels.
        reached, total, power = size + error, 1.0, 1.0
        for _ in again:
            power *= size
            total = total * reached + power
        error = (total * error + reach) * loose
        if error > room:
            return math.inf
    return error
