"""The references that a pane's views name, one after the other, so that the orbit of each serves many views.

A reference follows from the views before, and from nothing else: not from what is cached, nor from what is ready. It
serves while its radius is not too large for a view, and its centre not too far away. docs/deep-zoom.md shows what both
cost. In motion more is allowed than at rest.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import floor_log2
from mandelcl.base.names import PERTURBED_NUMBERS
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference, rounded_up
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.resolve import MOST_DISTANCE, MOST_RADII, resolve
from mandelcl.formulas import Formula

_RADII_IN_MOTION, _DISTANCE_IN_MOTION = 1 << 16, 1 << 12  # in radii that a view needs: 16 octaves, 2^12 widths
_RADII = 4  # of a new reference: a zoom in from there keeps it for 14 octaves
_RADII_OUT = MOST_RADII  # the same when a zoom out has left the reference before
_AHEAD = 1 << 6  # a reference this much too large, in motion, will be replaced: the next one is computed in advance
_PLACE_BITS = 20  # a reference's point is rounded to this many bits below its radius
_RADIUS_BITS = 12

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A reference, and the other inputs of its orbit."""

    reference: Reference
    formula: Formula
    radius_squared: Fraction

    def suits(self, job: Job, needed: Reference, *, motion: bool) -> bool:
        """Return whether a job may name it. `needed` is the reference in the middle of the job's view."""
        radii, distance = (_RADII_IN_MOTION, _DISTANCE_IN_MOTION) if motion else (MOST_RADII, MOST_DISTANCE)
        own = self.reference
        return (
            (self.formula, self.radius_squared) == (job.formula, job.radius_squared)
            and own.radius <= radii * needed.radius
            and own.distance_squared(needed) <= (distance * needed.radius) ** 2
            and own.reaches(job.view)
        )


class PaneReferences:
    """The reference of a pane's views, and the next one of a zoom that goes on."""

    def __init__(self) -> None:
        self.named: NamedReference | None = None
        self._next: NamedReference | None = None
        self._needed = Fraction(0)  # the radius that the last view needed
        self._kind: Hashable = None  # what else decides whether it took a reference

    def refer(self, job: Job, others: Iterable["PaneReferences"] = (), *, motion: bool = False) -> Job:
        """Return a job with its reference: its own, the pane's, one of other panes if that suits, or a new one.

        A job that will not be computed by perturbation is returned unchanged.
        """
        needed, kind = Reference.of(job.view), _kind(job)
        deeper = kind == self._kind and needed.radius <= self._needed  # than the last view, which took a reference
        near = deeper and self.named is not None and self.named.suits(job, needed, motion=motion)
        if not near and not _takes_reference(job):
            return job
        self._kind = kind
        self._needed, before = needed.radius, self._needed
        if job.reference is not None:
            self.named = NamedReference(job.reference, job.formula, job.radius_squared)
            return job
        known = (self.named, self._next, *(pane.named for pane in others))
        found = next((one for one in known if one is not None and one.suits(job, needed, motion=motion)), None)
        if found is None:
            radii = _RADII_OUT if motion and 0 < before < needed.radius else _RADII
            reference = _rounded(needed.re, needed.im, radii * needed.radius)
            found = NamedReference(reference, job.formula, job.radius_squared)
        if found is not self.named:
            self._next = None
        self.named = found
        return replace(job, method="perturbation", reference=found.reference)

    def next_job(self, job: Job, centre: Point) -> Job | None:
        """Return a job with the reference that a zoom towards a point will need next; None if that is known already.

        `job` is the last one that `refer` returned, in motion.
        """
        named = self.named
        if named is None or self._next is not None or job.reference is not named.reference:
            return None
        if named.reference.radius < _AHEAD * self._needed:
            return None
        reference = _rounded(*centre, named.reference.radius * _RADII / _RADII_IN_MOTION)
        self._next = replace(named, reference=reference)
        return replace(job, view=_around(reference, job.view, self._needed), reference=reference)


def _kind(job: Job) -> Hashable:
    named = job.formula, job.number, job.rounding, job.method, job.planes, job.strict, job.radius_squared
    return *named, job.reference


def _takes_reference(job: Job) -> bool:
    """Return whether a job will be computed by perturbation."""
    if job.reference is not None:
        return job.method != "direct"
    free = job.method != "direct" and job.number in ("auto", *PERTURBED_NUMBERS) and job.formula.perturbable
    if not free or job.method == "perturbation":
        return free
    try:
        return resolve(job, [DeviceClass()]).job.method == "perturbation"
    except InvalidInputError:
        return False  # a device will report what is wrong with it


def _rounded(re: Fraction, im: Fraction, radius: Fraction) -> Reference:
    """Return a reference with short numbers."""
    radius = rounded_up(radius, _RADIUS_BITS)
    places = max(0, _PLACE_BITS - floor_log2(radius)) * 30103 // 100000
    re, im = (Fraction(round(part * 10**places), 10**places) for part in (re, im))
    return Reference(re, im, radius)


def _around(reference: Reference, view: View, needed: Fraction) -> View:
    """Return a view, of which `needed` is the radius, moved to a reference and made so small that it is reached."""
    part = reference.radius / (_RADII * needed)
    a, b, c, d = (part * entry for entry in view.lattice.matrix)
    lattice = replace(view.lattice, re=reference.re, im=reference.im, matrix=(a, b, c, d))
    return View(replace(lattice, column=view.width // 2, row=view.height // 2), view.width, view.height)
