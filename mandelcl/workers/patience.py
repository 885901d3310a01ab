"""How long a worker may take for what it says that it does, and may be silent, before it is taken for hung."""

import math
import time
from dataclasses import dataclass

from mandelcl.workers.channel import BUILDING, IDLE, STARTING
from mandelcl.workers.process import Worker


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a worker may take to start or build, and how many a launch may last.

    A worker may be silent for as long. Seconds for which other processes kept it from running do not count. It is
    given up after `most_faults` in a row.
    """

    start: float = 600.0
    launch: float = 20.0
    most_faults: int = 3

    def lost_with(
        self, worker: Worker, heard_since: float, busy_since: float | None = -math.inf, launch: float = 0.0
    ) -> str | None:
        """Return why a worker takes too long, in a phrase; None if it does not.

        Silence before `heard_since` does not count, nor idleness before `busy_since`, when it was given something to
        do; where that is None, nothing but silence counts. A launch may take `launch` seconds, where that is more.
        """
        activity = worker.activity
        starts, idle = activity.doing in (STARTING, BUILDING), activity.doing == IDLE
        most = self.start if starts else max(self.launch, launch)
        if worker.time_since(max(worker.heard, heard_since)) > most:
            return f"silent for {most:g} s"
        if busy_since is None:
            return None
        seconds = min(activity.seconds, worker.time_since(busy_since)) if idle else activity.seconds
        if seconds <= most:
            return None
        if starts:
            return f"not ready after {most:g} s"
        return f"idle for {most:g} s with work in hand" if idle else f"in one launch for {most:g} s"


class Attention:
    """Since when this process has listened to its workers without standing still itself, as while it was suspended.

    What is shorter than half of the `patience` for a launch is no more than a busy machine.
    """

    def __init__(self, patience: Patience) -> None:
        self._away = patience.launch / 2
        self._since, self._asked = -math.inf, time.monotonic()

    def since(self) -> float:
        """Return the moment, by time.monotonic; to be asked for more often than that."""
        now = time.monotonic()
        if now - self._asked > self._away:
            self._since = now
        self._asked = now
        return self._since
