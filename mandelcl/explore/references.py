"""Which reference the views of a pane have: the same one as long as it suits, so that its orbit is there already."""

from dataclasses import dataclass, replace
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import floor_log2
from mandelcl.base.names import PERTURBED_NUMBERS
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference, rounded_up
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.resolve import resolve
from mandelcl.formulas import Formula

# A reference of more than 16 times the radius that a view needs costs bits; a new one has room to pan, and to zoom.
MOST_RADII = 16
_NEW_RADII = 4
_PLACE_BITS = 20  # how much finer than its radius the place of a reference is written
_RADIUS_BITS = 12


@dataclass(frozen=True, slots=True)
class Kept:
    """A reference, and what beside it decides its orbit."""

    reference: Reference
    formula: Formula
    radius_squared: Fraction


def referred(job: Job, kept: Kept | None) -> Job:
    """Return a job with the reference that it is to have: its own, the kept one where it suits, or a new one.

    It is returned as it is where it will not be computed by perturbation.
    """
    free = job.method != "direct" and job.number in ("auto", *PERTURBED_NUMBERS) and job.formula.perturbable
    if job.reference is not None or not free:
        return job
    try:
        if resolve(job, [DeviceClass()]).job.method != "perturbation":
            return job
    except InvalidInputError:
        return job  # a device says what is wrong with it
    needed = Reference.of(job.view)
    suits = (
        kept is not None
        and (kept.formula, kept.radius_squared) == (job.formula, job.radius_squared)
        and kept.reference.radius <= MOST_RADII * needed.radius
        and kept.reference.reaches(job.view)
    )
    return replace(job, method="perturbation", reference=kept.reference if kept and suits else _new(needed))


def _new(needed: Reference) -> Reference:
    """Return a reference with room around what is needed, its numbers short."""
    radius = rounded_up(_NEW_RADII * needed.radius, _RADIUS_BITS)
    places = max(0, _PLACE_BITS - floor_log2(radius)) * 30103 // 100000
    return Reference(_rounded(needed.re, places), _rounded(needed.im, places), radius)


def _rounded(value: Fraction, places: int) -> Fraction:
    """Return a number of so many decimals near another."""
    return Fraction(round(value * 10**places), 10**places)
