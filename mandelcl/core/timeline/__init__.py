"""The timeline of `--trace`: spans on tracks. Without a recorder, nothing is stored or allocated.

A trace is of a whole process: its threads, its devices, and the processes that work for it. So there is one recorder
for all of them, set while `mandelcl.core.timeline.chrome.recording` runs, and no function has to pass it on.

Times are in nanoseconds of `clock`, which on Linux, macOS and Windows is the same for all processes of a machine.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter_ns as clock
from types import TracebackType

from mandelcl.core.timeline.recorder import Detail, Recorder

__all__ = ["Detail", "Recorder", "add", "clock", "name_process", "on", "recorder", "set_recorder", "since", "span"]

_recorder: Recorder | None = None
_NOTHING: AbstractContextManager[None] = nullcontext()


def set_recorder(recorder: Recorder | None) -> None:
    """Have spans go to a recorder from here on; None: nowhere."""
    global _recorder
    _recorder = recorder


def recorder() -> Recorder | None:
    """Return the recorder; None if nothing is recorded."""
    return _recorder


def on() -> bool:
    """Return whether spans are recorded."""
    return _recorder is not None


def since() -> int:
    """Return the time at which something begins; 0 if nothing is recorded."""
    return 0 if _recorder is None else clock()


def name_process(name: str) -> None:
    """Say what this process is called in the trace."""
    if _recorder is not None:
        _recorder.process = name


def span(name: str, kind: str = "host", details: Mapping[str, Detail] | None = None) -> AbstractContextManager[None]:
    """Return a context manager that records its body, on the track of the thread that runs it."""
    return _NOTHING if _recorder is None else _Body(_recorder, name, kind, details)


def add(track: str, name: str, kind: str, start: int, details: Mapping[str, Detail] | None = None) -> None:
    """Record what began at `start` and ends now on a track of that name."""
    if _recorder is not None:
        _recorder.add(_recorder.track(track), name, kind, start, clock() - start, details)


class _Body:
    """A span around the body of a `with` statement."""

    __slots__ = ("_details", "_kind", "_name", "_recorder", "_start")

    def __init__(self, recorder: Recorder, name: str, kind: str, details: Mapping[str, Detail] | None) -> None:
        self._recorder, self._name, self._kind, self._details = recorder, name, kind, details
        self._start = 0

    def __enter__(self) -> None:
        self._start = clock()

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        track = self._recorder.thread()
        self._recorder.add(track, self._name, self._kind, self._start, clock() - self._start, self._details)
