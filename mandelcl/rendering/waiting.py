"""Host work for a job: begin long reference orbits early, and report the progress of orbits and exact counts."""

import time
from collections.abc import Callable
from contextlib import suppress

from mandelcl.base.errors import InvalidInputError, Token
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Progress, ShowProgress
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.methods import method_of
from mandelcl.engine.resolve import resolve

_LONG_S = 10.0


def begin_early(job: Job) -> None:
    """Begin the host's work for a job, for a typical device, before any real device is opened.

    Errors of the job are ignored here; they are reported when it is resolved for the devices.
    """
    with suppress(InvalidInputError):
        resolved = resolve(job, [DeviceClass()]).job
        method_of(resolved).begin(resolved)


def await_reference(job: Job, progress: ShowProgress | None, on_message: Callable[[str], None], cancel: Token) -> None:
    """Wait for the reference orbit of a resolved job, if it has one.

    `progress` is called meanwhile. If it takes long, `on_message` is called once with the longest time that it may
    take, and afterwards with anything doubtful that the orbit shows. Raises CancelledError if `cancel` is set before
    the end, and InvalidInputError if the orbit does not fit into memory.
    """
    began, reported = time.perf_counter(), False

    def show(iterations: int) -> None:
        nonlocal reported
        seconds = time.perf_counter() - began
        if progress is not None:
            progress(Progress(0, job.view.pixels, 0, seconds, "", iterations))
        if seconds >= _LONG_S and iterations and not reported:
            reported = True
            most = seconds * job.iterations / iterations
            on_message(
                f"the reference orbit has {iterations:,} of at most {job.iterations:,} iterations after "
                f"{seconds:.0f} s and may take up to {duration(most)}; press Ctrl-C to stop"
            )

    method = method_of(job)
    method.prepare(job, show, cancel)
    for line in method.doubts(job):
        on_message(line)


class ExactCounts:
    """Reports exact counts: `progress` gets every update, `on_message` one line if a block takes long."""

    def __init__(self, progress: ShowProgress | None, on_message: Callable[[str], None]) -> None:
        self._progress, self._on_message = progress, on_message
        self._began, self._reported = 0.0, False

    def show(self, progress: Progress) -> None:
        """Report progress. Any thread may call this."""
        if self._progress is not None:
            self._progress(progress)
        done, total = progress.exact
        if not done:
            self._began = progress.seconds
        seconds = progress.seconds - self._began
        if seconds >= _LONG_S and done and not self._reported:
            self._reported = True
            left = seconds * (total - done) / done
            self._on_message(
                f"{done:,} of {total:,} pixels are counted in exact arithmetic after {seconds:.0f} s; the rest of "
                f"this block may take {duration(left)}; press Ctrl-C to stop"
            )


def duration(seconds: float) -> str:
    """Return a time in the largest unit in which it is at least two."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"
