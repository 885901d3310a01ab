"""Compute keyframes from the deepest outward, since the middle of each one has every second pixel of the deeper one."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from time import perf_counter
from typing import NamedTuple, Self

import numpy as np

from mandelcl.base.errors import NEVER, MandelclError, Token, stop_if
from mandelcl.base.view import View
from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.core.field import Field, allocate
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import COUNTS, LAST, SMOOTH, TRAILS
from mandelcl.core.report import Report
from mandelcl.engine.computing.settings import Progress, Settings, ShowProgress
from mandelcl.engine.methods import direct, method_of
from mandelcl.film.folder import Folder
from mandelcl.film.plan import FilmPlan
from mandelcl.perturbation.pool import Pool
from mandelcl.perturbation.reference_jobs import helped
from mandelcl.rendering import at_limit
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from mandelcl.rendering.waiting import await_reference

# Planes that depend only on a pixel's point.
_NESTED = {COUNTS.name, SMOOTH.name, LAST.name, *(plane.name for plane in TRAILS)}


class Keeping:
    """Writes keyframes to a folder, one after the other. At the end of the `with` block, all are written.

    `waited` is the number of seconds that `keep` and `wait` have waited.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._writer = ThreadPoolExecutor(1, "mandelcl keyframes")
        self._writing: Future[None] | None = None
        self.waited = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._writer.shutdown()

    def keep(self, number: int, field: Field) -> None:
        """Wait for the previous keyframe, then begin to write this one. Raises the previous one's error."""
        self.wait()
        self._writing = self._writer.submit(self._folder.keep, number, field)

    def wait(self) -> None:
        """Wait until the keyframe given to `keep` is written. Raises its error."""
        writing, self._writing = self._writing, None
        if writing is not None:
            began = perf_counter()
            with timeline.span("wait for a keyframe to be written", "wait"):
                writing.result()
            self.waited += perf_counter() - began


class ResolvedKeyframes(Iterator[tuple[Job, tuple[str, ...]]]):
    """The resolved jobs of keyframes, each with its warnings. As a context manager, it ends its processes."""

    def __init__(self, folder: Folder, numbers: Sequence[int], session: Session, self_test: bool) -> None:
        self._folder, self._session, self._self_test = folder, session, self_test
        self._numbers = deque(numbers)
        self._ready: deque[tuple[Job, tuple[str, ...]]] = deque()
        self._owned = ExitStack()

    def __enter__(self) -> Self:
        # Other processes read the reference from disk.
        self._pool = Pool.for_many(len(self._numbers), keeps=self._session.has_processes)
        with ExitStack() as stack:
            stack.enter_context(self._pool)
            stack.enter_context(helped(self._pool))
            self._owned = stack.pop_all()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._owned.close()

    def __next__(self) -> tuple[Job, tuple[str, ...]]:
        """Return the next job, with its reference begun. Raises the errors of `Session.resolved`."""
        if not self._ready:
            if not self._numbers:
                raise StopIteration
            self._await_next()
        job, warnings = self._ready.popleft()
        method_of(job).begin(job)
        if job.reference is not None:
            self._begin(self._pool.prefetch_count(len(self._ready) + len(self._numbers), job.iterations))
            method_of(job).begin(job)  # so that it is dropped last
        return job, warnings

    def _begin(self, count: int) -> None:
        """Resolve this many of the next jobs, and begin their references."""
        try:
            while self._numbers and len(self._ready) < count:
                self._await_next()
        except MandelclError:
            pass  # the error is raised when this job is requested
        for job, _ in reversed(list(islice(self._ready, count))):
            method_of(job).begin(job)

    def _await_next(self) -> None:
        self._ready.append(self._session.resolved(self._folder.expected(self._numbers[0]), self._self_test))
        self._numbers.popleft()


@dataclass(slots=True)
class Computed:
    """What was done: the number of keyframes, the pixels computed for them, and the total seconds.

    Some of these seconds were spent in kernels, in waiting for references, and in waiting for keyframes to be written.
    """

    keyframes: int = 0
    taken_over: int = 0
    pixels: int = 0
    iterations: int = 0
    seconds: float = 0.0
    kernel_seconds: float = 0.0
    waited_for_references: float = 0.0
    waited_for_writing: float = 0.0
    device: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def note(self, report: Report) -> None:
        """Add a render's report."""
        self.pixels += report.pixels_computed
        self.iterations += report.iterations_total
        self.kernel_seconds += report.kernel_s
        self.device = tuple(report.device)


class Shared(NamedTuple):
    """Pixels that two keyframes share: a rectangle of the wider one, and its first pixel in the deeper one."""

    block: Block
    column: int
    row: int


def _silent(_line: str) -> None:
    """Report nothing."""


