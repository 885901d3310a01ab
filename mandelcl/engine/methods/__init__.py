"""The methods, which compute orbits: one module for each, and the list of all.

A method has a kernel part, which defines the state of an orbit, a loop that advances orbits, and `count`, the same on
the host. To add a method, write these, and add it to `METHODS` and its name to `names.METHODS`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mandelcl.base.errors import Token
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat
from mandelcl.engine.methods import bounded, direct, perturbation


def _meets_denormals(job: Job, number: NumberFormat) -> bool:
    return number.reaches_denormals(job.view, job.formula)


@dataclass(frozen=True, slots=True)
class Method:
    """A way to compute an orbit.

    `number_parts` are numbers of its own, between the job's number and the formula.
    `kernel` is its part, `derivative_kernel` that with derivatives, and `loop(job)` are the parts that advance a
    job's orbits, after those that all loops share. `count(job, column,
    row, most)` returns the count of a pixel of a resolved job, computed on the host; None if that takes more than
    `most` iterations. `state_words(job)` is the number of 32-bit words of a saved state, without its pixel's index.
    `lattice(job)` is the lattice that the kernels map pixels by, and `words(job)` are the method's own words
    for them, or None. `meets_denormals(job, number)` is whether an orbit may meet a denormal number that
    matters.

    `begin(job)` starts to compute the `words` in the background, and `prepare(job, progress, cancel)` waits for them.
    `progress` is called now and then with the number of iterations that are done. If `cancel` is set, the wait ends
    with CancelledError. `start_words(job)` is the saved state of an orbit that has not begun, if it is the same for
    all.

    `doubts(job)` returns lines for the user about counts that may be wrong, as far as that is known after `prepare`.

    `all_inside(job)` is whether all pixels of a resolved job are known never to escape, so that no orbit is iterated.

    A loop `by_turns` runs each orbit to its own end, in turns of unequal length with at most `turn_loops(job)`
    iterations of loops each. Other loops run all orbits for the same number of strides. `cost(job)` is the number of
    iterations that a pixel is estimated to take, and `host_work(job)` the iterations times bits that the host may have
    to compute first. `period(job)` is the period that the host has found in the view, or 0.
    """

    kernel: str
    derivative_kernel: str
    loop: Callable[[Job], tuple[str, ...]]
    count: Callable[[Job, int, int, int], int | None]
    state_words: Callable[[Job], int]
    lattice: Callable[[Job], Lattice] = lambda job: job.view.lattice
    words: Callable[[Job], Words | None] = lambda _job: None
    meets_denormals: Callable[[Job, NumberFormat], bool] = _meets_denormals
    begin: Callable[[Job], None] = lambda _job: None
    prepare: Callable[[Job, Callable[[int], None], Token], None] = lambda _job, _progress, _cancel: None
    start_words: Callable[[Job], Sequence[int]] | None = None
    doubts: Callable[[Job], tuple[str, ...]] = lambda _job: ()
    all_inside: Callable[[Job], bool] = lambda _job: False
    by_turns: bool = False
    turn_loops: Callable[[Job], int] = lambda _job: 1
    cost: Callable[[Job], int] = lambda job: job.iterations
    host_work: Callable[[Job], int] = lambda _job: 0
    period: Callable[[Job], int] = lambda _job: 0
    number_parts: tuple[str, ...] = ()


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "direct": Method(
            "method_direct.cl",
            "method_direct_derivative.cl",
            lambda _job: ("advance_strides.cl",),
            direct.count,
            direct.state_words,
            words=direct.words,
        ),
        "perturbation": Method(
            perturbation.KERNEL,
            perturbation.KERNEL,
            perturbation.loop,
            perturbation.count,
            perturbation.state_words,
            perturbation.lattice,
            perturbation.words,
            meets_denormals=lambda _job, _number: False,
            begin=perturbation.begin,
            prepare=perturbation.prepare,
            start_words=perturbation.start_words,
            doubts=perturbation.doubts,
            all_inside=perturbation.all_inside,
            by_turns=True,
            turn_loops=lambda _job: perturbation.TURN_LOOPS,
            cost=perturbation.cost,
            host_work=perturbation.host_work,
            period=perturbation.period,
            number_parts=(perturbation.SCALED,),
        ),
        "bounded": Method(
            bounded.KERNEL,
            bounded.KERNEL,
            lambda _job: bounded.LOOP,
            bounded.count,
            bounded.state_words,
            words=bounded.words,
            meets_denormals=lambda _job, _number: False,
            start_words=bounded.start_words,
            by_turns=True,
            turn_loops=bounded.turn_loops,
        ),
    }
)


def method_of(job: Job) -> Method:
    """Return the method of a job whose method is resolved. Raises KeyError for any other job."""
    return METHODS[job.method]


def mapped_view(job: Job) -> View:
    """Return the view of a job as its kernels see it."""
    return View(method_of(job).lattice(job), job.view.width, job.view.height)
