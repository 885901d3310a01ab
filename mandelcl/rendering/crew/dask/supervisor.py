"""Supervise Dask workers on this machine, one for each device. Those that end are restarted."""

import math
import os
import queue
import shutil
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.text import printable
from mandelcl.files.leftovers import temporary_folder
from mandelcl.workers.process import Worker, WorkerMessage, WorkerProcess
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker

ROLE = "cluster worker"
_JOIN_S = 60.0  # how long a worker waits for a scheduler that does not answer
_POLICY = RestartPolicy(faults_in_a_row=math.inf, faults=math.inf, well=60.0, pauses=(0.2, 1.0, 5.0, 15.0))
_TICK_S = 0.2


class _Place(SupervisedWorker):
    """A Dask worker that is starting: its number among the devices, and its device's name once it is known."""

    def __init__(self, index: int, start_worker: Callable[[int], Worker]) -> None:
        super().__init__(partial(start_worker, index), _POLICY)
        self.index, self.device = index, ""

    @property
    def given_up(self) -> bool:
        """Whether it has failed before it had a device."""
        return self._faults > 0 and not self.device


class Supervisor:
    """`count` Dask workers for the devices that SPECs name, which take them in turn.

    A thread calls `on_message` with lines about their state. A worker that has never had a device is not started again.
    Raises DeviceError if the system cannot start a process.
    """

    def __init__(self, devices: Sequence[str], count: int, name: str, on_message: Callable[[str], None]) -> None:
        self.trouble: list[str] = []
        self._devices, self._name, self._on_message = list(devices), name, on_message
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._scheduler: dict[str, Any] | None = None
        self._folder = temporary_folder("mandelcl-cluster-")  # which also goes where the process has to end at once
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._places = [_Place(index, self._start_worker) for index in range(count)]
        try:
            for place in self._places:
                place.start()
        except BaseException:
            self._end()
            raise
        self._thread = threading.Thread(target=self._watch, name="mandelcl supervisor", daemon=True)
        self._thread.start()

    def join(self, scheduler: str, host: str | None) -> None:
        """Have the workers register with a scheduler; they listen on `host`."""
        with self._changed:
            self._scheduler = {"do": "join", "scheduler": scheduler, "host": host, "patience": _JOIN_S}
            for place in self._places:
                if place.device:
                    self._send(place)

    @property
    def given_up(self) -> bool:
        """Whether no worker has registered or still could."""
        return all(place.given_up for place in self._places)

    def close(self) -> None:
        """End the workers."""
        self._closing.set()
        self._thread.join()
        self._end()

    def _end(self) -> None:
        for place in self._places:
            place.kill()
        for place in self._places:
            place.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start_worker(self, index: int) -> Worker:
        worker = WorkerProcess(ROLE, self._messages)
        worker.send({"do": "work", "devices": self._devices, "index": index})
        return worker

    def _send(self, place: _Place) -> None:
        if self._scheduler is not None and place.worker is not None:
            name = f"{self._name}-{place.index}"
            place.worker.send({**self._scheduler, "name": name, "folder": str(self._folder)})

    def _watch(self) -> None:
        while not self._closing.is_set():
            try:
                message = self._messages.get(timeout=_TICK_S)
            except queue.Empty:
                message = None
            with self._changed:
                if message is not None:
                    self._hear(message)
                for place in self._places:
                    if place.due:
                        try:
                            place.start()
                        except DeviceError as error:
                            self._lost(place, str(error))

    def _hear(self, message: WorkerMessage) -> None:
        place = next((place for place in self._places if place.worker is message.worker), None)
        if place is None:
            return
        answer, loss = (message.head or {}).get("answer"), message.loss
        if loss is not None:
            self._lost(place, loss)
        elif isinstance(answer, dict) and "registered" in answer:
            self._on_message(f"{place.device}: registered as {printable(str(answer['registered']))}")
        elif isinstance(answer, dict) and isinstance(answer.get("device"), dict):
            place.device = printable(str(answer["device"].get("label")))
            self._send(place)

    def _lost(self, place: _Place, why: str) -> None:
        """Report that a worker has ended: it is started again after a pause, unless it never had a device."""
        again = place.failed()
        what = place.device or f"worker {place.index}"
        self.trouble.append(f"{what}: {why}")
        self._on_message(f"{what}: {why}; {'started again' if again else 'given up'}")


def own_name() -> str:
    """Return a name for the workers of this process that no other has."""
    import socket

    return f"mandelcl-{socket.gethostname()}-{os.getpid()}"
