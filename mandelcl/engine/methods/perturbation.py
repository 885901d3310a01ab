"""The method `perturbation`: an orbit is computed as its difference from a reference orbit."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import InvalidInputError, Token
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers.ieee import IEEE_FORMATS
from mandelcl.core.numbers.ieee_arithmetic import Scalars
from mandelcl.core.planes import CERTIFIED, DISTANCE, trails
from mandelcl.core.reference import FIRST_VERSION, Reference
from mandelcl.engine.methods import direct

if TYPE_CHECKING:  # `perturbation` is loaded with the first job that takes it
    from mandelcl.perturbation.kept import ReferenceKey
    from mandelcl.perturbation.orbit import Orbit
    from mandelcl.perturbation.replay import Replay
    from mandelcl.perturbation.table import Table

KERNEL, SCALED = "method_perturbation.cl", "scaled.cl"
NO_TRAIL = "turn_marks_none.cl", "turn_trail_none.cl"
_UNSURE_SHARE = 100  # of what |z|² may be off by: of orbits that spread over more, few are in doubt
_NOWHERE = 0xFFFFFFFF  # a saved place that there is not
_AT_NODE = 0x40000000  # the place of node 0
_ONE, _INFINITY = 0x3FF00000, 0x7FF00000  # the upper words of doubles
_MOST_PLAIN_DEGREE = 5  # of single iterations in plain numbers
TURN_LOOPS = 256  # in the longest turn: iterations of the orbit itself, or the table's levels for each lane
_MOST_KEPT_BYTES = 1 << 26  # of the last view's words
_last_words: "tuple[Any, ...] | None" = None  # how they were packed, the words, and of what they were made
# What an iteration of another formula than z² + c takes on the host: as long as z² + c in so many bits more, and times
# its own bits.
_GENERAL_WORK, _GENERAL_SHARE = 12000, 4
_REFERENCE_BITS = 84  # beyond the radius; orbits have a few more


def loop(job: Job) -> tuple[str, ...]:
    """Return the parts that advance a job's orbits: with bounds on their errors, and with derivatives, as it asks."""
    errors = ("turn_errors.cl", "step_errors.cl") if CERTIFIED.name in job.planes else ("step_errors_none.cl",)
    derivative = "step_derivative.cl" if DISTANCE.name in job.planes else "step_derivative_none.cl"
    inside = "turn_inside.cl" if _tests_interior(job) else "turn_inside_none.cl"
    marks, trail = ("turn_marks.cl", "turn_trail.cl") if trails(job.planes) else NO_TRAIL
    map_errors = "map_errors.cl" if CERTIFIED.name in job.planes else "map_errors_none.cl"
    nodes, mapped = _turns_by_map(job)
    return (
        *(("return_map.cl",) if nodes or mapped else ()),
        "turn_records.cl",
        "mapped_places.cl" if mapped else "mapped_places_none.cl",
        "turn_edges.cl",
        *errors,
        derivative,
        inside,
        marks,
        "turn_steps.cl",
        trail,
        *_plain_steps(job),
        *((map_errors, "map_cycles.cl") if nodes or mapped else ()),
        *(("turn_map.cl",) if nodes else ()),
        *(("turn_mapped.cl",) if mapped else ()),
        "advance_turns.cl",
    )


def _plain_steps(job: Job) -> tuple[str, ...]:
    """Return the parts that make single iterations in plain numbers: those of a formula with one reference.

    Of degrees beyond 5 they have so many instructions that an H200 takes up to 1.4 times as long with them.
    """
    formula, planes = job.formula, job.planes
    if CERTIFIED.name not in planes:
        if formula.knows_inside:
            return "plain_square.cl", "step_plain.cl"
        single = len(formula.lines) == 1 and formula.begins_inside
        if single and formula.degree <= _MOST_PLAIN_DEGREE and DISTANCE.name not in planes:
            return "plain_formula.cl", "step_plain.cl"
    return ("step_plain_none.cl",)


def scale(job: Job) -> int:
    """Return k for which the distance between pixels times 2^k is from 1 to 2: the kernels' points are that large."""
    return job.view.lattice.scale


def lattice(job: Job) -> Lattice:
    """Return the lattice of the constants' differences from the reference's, times 2^`scale`."""
    reference, own, by = reference_of(job), job.view.lattice, Fraction(2) ** scale(job)
    a, b, c, d = (by * entry for entry in own.matrix)
    return replace(own, re=by * (own.re - reference.re), im=by * (own.im - reference.im), matrix=(a, b, c, d))


def begin(job: Job) -> None:
    """Begin to compute what `words` of a resolved job returns."""
    from mandelcl.perturbation import reference_jobs

    first, *others = _keys(job)
    reference_jobs.begin(first, None if others else (_packing(job), partial(_packed, job)))
    for key in others:
        reference_jobs.begin(key)


