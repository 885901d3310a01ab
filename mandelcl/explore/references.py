"""The reference of a pane's views. It is kept as long as it is suitable, so that its orbit is already computed."""

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

# A reference with more than 16 times the radius that a view needs costs bits. A new one leaves room to pan and zoom.
MOST_RADII = 16
_NEW_RADII = 4
_PLACE_BITS = 20  # a reference's point is rounded to this many bits below its radius
_RADIUS_BITS = 12


@dataclass(frozen=True, slots=True)
class Kept:
    """A reference, and the other inputs of its orbit."""

    reference: Reference
    formula: Formula
    radius_squared: Fraction


def referred(job: Job, kept: Kept | None) -> Job:
    """Return a job with its reference: its own, the kept one if that is suitable, or a new one.

    A job that will not be computed by perturbation is returned unchanged.
    """
    free = job.method != "direct" and job.number in ("auto", *PERTURBED_NUMBERS) and job.formula.perturbable
    if job.reference is not None or not free:
        return job
    try:
        if resolve(job, [DeviceClass()]).job.method != "perturbation":
            return job
    except InvalidInputError:
        return job  # a device will report what is wrong with it
    needed = Reference.of(job.view)
    suits = (
        kept is not None
        and (kept.formula, kept.radius_squared) == (job.formula, job.radius_squared)
        and kept.reference.radius <= MOST_RADII * needed.radius
        and kept.reference.reaches(job.view)
    )
    return replace(job, method="perturbation", reference=kept.reference if kept and suits else _new(needed))


def _new(needed: Reference) -> Reference:
    """Return a reference with room around what is needed, with short numbers."""
    radius = rounded_up(_NEW_RADII * needed.radius, _RADIUS_BITS)
    places = max(0, _PLACE_BITS - floor_log2(radius)) * 30103 // 100000
    return Reference(_rounded(needed.re, places), _rounded(needed.im, places), radius)


def _rounded(value: Fraction, places: int) -> Fraction:
    """Return a number rounded to this many decimals."""
    return Fraction(round(value * 10**places), 10**places)
