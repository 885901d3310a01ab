"""Dask workers on this machine, one for each device that is asked for, started again when they end."""

import os
import queue
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.printable import printable
from mandelcl.files.leftovers import temporary_folder
from mandelcl.workers.process import WorkerMessage, WorkerProcess

ROLE = "cluster worker"
_JOIN_S = 60.0  # how long a worker waits for a scheduler that does not answer
_PAUSES = (0.2, 1.0, 5.0, 15.0)  # before the first start again, the second, and so on
_WELL_S = 60.0  # one that lasted so long may be started again at once
_TICK_S = 0.2


@dataclass(slots=True)
class _Place:
    """A worker to be: its turn among the devices, its process, and when that is to be started again."""

    turn: int
    process: WorkerProcess | None = None
    device: str = ""
    began: float = 0.0
    again: float = 0.0
    ends: int = 0
    given_up: bool = False


class Supervisor:
    """`count` Dask workers for the devices that SPECs name, which take them in turn.

    `say` is called with lines on what becomes of them, from a thread. A worker that has never had a device is not
    started again. Raises DeviceError where the system starts no process.
    """

    def __init__(self, devices: Sequence[str], count: int, name: str, say: Callable[[str], None]) -> None:
        self.trouble: list[str] = []
        self._devices, self._name, self._say = list(devices), name, say
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._scheduler: dict[str, Any] | None = None
        self._folder = temporary_folder("mandelcl-cluster-")  # which also goes where the process has to end at once
        self._closing = threading.Event()
        self._changed = threading.Condition()
        self._places = [_Place(turn) for turn in range(count)]
        try:
            for place in self._places:
                self._start(place)
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
    def able(self) -> int:
        """How many workers have registered, or still may."""
        return sum(not place.given_up for place in self._places)

    @property
    def given_up(self) -> bool:
        """Whether no worker is left that could register."""
        return not self.able

    def close(self) -> None:
        """End the workers."""
        self._closing.set()
        self._thread.join()
        self._end()

    def _end(self) -> None:
        for place in self._places:
            if place.process is not None:
                place.process.kill()
        for place in self._places:
            if place.process is not None:
                place.process.end()
                place.process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, place: _Place) -> None:
        place.began, place.again = time.monotonic(), 0.0
        place.process = WorkerProcess(ROLE, self._messages)
        place.process.send({"do": "work", "devices": self._devices, "turn": place.turn})

    def _send(self, place: _Place) -> None:
        if self._scheduler is not None and place.process is not None:
            name = f"{self._name}-{place.turn}"
            place.process.send({**self._scheduler, "name": name, "folder": str(self._folder)})

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
                    if place.process is None and not place.given_up and time.monotonic() >= place.again:
                        try:
                            self._start(place)
                        except DeviceError as error:
                            self._note(place, str(error))

    def _hear(self, message: WorkerMessage) -> None:
        place = next((place for place in self._places if place.process is message.worker), None)
        if place is None:
            return
        head = message.head or {}
        answer = head.get("answer")
        if message.head is None:
            assert place.process is not None
            self._note(place, place.process.last_words())
        elif head.get("say") == "failed":
            self._note(place, printable(str(head.get("why"))))
        elif isinstance(answer, dict) and "registered" in answer:
            self._say(f"{place.device}: registered as {printable(str(answer['registered']))}")
        elif isinstance(answer, dict) and isinstance(answer.get("device"), dict):
            place.device = printable(str(answer["device"].get("label")))
            self._send(place)

    def _note(self, place: _Place, why: str) -> None:
        """Take note that a worker has ended: it is started again after a while, unless it never had a device."""
        if place.process is not None:
            place.process.end()
            place.process = None
        now = time.monotonic()
        place.ends = 0 if now - place.began > _WELL_S else place.ends
        place.again = now + _PAUSES[min(place.ends, len(_PAUSES) - 1)]
        place.ends += 1
        place.given_up = not place.device
        what = place.device or f"worker {place.turn}"
        self.trouble.append(f"{what}: {why}")
        self._say(f"{what}: {why}; {'given up' if place.given_up else 'started again'}")


def own_name() -> str:
    """Return a name for the workers of this process that no other has."""
    import socket

    return f"mandelcl-{socket.gethostname()}-{os.getpid()}"
