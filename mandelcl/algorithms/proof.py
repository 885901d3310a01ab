"""What the kernel that proves fills must know of a job's arithmetic: bounds of all rounding, themselves rounded away.

docs/decisions/0008-border.md argues them.
"""

import math
from fractions import Fraction

import numpy as np

from mandelcl.fixed import FixedFormat, by_name
from mandelcl.job import Job
from mandelcl.numbers import IeeeFormat, NumberFormat

_LEAST = Fraction(1, 10**30)  # far above what a float's underflow can take away
_MARGIN = Fraction(1, 1 << 17)  # of the escape radius: for rounding in |z|² and in its bounds

Bounds = tuple[np.float32, np.float32, np.float32, np.float32, np.float32, np.float32]


def bounds(job: Job) -> Bounds:
    """Return pitch, step error, relative error of s, error of the far type, and the radii within and beyond."""
    number = by_name(job.number)
    radius = Fraction(math.isqrt(job.radius_squared.numerator * 10**24 // job.radius_squared.denominator), 10**12)
    return (
        _up(job.view.pitch * (1 + Fraction(1, 1 << 20))),
        _up(step_error(job, number) + _LEAST),
        _up(relative_error(number)),
        _up(far_error(job, number)),
        -_up(-radius * (1 - _MARGIN)),
        _up(radius * (1 + _MARGIN)),
    )


def step_error(job: Job, number: NumberFormat) -> Fraction:
    """Return how far rounding can move one z + z² apart from another, beyond what their c and z explain.

    Both the orbit of a pixel and that of the middle err, in their step and in the c that they have.
    """
    farthest = 2 * (job.view.largest_coordinate() + job.view.pitch)  # bounds |c|
    if isinstance(number, FixedFormat):
        unit = Fraction(1, 2 ** (number.bits * number.digits))
        return 2 * (2 * number.digits + 2) * unit
    assert isinstance(number, IeeeFormat)
    unit = Fraction(1, 2**number.precision)
    along = job.view.largest_offset * job.view.pitch + abs(job.view.anchor_re) + abs(job.view.anchor_im)
    return 2 * unit * (6 * (job.radius_squared + farthest) + 4 * (along + farthest))


def relative_error(number: NumberFormat) -> Fraction:
    """Return the relative error of a step of s, which is computed in the type of orbits on their way out."""
    precision = number.precision if isinstance(number, IeeeFormat) else 24
    return Fraction(1, 2 ** (precision - 5))


def far_error(job: Job, number: NumberFormat) -> Fraction:
    """Return how far the difference of two z can be from that of their narrower images; 0 where these are the same."""
    return Fraction(0) if isinstance(number, IeeeFormat) else (job.radius_squared + 1) * Fraction(1, 1 << 22)


def _up(value: Fraction) -> np.float32:
    """Return a float that is not less than the value."""
    rounded = np.float32(float(min(value, Fraction(10**30))))
    return np.nextafter(rounded, np.float32(np.inf))
