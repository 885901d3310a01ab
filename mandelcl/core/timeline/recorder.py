"""Record spans from any thread. They are handed on in batches, so that few are in memory."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class ClockOffset:
    """What is to be added to the times of one clock to have those of another, which may run a little faster.

    Each exchange bounds it: an answer is not given before it is asked for, and not received before it is given. The
    offset is the middle of the first exchange's bounds, unless a value is given, and moves only as far as later ones
    require. So no event is placed before its cause, and two clocks that agree are left as they are.
    """

    def __init__(self, value: int | None = None) -> None:
        self._value = value

    @property
    def value(self) -> int:
        """The offset; 0 if nothing is known."""
        return self._value or 0

    def bound(self, least: int, most: int) -> None:
        """Take note of what the offset must be at least and at most."""
        self._value = (least + most) // 2 if self._value is None else min(max(self._value, least), most)


Detail: TypeAlias = int | float | str

_MOST_WAITING = 2000


class Span(NamedTuple):
    """Something that took from `start` for `duration` nanoseconds on a track, which has a number."""

    track: int
    name: str
    kind: str
    start: int
    duration: int
    details: Mapping[str, Detail] | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Some spans of a process, its name, and the names of the tracks that no batch before has named."""

    pid: int
    process: str
    tracks: Mapping[int, str]
    spans: Sequence[Span]


class Recorder:
    """The spans of this process; `sink` is called with batches, by one thread at a time.

    `process` is what this process is called in the trace.
    """

    def __init__(self, process: str, sink: Callable[[Batch], None]) -> None:
        self.process = process
        self._sink = sink
        self._sinking = threading.Lock()
        self._lock = threading.Lock()
        self._own = threading.local()
        self._tracks: dict[str, int] = {}
        self._threads: dict[str, dict[int, threading.Thread]] = {}
        self._unnamed: dict[int, str] = {}
        self._spans: list[Span] = []
        self._last = 0

    def add(
        self, track: int, name: str, kind: str, start: int, duration: int, details: Mapping[str, Detail] | None = None
    ) -> None:
        """Take note of a span."""
        with self._lock:
            self._spans.append(Span(track, name, kind, start, duration, details))
        if len(self._spans) >= _MOST_WAITING:
            self.flush()

    def track(self, name: str) -> int:
        """Return the number of the track of that name, for something other than a thread."""
        with self._lock:
            number = self._tracks.get(name)
            if number is None:
                number = self._tracks[name] = self._new(name)
        return number

    def thread(self) -> int:
        """Return the number of the calling thread's track; one that has ended leaves its track to one of its name."""
        number: int | None = getattr(self._own, "track", None)
        if number is None:
            thread = threading.current_thread()
            with self._lock:
                alike = self._threads.setdefault(thread.name, {})
                free = (number for number, owner in alike.items() if not owner.is_alive())
                number = next(free, None) or self._new(thread.name)
                alike[number] = thread
            self._own.track = number
        return number

    def flush(self) -> None:
        """Hand on what has been recorded; when this returns, the sink has it."""
        with self._sinking:
            with self._lock:
                if not self._spans:
                    return
                batch = Batch(os.getpid(), self.process, self._unnamed, self._spans)
                self._unnamed, self._spans = {}, []
            self._sink(batch)

    def forward(self, batch: Batch) -> None:
        """Hand on what another process has recorded."""
        with self._sinking:
            self._sink(batch)

    def _new(self, name: str) -> int:
        self._last += 1
        self._unnamed[self._last] = name
        return self._last
