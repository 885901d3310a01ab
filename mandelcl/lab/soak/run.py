"""Soak several devices at once, each in its own process, so that a crash or hang affects one device only."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from mandelcl.base.errors import CancelledError, DeviceError, Token, stop_if
from mandelcl.lab.soak.process import Soaking, SoakProcess
from mandelcl.lab.soak.record import Record, WrongWord
from mandelcl.opencl.device import Device

_ROUNDS = 300  # enough to judge speeds by
_JOBS = 5
_MOST_JOB_S, _LEAST_JOB_S = 0.5, 0.02
_TICK_S = 0.1
_FAREWELL_S = 0.3  # for processes to end after an interrupt, which should be answered within a second

# Starts a device under soak: called with a device, the seconds of a job, and what to call while it works.
Start = Callable[[Device, float, Callable[[], None]], Soaking]


class CoreQueue:
    """One at a time, in the order of arrival: for devices that share the same cores."""

    def __init__(self, devices: int) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
        self.devices = self._preparing = devices

    @contextmanager
    def preparing(self, cancel: Token) -> Iterator[None]:
        """Prepare a device in the body; if that succeeds, wait until all are prepared, or have failed."""
        try:
            with self.place(cancel):
                yield
        finally:
            with self._changed:
                self._preparing -= 1
                self._changed.notify_all()
        with self._changed:
            while self._preparing:
                self._changed.wait(_TICK_S)
                stop_if(cancel)

    @contextmanager
    def place(self, cancel: Token) -> Iterator[None]:
        """Wait for a turn, which lasts as long as the body; raises CancelledError if `cancel` is set before."""
        mine = object()
        with self._changed:
            self._waiting.append(mine)
        try:
            with self._changed:
                while self._waiting[0] is not mine:
                    self._changed.wait(_TICK_S)
                    stop_if(cancel)
            yield
        finally:
            with self._changed:
                self._waiting.remove(mine)
                self._changed.notify_all()


@dataclass(frozen=True, slots=True)
class Soak:
    """The options of a soak. Each device is soaked for `seconds`, from its first round on.

    `wrong` is called, from any thread, with a record and its first wrong word, as soon as there is one.
    """

    seconds: float
    start: Start = SoakProcess
    clock: Callable[[], float] = time.monotonic
    wrong: Callable[[Record, WrongWord], None] = lambda _record, _word: None

    def job_seconds(self, sharing: int) -> float:
        """Return how long a job should take, so that a short soak has enough rounds if several devices alternate."""
        return max(_LEAST_JOB_S, min(_MOST_JOB_S, self.seconds / (_ROUNDS * _JOBS * max(1, sharing))))

    def run(
        self, devices: Sequence[Device], cancel: Token, progress: Callable[[Sequence[Record]], None] | None = None
    ) -> list[Record]:
        """Return a record for each device, once all have ended or `cancel` is set; `progress` is called meanwhile.

        Devices run at once, except those of type `cpu`, which share the host's cores and take turns, a round each.
        """
        records = [Record(device.label) for device in devices]
        core_queue = CoreQueue(sum(device.type == "cpu" for device in devices))
        threads = [
            threading.Thread(
                target=self._soak, args=(device, record, core_queue, cancel), name=device.label, daemon=True
            )
            for device, record in zip(devices, records, strict=True)
        ]
        for thread in threads:
            thread.start()
        while (alive := [thread for thread in threads if thread.is_alive()]) and not cancel.is_set():
            alive[0].join(_TICK_S)
            if progress is not None:
                progress(records)
        until = time.monotonic() + _FAREWELL_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()) if cancel.is_set() else None)
        return records

    def _soak(self, device: Device, record: Record, core_queue: CoreQueue, cancel: Token) -> None:
        """Soak a device until its time has passed, it fails, or `cancel` is set."""
        shares = device.type == "cpu"

        def place() -> AbstractContextManager[None]:
            return core_queue.place(cancel) if shares else nullcontext()

        try:
            job_seconds = self.job_seconds(core_queue.devices if shares else 1)
            with ExitStack() as stack:
                with core_queue.preparing(cancel) if shares else nullcontext():
                    soaking = stack.enter_context(self.start(device, job_seconds, lambda: stop_if(cancel)))
                record.prepared(soaking.jobs)
                began = self.clock()
                while self.clock() - began < self.seconds:
                    with place():
                        done = soaking.round(record.rounds)
                    first = record.add(self.clock() - began, done)
                    if first is not None:
                        self.wrong(record, first)
        except CancelledError:
            pass
        except DeviceError as error:
            record.failure = str(error)
        except Exception as error:
            record.failure = f"{type(error).__name__}: {error}"