def prepare(job: Job, progress: Callable[[int], None], cancel: Token) -> None:
    """Wait until `words` of a resolved job needs no time; raises CancelledError where `cancel` is set before.

    `progress` is called now and then with the number of iterations of the reference that are done.
    """
    from mandelcl.perturbation.reference_jobs import await_begun

    first, *others = _keys(job)
    await_begun(first, progress, cancel)
    if not all_inside(job):
        for key in others:
            await_begun(key, progress, cancel)


def words(job: Job) -> Words:
    """Return what the kernels of a resolved job read of its reference."""
    from mandelcl.perturbation.reference_jobs import pop_packed

    words: Words | None = pop_packed(_key(job), _packing(job))
    return _packed_all(job, _references(job)) if words is None else words


def _may_have_map(job: Job) -> bool:
    """Return whether a job's reference may have a return map."""
    return job.reference is not None and job.reference.may_have_map


def _turns_by_map(job: Job) -> tuple[bool, bool]:
    """Return whether orbits of a job may take steps of a return map from node to node, and between places.

    While the reference is not known, that may be; once it is, kernels do without what it does not have, for speed.
    """
    from mandelcl.perturbation.reference_jobs import known_orbit

    if not _may_have_map(job):
        return False, False
    if not reference_of(job).may_have_mapped_places:
        return True, False
    orbit = known_orbit(_key(job))
    return (True, True) if orbit is None else (orbit.returns is not None, orbit.mapped is not None)


def _packing(job: Job) -> Hashable:
    """Return what words depend on beside the orbit and the table."""
    return job.view, job.number


def _packed(job: Job, orbit: "Orbit", table: "Table") -> Words:
    return _packed_all(job, [(orbit, table)])


def _packed_all(job: Job, references: "Sequence[tuple[Orbit, Table]]") -> Words:
    """Return the words; those of the last view serve again beside the same references."""
    global _last_words
    from mandelcl.perturbation.packing import Packing, packed_phases, repacked

    error = point_error(job, max(orbit.length for orbit, _ in references))
    packing = Packing(reference_of(job), scale(job), job.number, error, job.formula.folds)
    parts = [part for pair in references for part in pair]
    if _last_words is not None:
        last, words, *known = _last_words
        same = len(known) == len(parts) and all(one is other for one, other in zip(known, parts, strict=True))
        if same and last == replace(packing, scale=last.scale, point_error=last.point_error):
            return repacked(words, packing)
    words = packed_phases(references, packing)
    _last_words = (packing, words, *parts) if words.nbytes <= _MOST_KEPT_BYTES else None
    return words


def all_inside(job: Job) -> bool:
    """Return whether all pixels of a resolved job are known never to escape."""
    from mandelcl.perturbation.orbit import INSIDE
    from mandelcl.perturbation.reference_jobs import reference_and_table

    return reference_and_table(_key(job))[0].ended == INSIDE


def doubts(job: Job) -> tuple[str, ...]:
    """Return lines for the user about counts of a resolved job that may be wrong, once `prepare` is done.

    Where a view's orbits pass R almost together beside a reference of version 1, |z|² is off by more than they differ,
    or they pass in the midst of a long step, which is tested where it ends. Where |c| is R itself, resolving the job
    has warned of that.
    """
    from mandelcl.perturbation.reference_jobs import reference_and_table

    reference, square = reference_of(job), float(job.radius_squared)
    if CERTIFIED.name in job.planes or reference.version > FIRST_VERSION:
        return ()
    orbit, _ = reference_and_table(_key(job))
    unsure = square / (1 << (IEEE_FORMATS[job.number].precision - 2))
    close = max(8 * square / (1 << reference.step_bits), _UNSURE_SHARE * unsure)
    if not orbit.passes(square, unsure, reference.radius, close):
        return ()
    return (
        "the orbits of this view pass the escape radius almost together, so counts may be off by one; use --certify, "
        "or another --escape-radius",
    )


def point_error(job: Job, length: int) -> Fraction:
    """Return a bound of how far the kernels' points are from the pixels', as they have them.

    The anchor and the steps are rounded once, and so are two products and sums. An error in a reference of `length`
    iterations does what as large an error in c would do (perturbation/orbit.py).
    """
    view, by = job.view, Fraction(2) ** scale(job)
    own = lattice(job)
    a, b, c, d = (abs(entry) for entry in own.matrix)
    columns = max(abs(own.column), abs(view.width - 1 - own.column))
    rows = max(abs(own.row), abs(view.height - 1 - own.row))
    largest = abs(own.re) + abs(own.im) + (a + c) * columns + (b + d) * rows
    of_reference = by * reference_of(job).radius * length / (1 << _REFERENCE_BITS)
    return 4 * largest / (1 << IEEE_FORMATS[job.number].precision) + of_reference


def _key(job: Job, phase: int = 0) -> "ReferenceKey":
    """Return what names the reference of a phase of a resolved job, and its table."""
    from mandelcl.perturbation.kept import ReferenceKey

    return ReferenceKey(reference_of(job), job.iterations, job.radius_squared, _unit_bits(job), job.formula, phase)


