"""The reach of each number: why it cannot do a job, and what to do if none can."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import floor_log2, root_above, root_below
from mandelcl.core.job import Job
from mandelcl.core.numbers import LEAST_WORDS, MOST_WORDS, NUMBERS, NumberFormat, by_name, fixed

_FARTHER = root_above(Fraction(2))  # a point may be farther from 0 than its parts are
_LOG10_2 = Fraction(30102, 100_000)  # a little less, so that what is named as the limit is within it


def resolving(job: Job, numbers: Sequence[NumberFormat], rounding: str | None) -> NumberFormat:
    """Return the first of some numbers that resolves a job's view.

    Raises InvalidInputError if there is none. The message gives the limit of the last one, the `rounding` that the
    numbers were chosen for, if any, and the way out.
    """
    reason = ""
    for number in numbers:
        refused = number.unresolved(job.view, job.iterations) or beyond(number, job)
        if refused is None:
            return number
        reason = refused
    given = f" with rounding {rounding}" if rounding else ""
    raise InvalidInputError(f"no number resolves this view{given}: {reason}; {_way_out(job, numbers, rounding)}")


def beyond(number: NumberFormat, job: Job) -> str | None:
    """Return why a number cannot iterate the job's formula to its radius, in a phrase; None if it can."""
    least, largest = number.least_radius_squared(), number.largest_radius_squared
    if job.radius_squared < least and job.formula.least_radius_squared() == 4:
        return f"{number.name} takes an escape radius of at least 2, or R² just below 4"
    if largest is not None and job.radius_squared > largest:
        return f"{number.name} takes an escape radius of at most {float(largest) ** 0.5:.2g}"
    reach = number.step_reach
    if (
        reach is not None
        and job.formula.largest_step(job.radius_squared, _FARTHER * job.view.largest_coordinate()) >= reach
    ):
        power = f"|z|{'⁰¹²³⁴⁵⁶⁷⁸⁹'[job.formula.degree]} + |c|" if job.formula.grows else "values"
        given = "escape radius" if job.formula.constant is None else "constant and escape radius"
        return f"{number.name} holds {power} below {reach}, which {job.formula.name} exceeds with this {given}"
    return None


def _fitting_radius(number: NumberFormat, job: Job) -> Fraction | None:
    """Return the largest multiple of 1/16 below the job's radius with which a number can iterate its formula."""
    sixteenths = math.floor(16 * root_below(job.radius_squared))
    while Fraction(sixteenths, 16) ** 2 >= job.formula.least_radius_squared():
        if beyond(number, replace(job, radius_squared=Fraction(sixteenths, 16) ** 2)) is None:
            return Fraction(sixteenths, 16)
        sixteenths -= 1
    return None


def able_to_iterate(job: Job) -> str:
    """Return the names of the numbers that can iterate a job's formula to its radius, as a choice in words."""
    native = [number.name for number in NUMBERS.values() if number.is_native and beyond(number, job) is None]
    widths = [words for words in range(LEAST_WORDS, MOST_WORDS + 1) if beyond(fixed(words), job) is None]
    if widths:
        native.append(f"fixed:{widths[0]} to fixed:{widths[-1]}")
    choice = " or ".join([", ".join(native[:-1]), native[-1]]) if len(native) > 1 else native[0]
    radius = _fitting_radius(by_name(job.number), job)
    return choice if radius is None else f"{choice}, or --escape-radius {float(radius)}"


def _way_out(job: Job, numbers: Sequence[NumberFormat], rounding: str | None) -> str:
    """Return the advice for a view that none of some numbers resolves."""
    if job.formula.perturbable:
        given = [] if rounding in (None, "fused") else [f"--rounding {rounding}"]
        given += ["--strict"] if job.strict else []
        return f"perturbation has no such limit: leave {' and '.join(given) or '--method direct'} out"
    able = [number for number in numbers if number.cannot_hold(job.view) is None and beyond(number, job) is None]
    if not able:
        return "choose another view"
    finest = min(number.finest_pitch(job.view, job.iterations) for number in able)
    zoom = 4 / (job.view.height * finest)
    way = f"zoom in to at most 1e{int(floor_log2(zoom) * _LOG10_2)} at this size"
    widest = fixed(MOST_WORDS)
    radius = _fitting_radius(widest, job) if beyond(widest, job) else None
    return way if radius is None else f"{way}, or choose --escape-radius {float(radius)}"
