"""Exact counts of many points at once, on all cores: gmpy2 holds the interpreter, so each has a process of its own."""

import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from mandelcl.base.errors import NEVER, DeviceError, Token, stop_if
from mandelcl.base.exact import from_hexadecimal, hexadecimal
from mandelcl.base.machine import cores
from mandelcl.core.job import Job
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.perturbation.bounded import KeepOn, Point
from mandelcl.perturbation.exact import Outcome, exact_outcome, fraction_bits
from mandelcl.perturbation.reference_jobs import map_period
from mandelcl.workers.channel import Channel
from mandelcl.workers.dialogue import Dialogue

ROLE = "exact"


@dataclass(frozen=True, slots=True)
class CountTask:
    """What all points have in common: the iteration limit, R², the bits after the point that are tried first.

    Orbits are those of the `formula`. They take the return map of a `period`, if that is not 0.
    """

    iterations: int
    radius_squared: Fraction
    bits: int
    formula: Formula = MANDELBROT
    period: int = 0

    @classmethod
    def of(cls, job: Job) -> Self:
        """Return what the pixels of a job have in common."""
        reference = job.reference
        period = 0 if reference is None else map_period(reference)
        return cls(job.iterations, job.radius_squared, fraction_bits(job.view.pitch), job.formula, period)


def exact_counts(
    task: CountTask,
    points: Sequence[Point],
    *,
    seconds: float = math.inf,
    processes: int | None = None,
    cancel: Token = NEVER,
    progress: Callable[[int], None] = lambda _done: None,
) -> list[int | None]:
    """Return the exact count of each point, as `exact_outcomes` does."""
    outcomes = exact_outcomes(task, points, seconds=seconds, processes=processes, cancel=cancel, progress=progress)
    return [None if outcome is None else outcome.count for outcome in outcomes]


def exact_outcomes(
    task: CountTask,
    points: Sequence[Point],
    *,
    seconds: float = math.inf,
    processes: int | None = None,
    cancel: Token = NEVER,
    progress: Callable[[int], None] = lambda _done: None,
) -> list[Outcome | None]:
    """Return what becomes of each point; None for those that could not be decided, or not within `seconds`.

    By default there is a process for each core. `progress` is called, from any thread, with the number of points done.
    Raises CancelledError where `cancel` is set, and DeviceError where a process cannot be started or dies.
    """
    counting = _Counting(task, points, time.monotonic() + seconds, cancel, progress)
    processes = min(processes or cores(), len(points))
    if processes <= 1:
        counting.here()
    else:
        counting.elsewhere(processes)
    return counting.outcomes


class _Counting:
    """Points whose counts are under way; whoever is free takes the next."""

    def __init__(
        self, task: CountTask, points: Sequence[Point], ends: float, cancel: Token, progress: Callable[[int], None]
    ) -> None:
        self.outcomes: list[Outcome | None] = [None] * len(points)
        self._task, self._points, self._ends, self._cancel, self._progress = task, points, ends, cancel, progress
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for k in range(len(points)):
            self._waiting.put(k)
        self._failed = threading.Event()
        self._noting = threading.Lock()
        self._done = 0

    def here(self) -> None:
        """Count in this thread."""
        while (k := self._next()) is not None:
            self._note(k, _count(self._task, self._points[k], self._keep_on))

    def elsewhere(self, processes: int) -> None:
        """Count in so many processes, each with a thread that asks it."""
        with ThreadPoolExecutor(processes, "mandelcl exact") as pool:
            try:
                for asking in as_completed([pool.submit(self._ask) for _ in range(processes)]):
                    asking.result()
            except BaseException:
                self._failed.set()
                raise

    def _ask(self) -> None:
        with Dialogue(ROLE, self._check) as process:
            while (k := self._next()) is not None:
                left = self._ends - time.monotonic()
                answer = process.ask(_question(self._task, self._points[k], left))
                self._note(k, _answered(answer, self._task))

    def _next(self) -> int | None:
        """Return which point is next; None where there is no other, or no time."""
        self._check()
        if time.monotonic() >= self._ends:
            return None
        try:
            return self._waiting.get_nowait()
        except queue.Empty:
            return None

    def _note(self, k: int, outcome: Outcome | None) -> None:
        with self._noting:
            self.outcomes[k] = outcome
            self._done += 1
            self._progress(self._done)

    def _check(self) -> None:
        stop_if(self._cancel)
        stop_if(self._failed)

    def _keep_on(self, _done: int) -> bool:
        self._check()
        return time.monotonic() < self._ends


def serve(channel: Channel) -> None:
    """Be the process of the role: count points until nobody asks any more."""
    while True:
        question = channel.question()
        radius_squared, formula = from_hexadecimal(question["radius_squared"]), Formula.parse(question["formula"])
        if question["constant"]:
            formula = formula.julia(*map(from_hexadecimal, question["constant"]))
        task = CountTask(question["iterations"], radius_squared, question["bits"], formula, question["period"])
        point = from_hexadecimal(question["re"]), from_hexadecimal(question["im"])
        outcome = _count(task, point, _within(question["seconds"]))
        channel.answer({"outcome": None if outcome is None else [outcome.count, outcome.z]})


def _within(seconds: float | None) -> KeepOn:
    """Return what says to keep on for so many seconds; None for any number."""
    ends = math.inf if seconds is None else time.monotonic() + seconds
    return lambda _done: time.monotonic() < ends


def _count(task: CountTask, point: Point, keep_on: KeepOn) -> Outcome | None:
    return exact_outcome(
        point, task.iterations, task.radius_squared, task.bits, keep_on, formula=task.formula, period=task.period
    )


def _question(task: CountTask, point: Point, seconds: float) -> dict[str, Any]:
    return {
        "iterations": task.iterations,
        "radius_squared": hexadecimal(task.radius_squared),
        "bits": task.bits,
        "formula": task.formula.text,
        "constant": [hexadecimal(part) for pair in task.formula.parameters for part in pair],
        "re": hexadecimal(point[0]),
        "im": hexadecimal(point[1]),
        "period": task.period,
        "seconds": seconds if math.isfinite(seconds) else None,
    }


def _answered(answer: Mapping[str, Any], task: CountTask) -> Outcome | None:
    try:
        if answer["outcome"] is None:
            return None
        count, z = answer["outcome"]
        known = type(count) is int and int(task.formula.begins_inside) <= count <= task.iterations
        place = None if z is None else (float(z[0]), float(z[1]))
    except (KeyError, TypeError, ValueError, IndexError):
        known = False
    if not known:
        raise DeviceError("the process sent an invalid message")
    return Outcome(count, place)
