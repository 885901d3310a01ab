"""What the kernel that proves fills must know of a job's arithmetic: bounds of all rounding, themselves rounded away.

docs/decisions/0008-border.md argues them.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.job import Job
from mandelcl.numbers import FixedFormat, IeeeFormat, NumberFormat, by_name

_LEAST = Fraction(1, 10**30)  # far above what a float's underflow can take away
_MARGIN = Fraction(1, 1 << 17)  # of the escape radius: for rounding in |z|² and in its bounds


def bounds(job: Job) -> npt.NDArray[np.float32]:
    """Return the kernel's prove_bounds, in its order, each rounded to the side on which a proof is still one."""
    number = by_name(job.number)
    radius = Fraction(math.isqrt(job.radius_squared.numerator * 10**24 // job.radius_squared.denominator), 10**12)
    return np.array(
        (
            _up(job.view.pitch * (1 + Fraction(1, 1 << 20))),
            _up(unit(number)),
            _up(step_error(job, number) + _LEAST),
            _up(relative_error(number)),
            _up(far_error(job, number)),
            -_up(-radius * (1 - _MARGIN)),
            _up(radius * (1 + _MARGIN)),
        ),
        np.float32,
    )


def unit(number: NumberFormat) -> Fraction:
    """Return how far rounding can move one step apart from another, beyond what their c and z explain, by |z|² + |c|.

    Both the orbit of a pixel and that of the middle err: in a step by at most 3|z|² + 2|c| half units in the last place
    of 1, in either rounding, and in c by |c|.
    """
    return Fraction(6 * 1025, 1024) / 2**number.precision if isinstance(number, IeeeFormat) else Fraction(0)


def step_error(job: Job, number: NumberFormat) -> Fraction:
    """Return what rounding can do more: in fixed point, all of it; in separate rounding, on the way to c."""
    if isinstance(number, FixedFormat):
        last = Fraction(1, 2 ** (number.bits * number.digits))
        return 2 * (2 * number.digits + 2) * last
    assert isinstance(number, IeeeFormat)
    return (
        4 * job.view.largest_offset * job.view.pitch / 2**number.precision
        if job.rounding == "separate"
        else Fraction(0)
    )


def relative_error(number: NumberFormat) -> Fraction:
    """Return the relative error of a step of s, which is computed in the type of orbits on their way out."""
    precision = number.precision if isinstance(number, IeeeFormat) else 24
    return Fraction(1, 2 ** (precision - 5))


def far_error(job: Job, number: NumberFormat) -> Fraction:
    """Return how far the difference of two z can be from that of their narrower images; 0 where these are the same."""
    return Fraction(0) if isinstance(number, IeeeFormat) else (job.radius_squared + 1) * Fraction(1, 1 << 22)


def _up(value: Fraction) -> np.float32:
    """Return a float that is not less than the value."""
    rounded: np.float32 = np.nextafter(np.float32(float(min(value, Fraction(10**30)))), np.float32(np.inf))
    return rounded