def _once(on_message: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that passes on each distinct line once."""
    reported: set[str] = set()

    def report_once(line: str) -> None:
        if line not in reported:
            reported.add(line)
            on_message(line)

    return report_once


def compute(
    folder: Folder,
    session: Session,
    settings: Settings | None = None,
    progress: ShowProgress | None = None,
    on_message: Callable[[str], None] = _silent,
    cancel: Token = NEVER,
) -> Computed:
    """Compute the keyframes that a folder lacks. Each is stored as soon as it is done. Return what was done.

    `progress` counts the pixels of all missing keyframes. `on_message` is called once for each distinct line.
    """
    on_message = _once(on_message)
    began, plan, done = perf_counter(), folder.plan, Computed()
    numbers = _order(plan, set(folder.missing()))
    total = sum(folder.expected(number).view.pixels for number in numbers)
    nested = {number for leg in range(len(plan.legs)) for number in _leg(plan, leg)[:-1]}
    finished = 0
    before: tuple[int, Field | None] = -1, None
    dark: list[Job] = []
    self_test = settings is None or settings.self_test
    with ResolvedKeyframes(folder, numbers, session, self_test) as resolved, Keeping(folder) as keeping:
        for number in numbers:
            stop_if(cancel)
            job, warnings = next(resolved)
            for warning in warnings:
                on_message(warning)
            show = None if progress is None else _within(progress, finished, total)
            waiting = perf_counter()
            await_reference(job, show, on_message, cancel)
            done.waited_for_references += perf_counter() - waiting
            deeper = before[1] if before[0] == number + 1 else None
            if deeper is None and number in nested and _may_nest(job):
                deeper = folder.field(number + 1)
            keeping.wait()  # so that at most one keyframe is lost, however the process ends
            field = _keyframe(job, deeper, session, settings, show, on_message, cancel, done)
            keeping.keep(number, field)
            if at_limit.is_dark(field.counts, field.job.iterations):
                dark.append(field.job)
            done.keyframes += 1
            done.numbers = tuple(dict.fromkeys((*done.numbers, field.job.number)))
            finished += job.view.pixels
            before = number, field
        keeping.wait()
    for line in at_limit.film_lines(dark, plan.keyframes, session, self_test):
        on_message(line)
    done.waited_for_writing = keeping.waited
    done.seconds = perf_counter() - began
    return done


def _order(plan: FilmPlan, missing: Collection[int]) -> list[int]:
    """Return the numbers of the missing keyframes, those of each leg from the deepest outward."""
    return [number for leg in range(len(plan.legs)) for number in reversed(_leg(plan, leg)) if number in missing]


def _leg(plan: FilmPlan, leg: int) -> range:
    """Return the numbers of a leg's keyframes."""
    return range(plan.first(leg), plan.first(leg) + plan.legs[leg].keyframes)


def shared(wider: View, deeper: View) -> Shared | None:
    """Return the pixels shared by a keyframe and the next deeper one of its leg, both anchored at the leg's pivot."""
    spans = []
    for anchor, side, inner_anchor, inner_side in (
        (wider.lattice.column, wider.width, deeper.lattice.column, deeper.width),
        (wider.lattice.row, wider.height, deeper.lattice.row, deeper.height),
    ):
        begin = max(0, anchor - inner_anchor // 2)
        end = min(side, anchor + (inner_side - 1 - inner_anchor) // 2 + 1)
        spans.append((begin, end, inner_anchor + 2 * (begin - anchor)))
    (left, right, column), (top, bottom, row) = spans
    if left >= right or top >= bottom:
        return None
    return Shared(Block(left, top, right - left, bottom - top), column, row)


def nests(job: Job, deeper: Job) -> bool:
    """Return whether pixels shared by two resolved jobs have the same bits in both: equal orbits of equal points."""
    if not _may_nest(job) or job.at(deeper.view) != deeper:
        return False
    common = shared(job.view, deeper.view)
    if common is None:
        return False
    # Rounding could place a point differently in each; comparing the ends of both axes detects that.
    arithmetic, block = by_name(job.number).arithmetic(job.rounding), common.block
    with np.errstate(all="ignore"):
        for x, y in ((0, 0), (block.width - 1, 0), (0, block.height - 1), (block.width - 1, block.height - 1)):
            here = direct.point(job.view, arithmetic, block.x + x, block.y + y)
            there = direct.point(deeper.view, arithmetic, common.column + 2 * x, common.row + 2 * y)
            if here != there:
                return False
    return True


def _may_nest(job: Job) -> bool:
    return job.method == "direct" and job.algorithm == "escape" and set(job.planes) <= _NESTED


def _keyframe(
    job: Job,
    deeper: Field | None,
    session: Session,
    settings: Settings | None,
    progress: ShowProgress | None,
    on_message: Callable[[str], None],
    cancel: Token,
    done: Computed,
) -> Field:
    """Return a keyframe's field. If the deeper keyframe has some of its pixels, only the ring around is computed."""
    if deeper is None or not nests(job, deeper.job):
        field, report = render(job, session, settings, progress=progress, on_message=on_message, cancel=cancel)
        done.note(report)
        return field
    common = shared(job.view, deeper.job.view)
    assert common is not None
    planes, inner = allocate(job), common.block
    rows, columns = slice(inner.y, inner.y + inner.height), slice(inner.x, inner.x + inner.width)
    for name, values in planes.items():
        values[rows, columns] = deeper.planes[name][common.row :: 2, common.column :: 2][: inner.height, : inner.width]
    before = inner.pixels
    done.taken_over += before
    for block in ring(job.view, inner):
        part = job.at(job.view.part(block.x, block.y, block.width, block.height))
        show = None if progress is None else _within(progress, before, job.view.pixels)
        field, report = render(part, session, settings, progress=show, on_message=on_message, cancel=cancel)
        done.note(report)
        before += block.pixels
        for name, values in planes.items():
            values[block.y : block.y + block.height, block.x : block.x + block.width] = field.planes[name]
    return Field(job, planes)


def ring(view: View, inner: Block) -> Iterator[Block]:
    """Yield the rectangles around a block inside a view: above, below, to the left, to the right."""
    right, bottom = inner.x + inner.width, inner.y + inner.height
    for block in (
        Block(0, 0, view.width, inner.y),
        Block(0, bottom, view.width, view.height - bottom),
        Block(0, inner.y, inner.x, inner.height),
        Block(right, inner.y, view.width - right, inner.height),
    ):
        if block.pixels:
            yield block


def _within(progress: ShowProgress, before: int, total: int) -> ShowProgress:
    """Return a callback for the progress of a part, which begins after `before` of `total` pixels."""

    def show(part: Progress) -> None:
        progress(replace(part, pixels=before + part.pixels, pixels_total=total))

    return show
