"""References and their tables from several processes: gmpy2 holds the interpreter, so each has one of its own.

A pool learns how long references take. Short ones are left to its owner: a process would take longer to start, or to
hand over what it has, than they take.
"""

import math
import threading
from collections.abc import Callable

from mandelcl.base.errors import CancelledError, DeviceError, Token, stop_if
from mandelcl.base.machine import available_bytes, cores
from mandelcl.perturbation.helper import Helper
from mandelcl.perturbation.kept import ReferenceKey
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.table import Table

_LONG_S = 0.1  # a first reference that takes no longer is waited for, so that its time is known
_LEAST_S = 0.004  # of a reference: shorter ones are computed as fast as they are handed over
_LEAST_SAVED_S = 1.0  # for which processes are started: each takes some tenths of a second of a core
_LOOK_S = 0.2
_SHARE = 4  # of the memory there is, references may take one part in so many
_PROCESS_BYTES = 100 << 20
_BYTES_AN_ITERATION = 160  # of an orbit, its table and what these are made of, in both processes
_FAREWELL_S = 5.0


class Pool:
    """Processes that compute references for this one, at most `processes`; they end with the `with` block.

    Orbits are kept on disk where `keeps` says so; those that are there are used in any case. `depth` is how many
    references are worth being under way, or ready, beside the present one, as `prefetch_count` has said last. A process
    helps once that has shown that it saves time or, with `at_once`, in any case.
    """

    def __init__(self, processes: int, *, keeps: bool, at_once: bool = False) -> None:
        self.most, self.keeps = processes, keeps
        self._changing = threading.Condition()
        self._free: list[Helper] = []
        self._alive = 0
        self._closed = threading.Event()
        self._noted = threading.Event()
        self._seconds, self._bytes = 0.0, math.inf
        self._helps, self.depth = at_once, 1
        self.packs = not at_once  # whether what kernels read is made at once, too

    @classmethod
    def for_many(cls, references: int, *, keeps: bool) -> "Pool":
        """Return a pool for so many references, with a process for each processor, and fewer in little memory.

        There is one at least.
        """
        room = available_bytes() / _SHARE / _PROCESS_BYTES
        return cls(int(max(1, min(cores(), references, room))), keeps=keeps)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; who waits for one is told that the work is cancelled."""
        with self._changing:
            self._closed.set()
            free, self._free = self._free, []
            self._changing.notify_all()
        for helper in free:
            self._lose(helper)
        with self._changing:
            self._changing.wait_for(lambda: not self._alive, _FAREWELL_S)

    def note(self, orbit: Orbit, seconds: float) -> None:
        """Note how long a reference and its table have taken, wherever they were computed."""
        self._seconds, self._bytes = seconds, 1.5 * _BYTES_AN_ITERATION * orbit.length
        self._noted.set()

    def prefetch_count(self, references: int, iterations: int) -> int:
        """Return how many of the next `references` are worth computing in parallel with the present one.

        If that is not known yet, this waits until it is, or until the present one has turned out to be long.
        """
        known = self._noted.is_set() or self._noted.wait(_LONG_S)
        seconds = self._seconds if known else math.inf
        saved = seconds * references * (1 - 1 / self.most) if self.most else 0.0
        self._helps = seconds >= _LEAST_S and (self._alive > 0 or saved >= _LEAST_SAVED_S)
        each = min(self._bytes, _BYTES_AN_ITERATION * iterations)
        room = available_bytes() / _SHARE / each
        self.depth = int(max(1, min(self.most, room))) if self._helps else 1
        return min(references, self.depth)

    def computed(
        self, wanted: ReferenceKey, cancel: Token, progress: Callable[[int], None]
    ) -> tuple[Orbit, Table] | None:
        """Return the orbit of a reference and its table, from a process that is free, or the next to be.

        None where this process is to compute them: they are short, no process could be started, or it died. Raises
        CancelledError where `cancel` is set before, or the pool is closed.
        """
        helper = self._taken(cancel) if self._helps else None
        if helper is None:
            return None
        try:
            orbit, table, seconds = helper.compute(wanted, self.keeps, cancel, progress)
        except BaseException as error:
            self._lose(helper)
            if isinstance(error, CancelledError | DeviceError):
                stop_if(self._closed)
                stop_if(cancel)
                with self._changing:
                    self.most -= 1  # where memory is short, another would die as well
                return None
            raise
        self.note(orbit, seconds)
        self._give_back(helper)
        return orbit, table

    def _taken(self, cancel: Token) -> "Helper | None":
        """Return a process that is free, or a new one; None where there is none to wait for."""
        with self._changing:
            while not self._free and self._alive >= self.most:
                stop_if(self._closed)
                stop_if(cancel)
                if not self._alive:
                    return None
                self._changing.wait(_LOOK_S)
            stop_if(self._closed)
            if self._free:
                return self._free.pop()
            self._alive += 1
        try:
            return Helper(self._closed)
        except BaseException as error:
            self._lose(None)
            if isinstance(error, DeviceError):
                self.most = 0  # where one cannot be started, no other can
                return None
            raise

    def _give_back(self, helper: Helper) -> None:
        """Let the next one have a process, unless the pool has been closed meanwhile."""
        with self._changing:
            closed = self._closed.is_set()
            if not closed:
                self._free.append(helper)
                self._changing.notify()
        if closed:
            self._lose(helper)

    def _lose(self, helper: "Helper | None") -> None:
        """End a process, if it has been started."""
        if helper is not None:
            helper.end()
        with self._changing:
            self._alive -= 1
            self._changing.notify_all()
