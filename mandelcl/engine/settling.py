"""How a job is computed where it leaves that open: from its view, its cap and the class of the devices alone."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

from mandelcl.errors import InvalidInputError
from mandelcl.job import Job
from mandelcl.methods import method_of
from mandelcl.numbers import DOUBLE, FLOAT, NumberFormat
from mandelcl.numbers.ieee import IEEE_FORMATS
from mandelcl.planes import CERTIFIED
from mandelcl.reference import Reference

# Bits of a reference's steps and of where its tail begins, by number: docs/deep-zoom.md weighs truth against time. Fine
# steps have their price where there are many of them; the coarsest are for counts that are to be proved in any case.
FINE = {DOUBLE.name: (22, 8), FLOAT.name: (11, 3)}
_DEEP = {DOUBLE.name: (15, 12), FLOAT.name: (10, 4)}
_FIRST = {DOUBLE.name: (14, 14), FLOAT.name: (10, 4)}
_DEEP_RADIUS = Fraction(1, 1 << 96)  # that of a view at a zoom of some 10^29
_MOST_RADII = 16  # beyond this, a reference cut for its radius costs bits of the view's differences


class HasDouble(Protocol):
    """Of a device, all that a job's method and number are settled by."""

    @property
    def fp64(self) -> bool:
        """Whether it has double."""

    @property
    def slow_double(self) -> bool:
        """Whether that takes 16 times as long as float or more, in its family."""


def settle_method(job: Job, devices: Sequence[HasDouble]) -> tuple[Job, tuple[str, ...]]:
    """Return the job with its method settled for some devices, and warnings.

    `auto` is direct where the job says which number it wants or asks for proofs, where the formula has no
    perturbation, and where float or double resolves the view; else it is perturbation. A job by perturbation then has
    its number, too, and its reference: its own, or the view's. Raises InvalidInputError for a reference that does not
    reach the view.
    """
    method = ("perturbation" if _pays(job, devices) else "direct") if job.method == "auto" else job.method
    if method == "direct":
        return replace(job, method=method, reference=None), ()
    number = job.number if job.number != "auto" else _perturbed(job, devices).name
    reference = job.reference or Reference.of(job.view)
    reference = reference.settled(*_bits(job, reference)[number])
    if not reference.reaches(job.view):
        raise InvalidInputError("the reference does not reach all of the view; leave it out, or give a larger radius")
    settled = replace(job, method=method, number=number, rounding="fused", reference=reference)
    return settled, _warnings(settled, reference)


def _bits(job: Job, reference: Reference) -> Mapping[str, tuple[int, int]]:
    """Return the bits of steps and tail, by number, for a job that leaves them open."""
    if CERTIFIED.name in job.planes:
        return _FIRST
    return _DEEP if reference.radius < _DEEP_RADIUS else FINE


def begin_early(job: Job) -> None:
    """Begin what a job needs of the host on a device with double, before any device is asked.

    What is wrong with the job is found when it is settled.
    """
    with suppress(InvalidInputError):
        settled, _ = settle_method(job, [_Usual()])
        method_of(settled).begin(settled)


class _Usual:
    """A device as most are."""

    fp64 = True
    slow_double = False


def _native(devices: Sequence[HasDouble]) -> tuple[NumberFormat, ...]:
    return (FLOAT, DOUBLE) if any(device.fp64 for device in devices) else (FLOAT,)


def _perturbed(job: Job, devices: Sequence[HasDouble]) -> NumberFormat:
    """Return the number for perturbation: double, but float where no device has double or it is slow.

    Proofs take double, however slow it is: with float many more counts are left to exact arithmetic.
    """
    proves = CERTIFIED.name in job.planes
    return DOUBLE if any(device.fp64 and (proves or not device.slow_double) for device in devices) else FLOAT


def _pays(job: Job, devices: Sequence[HasDouble]) -> bool:
    if CERTIFIED.name in job.planes:
        return True
    free = job.number == "auto" and job.rounding in ("auto", "fused") and not job.strict
    if not free or not job.formula.perturbable:
        return False
    return job.reference is not None or not any(_resolves(number, job) for number in _native(devices))


def _resolves(number: NumberFormat, job: Job) -> bool:
    return job.radius_squared >= number.least_radius_squared() and number.unresolved(job.view, job.iterations) is None


def _warnings(job: Job, reference: Reference) -> tuple[str, ...]:
    warnings = []
    if reference.radius > _MOST_RADII * Reference.of(job.view).radius:
        warnings.append(
            f"the reference's radius is more than {_MOST_RADII} times what the view needs; counts are right less often"
        )
    if _on_the_circle(job, reference):
        warnings.append(
            f"{job.number} does not tell which points of the view lie beyond the escape radius, so counts may be far "
            "off; use a larger --escape-radius, or --certify"
        )
    return tuple(warnings)


def _on_the_circle(job: Job, reference: Reference) -> bool:
    """Return whether |c| = R for all of the view, as near as the job's number can tell."""
    if CERTIFIED.name in job.planes:
        return False
    number, norm = IEEE_FORMATS[job.number], reference.re**2 + reference.im**2
    unsure = job.radius_squared / (1 << (number.precision - 2))
    return reference.radius**2 < unsure**2 and abs(norm - job.radius_squared) < unsure
