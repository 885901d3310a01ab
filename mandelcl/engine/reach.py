"""How far each number goes: why one cannot do a job, and what to do where none can."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from mandelcl.errors import InvalidInputError
from mandelcl.exact import floor_log2
from mandelcl.job import Job
from mandelcl.numbers import LEAST_WORDS, MOST_WORDS, NUMBERS, NumberFormat, fixed

_LOG10_2 = Fraction(30102, 100_000)  # a little less, so that what is named as the limit is within it


def resolving(job: Job, numbers: Iterable[NumberFormat]) -> NumberFormat:
    """Return the first of some numbers that resolves a job's view, and can do it in the job's rounding.

    Raises InvalidInputError where there is none, with the limit of the last, and the way out.
    """
    able = [number for number in numbers if job.rounding in ("auto", *number.roundings)]
    reason = ""
    for number in able:
        refused = number.unresolved(job.view, job.iterations) or beyond(number, job)
        if refused is None:
            return number
        reason = refused
    rounding = "" if job.rounding == "auto" else f" with rounding {job.rounding}"
    raise InvalidInputError(f"no number resolves this view{rounding}: {reason}; {_way_out(job, able)}")


def beyond(number: NumberFormat, job: Job) -> str | None:
    """Return why a number cannot iterate the job's formula to its radius, in a phrase; None if it can."""
    least, largest = number.least_radius_squared(), number.largest_radius_squared
    if job.radius_squared < least:
        return f"{number.name} takes an escape radius of at least 2, or R² just below 4"
    if largest is not None and job.radius_squared > largest:
        return f"{number.name} takes an escape radius of at most {float(largest) ** 0.5:.2g}"
    reach = number.step_reach
    if reach is not None and job.formula.largest_step(job.radius_squared) >= reach:
        power = f"|z|{'⁰¹²³⁴⁵⁶⁷⁸⁹'[job.formula.degree]}"
        given = "escape radius" if job.formula.constant is None else "constant and escape radius"
        return f"{number.name} holds {power} + |c| below {reach}, which {job.formula.name} exceeds with this {given}"
    return None


def able_to_iterate(job: Job) -> str:
    """Return the names of the numbers that can iterate a job's formula to its radius, as a choice in words."""
    native = [number.name for number in NUMBERS.values() if number.is_native and beyond(number, job) is None]
    widths = [words for words in range(LEAST_WORDS, MOST_WORDS + 1) if beyond(fixed(words), job) is None]
    if widths:
        native.append(f"fixed:{widths[0]} to fixed:{widths[-1]}")
    return " or ".join([", ".join(native[:-1]), native[-1]]) if len(native) > 1 else native[0]


def _way_out(job: Job, numbers: Sequence[NumberFormat]) -> str:
    """Return what to do about a view that none of some numbers resolves."""
    if job.formula.perturbable:
        given = [] if job.rounding in ("auto", "fused") else [f"--rounding {job.rounding}"]
        given += ["--strict"] if job.strict else []
        return f"perturbation has no such limit: leave {' and '.join(given) or '--method direct'} out"
    able = [number for number in numbers if number.cannot_hold(job.view) is None and beyond(number, job) is None]
    if not able:
        return "choose another view"
    finest = min(number.finest_pitch(job.view, job.iterations) for number in able)
    zoom = 4 / (job.view.height * finest)
    return f"zoom in to at most 1e{int(floor_log2(zoom) * _LOG10_2)} at this size"
