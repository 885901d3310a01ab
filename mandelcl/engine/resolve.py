"""Decide what a job leaves open, from the job and the classes of devices alone. No rate and no time decides a byte."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.words import Words
from mandelcl.colour.samples import AUTO
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT, NumberFormat, by_name, candidates
from mandelcl.core.numbers.ieee import IEEE_FORMATS
from mandelcl.core.planes import CERTIFIED, COUNTS, DISTANCE, trails
from mandelcl.core.reference import FIRST_VERSION, MAPPED_VERSION, Reference
from mandelcl.engine import antialiasing, reach
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.iteration_limit import Survey, automatic_limit, surveyed
from mandelcl.engine.methods import mapped_view

# Bits of a reference's steps and of where its tail begins, by number: docs/deep-zoom.md weighs truth against time. Fine
# steps cost time if there are many of them. The coarsest are for counts that are proved in any case.
FINE = {DOUBLE.name: (22, 8), FLOAT.name: (11, 3)}
_DEEP = {DOUBLE.name: (15, 12), FLOAT.name: (10, 4)}
_MAPS = {DOUBLE.name: (20, 12), FLOAT.name: (10, 4)}  # long orbits add up more errors
_FIRST = {DOUBLE.name: (14, 14), FLOAT.name: (10, 4)}
_LONG = 1 << 20  # iterations
_DEEP_RADIUS = Fraction(1, 1 << 96)  # that of a view at a zoom of some 10^29
# The largest radius and distance of a reference, in radii of the view: beyond, counts become wrong (docs/deep-zoom.md).
MOST_RADII, MOST_DISTANCE = 1 << 8, 4

_LEAST_SIDE = 512  # pixels of the longer side: rectangles below 8 pixels, of one count, are not worth tracing
_MOST_WORK = 500  # iterations: shortcuts may end a longer orbit
_LEAST_SHARE = 0.4  # of the work must lie in cells of one count
# Iterations of escape time in all, about half a second's: below that, building more kernels costs more than is saved.
_LEAST_WORK, _LEAST_WORK_GPU = 1e9, 5e10


@dataclass(frozen=True, slots=True)
class ResolvedJob:
    """A job without `auto`, and warnings for the user."""

    job: Job
    warnings: tuple[str, ...] = ()


def resolve(
    job: Job, classes: Sequence[DeviceClass], survey: Survey | None = None, *, shared: bool = False
) -> ResolvedJob:
    """Return a job resolved for devices. One of them will do it or, if it is `shared`, all of them.

    An automatic iteration limit is that of `limited`; without a survey it is the job's number of iterations. The method
    is perturbation if proofs are requested, or if neither float nor double resolves the view. It is direct if the job
    names a number, or if the formula has no perturbation. The number is the first of `numbers.candidates` that resolves
    the view. A number that the job names is used, with a warning if it does not resolve the view. The rounding is
    fused, unless fma is software on all devices that are likely to be fastest or, if they share the job, on any of
    them. The survey decides the algorithm; without one, or if devices share the job, it is escape time. Resolved fields
    stay.

    Raises InvalidInputError if no number resolves the view, if the named one cannot do the job, and for a reference
    that does not reach the view.
    """
    limit_notes: tuple[str, ...] = ()
    if job.auto_iterations:
        if survey is None:
            job = replace(job, auto_iterations=False)
        else:
            job, limit_notes = limited(job, classes, survey, shared=shared)
    job, notes = _with_method(job, classes)
    number, warnings = _number_of(job, classes)
    rounding, slow = _rounding_of(job, number, classes, shared)
    job = job.resolved(number.name, rounding)
    if job.algorithm == "auto":
        traced = survey is not None and not shared and _pays_tracing(job, classes, survey)
        job = replace(job, algorithm="border" if traced else "escape", strict=job.strict and traced)
    return ResolvedJob(job, (*limit_notes, *notes, *warnings, *slow))


def limited(
    job: Job, classes: Sequence[DeviceClass], survey: Survey, *, shared: bool = False
) -> tuple[Job, tuple[str, ...]]:
    """Return a job with its automatic iteration limit decided, and notes; all else stays as open as it is.

    Points are surveyed in the number and the method that `resolve` chooses for the job's own number of iterations,
    with which the survey begins.
    """
    job = replace(job, auto_iterations=False)
    found = automatic_limit(resolve(replace(job, algorithm="escape", strict=False), classes, shared=shared).job, survey)
    return replace(job, iterations=found.iterations), found.notes


def samples_of(job: Job, classes: Sequence[DeviceClass], survey: Survey, *, shared: bool = False) -> int | str:
    """Return how many samples a pixel of a job takes that leaves them open: `auto` where these are cheap, otherwise 1.

    That is decided in the number and the method of one sample a pixel, with the job's iteration limit.
    """
    one = resolve(replace(job, algorithm="escape", strict=False), classes, shared=shared).job
    return AUTO if antialiasing.is_cheap(one, survey) else 1


def _with_method(job: Job, devices: Sequence[DeviceClass]) -> tuple[Job, tuple[str, ...]]:
    """Return the job with its method, and warnings; by perturbation also with its number, rounding and reference."""
    method = ("perturbation" if _takes_reference(job, devices) else "direct") if job.method == "auto" else job.method
    if method == "direct":
        return replace(job, method=method, reference=None), ()
    number = job.number if job.number != "auto" else _perturbed(job, devices).name
    by_name(number).encode(job.radius_squared, "the escape radius squared")  # a line, before a reference is computed
    reference = job.reference or Reference.of(job.view)
    if job.reference is None and number == DOUBLE.name and job.formula.knows_inside and _may_take_maps(job):
        reference = replace(reference, version=MAPPED_VERSION)
    reference = reference.resolved(*_bits(job, reference)[number])
    if not reference.reaches(job.view):
        raise InvalidInputError("the reference does not reach all of the view; leave it out, or give a larger radius")
    resolved = replace(job, method=method, number=number, rounding="fused", reference=reference)
    return resolved, _warnings(resolved, reference)


def named_as_chosen(job: Job, classes: Sequence[DeviceClass]) -> Job:
    """Return a job whose reference a program has chosen, in the version that `resolve` would choose."""
    if job.reference is None or not job.formula.knows_inside:
        return job
    number = job.number if job.number != "auto" else _perturbed(job, classes).name
    maps = number == DOUBLE.name and _may_take_maps(job)
    return replace(job, reference=replace(job.reference, version=MAPPED_VERSION)) if maps else job


def _may_take_maps(job: Job) -> bool:
    """Return whether orbits may be so long that a return map of the reference is worth looking for."""
    plain = DISTANCE.name not in job.planes and not trails(job.planes)
    return plain and job.iterations > _LONG and job.radius_squared >= 4


def _bits(job: Job, reference: Reference) -> Mapping[str, tuple[int, int]]:
    """Return the bits of steps and tail, by number, for a job that leaves them open."""
    if CERTIFIED.name in job.planes:
        return _FIRST
    if reference.may_have_map:
        return _MAPS
    return _DEEP if reference.radius < _DEEP_RADIUS else FINE


def _native(devices: Sequence[DeviceClass]) -> tuple[NumberFormat, ...]:
    return (FLOAT, DOUBLE) if any(device.fp64 for device in devices) else (FLOAT,)


def _perturbed(job: Job, devices: Sequence[DeviceClass]) -> NumberFormat:
    """Return the number for perturbation: double, but float where no device has double or it is slow.

    Proofs take double, however slow it is: with float many more counts are left to exact arithmetic.
    """
    proves = CERTIFIED.name in job.planes
    return DOUBLE if any(device.fp64 and (proves or not device.slow_double) for device in devices) else FLOAT


def _takes_reference(job: Job, devices: Sequence[DeviceClass]) -> bool:
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
    needed = Reference.of(job.view)
    if reference.radius > MOST_RADII * needed.radius:
        warnings.append(
            f"the reference's radius is more than {MOST_RADII} times what the view needs; counts are right less often"
        )
    elif reference.distance_squared(needed) > (MOST_DISTANCE * needed.radius) ** 2:
        warnings.append(
            f"the reference is more than {MOST_DISTANCE} times as far from the view's middle as its corners are; "
            "counts are right less often"
        )
    if _on_the_circle(job, reference):
        warnings.append(
            f"{job.number} cannot decide which points of the view lie beyond the escape radius, so counts may be far "
            "off; use a larger --escape-radius, or --certify"
        )
    return tuple(warnings)


def _on_the_circle(job: Job, reference: Reference) -> bool:
    """Return whether |c| = R for all of the view, within the precision of the job's number.

    References of later versions know how far they are from R.
    """
    if CERTIFIED.name in job.planes or reference.version > FIRST_VERSION:
        return False
    number, norm = IEEE_FORMATS[job.number], reference.re**2 + reference.im**2
    unsure = job.radius_squared / (1 << (number.precision - 2))
    return reference.radius**2 < unsure**2 and abs(norm - job.radius_squared) < unsure


def _number_of(job: Job, devices: Sequence[DeviceClass]) -> tuple[NumberFormat, tuple[str, ...]]:
    """Return the number that a job is to use, and warnings."""
    if job.number == "auto":
        numbers = candidates(any(device.fp64 for device in devices))
        rounding = None if job.rounding == "auto" else job.rounding
        able = [number for number in numbers if rounding in (None, *number.roundings)]
        return reach.resolving(job, able, rounding), ()
    number, view = by_name(job.number), mapped_view(job)
    beyond = number.cannot_hold(view)
    if beyond:
        raise InvalidInputError(f"{beyond}; choose another --number or view")
    beyond = reach.beyond(number, job)
    if beyond:
        raise InvalidInputError(f"{beyond}; choose {reach.able_to_iterate(job)}")
    if job.rounding not in ("auto", *number.roundings):
        raise InvalidInputError(f"{number.name} has no rounding {job.rounding!r}; it has {', '.join(number.roundings)}")
    reason = number.unresolved(view, job.iterations)
    return number, (f"{reason}: expect blocks or noise in the picture",) if reason else ()


def _rounding_of(
    job: Job, number: NumberFormat, devices: Sequence[DeviceClass], shared: bool
) -> tuple[str, tuple[str, ...]]:
    """Return the rounding that a job is to use, and warnings."""
    if job.rounding != "auto":
        return job.rounding, ()
    preferred, *others = number.roundings
    able = [device for device in devices if device.can(number)]
    if not others or not able:
        return preferred, ()
    if shared:
        slow = next((device for device in able if device.slow_fma(number)), None)
        if slow is None:
            return preferred, ()
        return others[0], (f"rounding is {others[0]}, since fma is software on {slow.label}",)
    best = min(device.tier(number) for device in able)
    fast = any(not device.slow_fma(number) for device in able if device.tier(number) == best)
    return preferred if fast else others[0], ()


def connected_below(job: Job) -> int:
    """Return the count below which a border decides what is inside: points of higher counts are connected, around 0."""
    formula = job.formula
    if not formula.traceable:
        return job.iterations  # a study that asks for it measures its errors
    number = by_name(job.number)
    constant = tuple(number.round(part) for pair in formula.parameters for part in pair)
    return formula.connected_below(constant, job.radius_squared, job.iterations)


def _pays_tracing(job: Job, devices: Sequence[DeviceClass], survey: Survey) -> bool:
    """Return whether a job whose number is resolved is likely to be done sooner by border tracing."""
    least = _LEAST_WORK_GPU if any(device.is_gpu for device in devices) else _LEAST_WORK
    each = least / job.view.pixels / by_name(job.number).products
    if (
        not job.formula.traceable
        or {CERTIFIED.name, DISTANCE.name} & set(job.planes)
        or max(job.view.width, job.view.height) < _LEAST_SIDE
        or min(job.iterations, _MOST_WORK) < each
        or connected_below(job) != job.iterations
    ):
        return False
    counts = survey.counts(surveyed(job))
    return float(np.mean(np.minimum(counts, _MOST_WORK))) >= each and share_of_one_count(counts, job) >= _LEAST_SHARE


def share_of_one_count(counts: Words, job: Job) -> float:
    """Return the share of all iterations that lies in cells with one count at all corners.

    Where more than counts is kept, the count must be the iteration limit.

    Only the first _MOST_WORK iterations of an orbit are counted: shortcuts may end a long one.
    """
    corners = counts[:-1, :-1], counts[:-1, 1:], counts[1:, :-1], counts[1:, 1:]
    alike = np.logical_and.reduce([corner == corners[0] for corner in corners[1:]])
    if job.planes != (COUNTS.name,):
        alike &= corners[0] == job.iterations
    work = sum(np.minimum(corner, _MOST_WORK).astype(np.float64) for corner in corners)
    total = float(np.sum(work))
    return float(np.sum(np.where(alike, work, 0.0))) / total if total else 0.0
