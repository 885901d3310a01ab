"""How an orbit is computed: a module a method, and here the list of all.

A method has a kernel part, which says what an orbit's state is, a loop that advances orbits, and `count`, the same on
the host. To add one: these, its line in `METHODS`, and its name in `names.METHODS`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mandelcl.base.errors import Token
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.engine.methods import bounded, direct, perturbation
from mandelcl.numbers import NumberFormat


def _meets_denormals(job: Job, number: NumberFormat) -> bool:
    return number.reaches_denormals(job.view, job.formula)


@dataclass(frozen=True, slots=True)
class Method:
    """A way to compute an orbit.

    `kernel` is its part, `derivative_kernel` that with derivatives, and `loop(job)` those that advance a job's
    orbits, behind what all loops share. `count(job, column,
    row, most)` returns the count of a pixel of a resolved job, worked out on the host; None where that takes more than
    `most` iterations. `state_words(job)` is how many 32-bit words a saved state has, its pixel's index not counted.
    `lattice(job)` is the lattice that the kernels map pixels by, and `words(job)` what they read of the method's own;
    None where that is nothing. `meets_denormals(job, number)` says whether an orbit may meet a denormal number that
    matters.

    `begin(job)` begins in the background to compute what `words` returns, and `prepare(job, progress, cancel)` waits
    for that: `progress` is told now and then how many iterations are done, and a `cancel` that is set ends the wait
    with CancelledError. `start_words(job)` is the saved state of an orbit that has yet to begin, where that is the
    same for all.

    `doubts(job)` returns lines for the user about counts that may be wrong, as far as they are known after `prepare`.

    `all_inside(job)` says whether all pixels of a resolved job are known never to escape, so that no orbit is iterated.

    A loop `by_turns` runs each orbit to its own end, by turns of unequal length, each with at most `turn_loops(job)`
    iterations of loops; others run all orbits for as many strides of iterations. `cost(job)` is how many iterations a
    pixel may be taken to need, in time, and `host_work(job)` how many iterations times bits the host may have to make
    before. `period(job)` is the period that the host has found in the view; 0 where it has found none.
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
