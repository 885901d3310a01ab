"""The time for which other programs kept a process from running. Limits on its time do not count it.

Linux notes for each thread how long it ran, and how long it waited for a processor though it could have run. A process
that sleeps, is stopped or hangs waits for none. On other systems nothing is known, and all of the time counts.
"""

import os
import subprocess
import threading
import time
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mandelcl.base.machine import cores

_EACH_S = 0.5
_MOST_SAMPLES = 4096  # some half an hour; before that, all of the time counts


class RunDelay:
    """The delay of a process, sampled when it is asked for, twice a second at most.

    Times are those of time.monotonic. It counts from its making on.
    """

    def __init__(self, pid: int) -> None:
        self._threads = Path(f"/proc/{pid}/task")
        self._lock = threading.Lock()
        self._times = _times(self._threads)
        self._samples = [(time.monotonic(), 0.0)]  # a moment, and the delay until then

    def between(self, begin: float, end: float) -> float:
        """Return for how many seconds between two moments the process was kept from running."""
        with self._lock:
            if time.monotonic() - self._samples[-1][0] >= _EACH_S:
                self._sample()
            return max(0.0, self._until(end) - self._until(begin))

    def _sample(self) -> None:
        moment, delayed = self._samples[-1]
        now, times = time.monotonic(), _times(self._threads)
        ran = waited = 0.0
        for thread, (run, wait) in times.items():
            before = self._times.get(thread, (0.0, 0.0))
            ran, waited = ran + run - before[0], waited + wait - before[1]
        self._times = times
        self._samples.append((now, delayed + delay(now - moment, ran, waited, cores())))
        del self._samples[:-_MOST_SAMPLES]

    def _until(self, moment: float) -> float:
        """Return how long it was delayed until a moment; between samples, in proportion."""
        samples = self._samples
        place = bisect_right(samples, (moment, float("inf")))
        if place in (0, len(samples)):
            return samples[place and -1][1]
        (left, before), (right, after) = samples[place - 1 : place + 1]
        return before + (after - before) * (moment - left) / (right - left)


def delay(seconds: float, ran: float, waited: float, processors: int) -> float:
    """Return the delay of a process within some seconds, from the times that its threads ran and waited.

    It may have all processors, so threads of its own that wait for one another are not delayed by others.
    """
    wanted = min(ran + waited, processors * seconds)
    if wanted <= 0:
        return 0.0
    return min(seconds, ran + waited) * max(0.0, 1 - ran / wanted)


def _times(threads: Path) -> dict[str, tuple[float, float]]:
    """Return the seconds that each thread has run, and waited to run; those that have ended meanwhile are left out."""
    times = {}
    with suppress(OSError, ValueError):
        for thread in os.listdir(threads):  # noqa: PTH208 - names are enough
            with suppress(OSError, ValueError):
                ran, waited, *_ = (threads / thread / "schedstat").read_text().split()
                times[thread] = int(ran) / 1e9, int(waited) / 1e9
    return times


_LOOK_S = 1.0


def run_bounded(command: Sequence[str], seconds: float, **options: Any) -> "subprocess.CompletedProcess[Any]":
    """Run a program, as `subprocess.run` does with the options of `subprocess.Popen`.

    Raises subprocess.TimeoutExpired if it takes longer. The program is killed then.
    """
    with subprocess.Popen(command, **options) as process:
        delay, begun = RunDelay(process.pid), time.monotonic()
        try:
            while True:
                try:
                    out, errors = process.communicate(timeout=min(_LOOK_S, seconds))
                    return subprocess.CompletedProcess(command, process.returncode, out, errors)
                except subprocess.TimeoutExpired:
                    now = time.monotonic()
                    if now - begun - delay.between(begun, now) > seconds:
                        raise
        except BaseException:
            process.kill()
            raise