def _keys(job: Job) -> "list[ReferenceKey]":
    """Return the keys of all references of a resolved job."""
    return [_key(job, phase) for phase in range(job.formula.references)]


def _references(job: Job) -> "list[tuple[Orbit, Table]]":
    """Return the references of all phases; the first one in place of all where no orbit of the view escapes."""
    from mandelcl.perturbation.reference_jobs import reference_and_table

    keys = _keys(job)
    if all_inside(job):
        return [reference_and_table(keys[0])] * len(keys)
    return [reference_and_table(key) for key in keys]


def _unit_bits(job: Job) -> int | None:
    """Return the number's bits where errors are to be bounded."""
    return IEEE_FORMATS[job.number].precision if CERTIFIED.name in job.planes else None


def cost(job: Job) -> int:
    """Return how many iterations a pixel may be taken to need, in time."""
    return min(job.iterations, 4096) if job.formula.knows_inside else job.iterations


def host_work(job: Job) -> int:
    """Return how many iterations of z² + c times bits the references of a settled job may take, in time."""
    from mandelcl.perturbation.integers import reference_bits
    from mandelcl.perturbation.reference_jobs import known_end

    reference = reference_of(job)
    phase = 0 if job.formula.begins_inside else len(job.formula.lines)
    if known_end(_key(job, phase)):
        return 0
    bits = reference_bits(reference.radius)
    if not job.formula.knows_inside:
        bits = len(job.formula.lines) * (_GENERAL_WORK + _GENERAL_SHARE * bits)
    return job.iterations * bits


def period(job: Job) -> int:
    """Return the period of the region about a settled job's reference, if it has one within the limit; else 0.

    A Julia set's has none.
    """
    from mandelcl.perturbation.orbit import PERIOD
    from mandelcl.perturbation.reference_jobs import reference_and_table

    if not job.formula.begins_inside:
        return 0
    orbit, _ = reference_and_table(_key(job))
    return orbit.iterations if orbit.ended == PERIOD else 0


def _tests_interior(job: Job) -> bool:
    """Return whether orbits end about which a disc maps into itself, as the kernel's INTERIOR says."""
    return job.reference is not None and job.reference.tests_interior


def state_words(job: Job) -> int:
    """Return how many words a saved state has."""
    return len(start_words(job))


def start_words(job: Job) -> tuple[int, ...]:
    """Return the saved state of an orbit that has yet to begin, as cl/method_perturbation.cl packs it.

    There is no difference at all, at the reference's start, nothing is known of a cycle, and a first place for it is
    kept at the first comparison; the derivative is 0, and the marks are there.
    """
    from mandelcl.perturbation.packing import NOTHING

    number = IEEE_FORMATS[job.number]
    nothing = *[0] * number.reals_words, NOTHING & 0xFFFFFFFF
    error = [0] * number.words if CERTIFIED.name in job.planes else []
    columns = (1 if job.formula.analytic else 2) if DISTANCE.name in job.planes else 0
    derivative = nothing * columns
    n = [0] * job.counts.words
    marks = (*nothing, 0, *n, *nothing, 0, *n) if trails(job.planes) else ()
    disc = [0] * (4 * number.words if _tests_interior(job) else 0)
    place = 0
    if _may_have_map(job):
        place, infinite = _AT_NODE, (0, _INFINITY)
        marks = 0, _ONE, 0, 0, *infinite, 0, 0
    return *nothing, place, *error, *nothing, _NOWHERE, *error, *n, 0, 1, *derivative, *disc, *marks


def count(job: Job, column: int, row: int, most: int) -> int | None:
    """Return the count of a pixel of a resolved job; None if that would take more than `most` iterations.

    Each step is made as on the devices, to the last bit; `most` is taken for turns, which are iterations or more.
    """
    return replay(job).count(*point(job, column, row), most)


def replay(job: Job) -> "Replay":
    """Return what follows orbits of a resolved job on the host."""
    from mandelcl.perturbation.replay import Replay

    reference, references = reference_of(job), _references(job)
    radius_squared = float(_arithmetic(job).encode(job.radius_squared))
    return Replay(references, job.formula, reference, scale(job), job.number, radius_squared, job.iterations)


def point(job: Job, column: int, row: int) -> tuple[float, float]:
    """Return the point of a pixel as the kernels see it, in the job's number."""
    view = View(lattice(job), job.view.width, job.view.height)
    re, im = direct.point(view, _arithmetic(job), column, row)
    return float(re), float(im)


def _arithmetic(job: Job) -> Scalars:
    return Scalars(IEEE_FORMATS[job.number], fused=True)


def reference_of(job: Job) -> Reference:
    """Return the reference of a resolved job."""
    if job.reference is None or not job.reference.step_bits or not job.reference.tail_bits:
        raise InvalidInputError("the job's reference is not resolved")
    return job.reference
