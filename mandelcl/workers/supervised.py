"""A worker slot: one worker at a time, watched by its heartbeat and restarted by a restart policy."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from mandelcl.base.errors import DeviceError
from mandelcl.workers.channel import BUILDING, IDLE, STARTING
from mandelcl.workers.process import Worker


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """The timeouts of a worker, and how often a lost worker is replaced.

    A worker may take `start` seconds to start or to build, and `launch` seconds for a launch. It may be silent for as
    long. Seconds for which other processes kept it from running do not count. The slot is given up after
    `faults_in_a_row`, or after `faults` in all; it may be tried again after `rest` seconds. A worker that lasted `well`
    seconds ends a row. The first start again in a row is due after the first of the `pauses`, in seconds, and so on.
    """

    start: float = 600.0
    launch: float = 20.0
    faults_in_a_row: float = 3
    faults: float = 30
    rest: float = math.inf
    well: float = math.inf
    pauses: tuple[float, ...] = (0.0,)


class SupervisedWorker:
    """A slot for one worker at a time: `worker`, or None while there is none.

    `start_worker` starts one and sends its first messages; it raises DeviceError if that fails. Workers that are lost
    are ended before another is started, or in a thread with `background`.
    """

    def __init__(self, start_worker: Callable[[], Worker], policy: RestartPolicy, *, background: bool = False) -> None:
        self.worker: Worker | None = None
        self._start_worker, self._policy, self._background = start_worker, policy, background
        self._faults, self._faults_in_a_row, self._failed_at = 0, 0, -math.inf
        self._began = self._due_at = -math.inf
        self._ending: list[threading.Thread] = []
        self._busy_since = -math.inf
        self._asked, self._heard_since = time.monotonic(), -math.inf

    @property
    def given_up(self) -> bool:
        """Whether the worker has failed too often to be restarted now."""
        policy = self._policy
        tired = self._faults_in_a_row >= policy.faults_in_a_row and time.monotonic() - self._failed_at < policy.rest
        return tired or self._faults >= policy.faults

    @property
    def due(self) -> bool:
        """Whether it is time to start a worker."""
        return self.worker is None and not self.given_up and time.monotonic() >= self._due_at

    @property
    def ending(self) -> bool:
        """Whether a worker that was released has not ended yet."""
        return any(thread.is_alive() for thread in self._ending)

    def start(self) -> Worker:
        """Start a worker and return it; raises DeviceError if that fails."""
        self._began = time.monotonic()
        self.worker = self._start_worker()
        return self.worker

    def given_work(self) -> None:
        """Note that the worker has work from now on. The idle time before does not count."""
        self._busy_since = time.monotonic()

    def overdue(self, busy: bool = True, launch: float = 0.0) -> str | None:
        """Return which timeout the worker has exceeded, in a phrase; None if it has not, or there is no worker.

        For a worker that is not `busy`, only silence counts. A launch may take `launch` seconds, where that
        is more than the policy's. To be called more often than twice within the timeout of a launch: where it is not,
        this process itself stood still, as while it was suspended, and could not hear anything.
        """
        now = time.monotonic()
        if now - self._asked > self._policy.launch / 2:  # what is shorter is no more than a busy machine
            self._heard_since = now
        self._asked = now
        worker = self.worker
        if worker is None:
            return None
        activity = worker.activity
        starts, idle = activity.doing in (STARTING, BUILDING), activity.doing == IDLE
        most = self._policy.start if starts else max(self._policy.launch, launch)
        if worker.time_since(max(worker.heard, self._heard_since)) > most:
            return f"silent for {most:g} s"
        seconds = min(activity.seconds, worker.time_since(self._busy_since)) if idle else activity.seconds
        if not busy or seconds <= most:
            return None
        if starts:
            return f"not ready after {most:g} s"
        return f"idle for {most:g} s with blocks to compute" if idle else f"in one launch for {most:g} s"

    def succeeded(self) -> None:
        """Note that the worker works. This ends a row of faults."""
        self._faults_in_a_row = 0

    def failed(self) -> bool:
        """End the worker for a fault; return whether another may be started."""
        if self._background:
            self.release()
        else:
            self.end()
        self._failed_at = time.monotonic()
        if self._failed_at - self._began > self._policy.well:
            self._faults_in_a_row = 0
        pauses = self._policy.pauses
        self._due_at = self._failed_at + pauses[min(self._faults_in_a_row, len(pauses) - 1)]
        self._faults, self._faults_in_a_row = self._faults + 1, self._faults_in_a_row + 1
        return not self.given_up

    def restart(self) -> bool:
        """End the worker for a fault and start another at once; return False if the slot is given up.

        If the system cannot start one, that is a fault, too.
        """
        while self.failed():
            try:
                self.start()
            except DeviceError:
                continue
            return True
        return False

    def kill(self) -> None:
        """Have the worker end at once, without waiting until it has."""
        if self.worker is not None:
            self.worker.kill()

    def end(self) -> None:
        """End the worker, and wait for that."""
        worker = self._leave()
        if worker is not None:
            worker.end()

    def release(self) -> None:
        """End the worker in a thread, without waiting for that."""
        worker = self._leave()
        if worker is not None:
            thread = threading.Thread(target=worker.end, name="mandelcl ending", daemon=True)
            self._ending = [*(one for one in self._ending if one.is_alive()), thread]
            thread.start()

    def _leave(self) -> Worker | None:
        """Release the worker and return it."""
        worker, self.worker = self.worker, None
        return worker
