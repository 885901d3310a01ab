"""Convert the timeline of a worker process to its parent's clock.

The parent's order `trace` has a worker record; the worker answers with messages `trace`, ahead of any other message, so
that its activities are recorded when the parent receives them. Each has the times of the order and of the message, by
its own clock, which bounds how far that is from the parent's: on the systems that we know, they are the same.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mandelcl.base.text import printable
from mandelcl.core import timeline
from mandelcl.core.timeline.recorder import Batch, ClockOffset, Recorder, Span
from mandelcl.workers.wire import WireError

ORDER = "trace"
_MOST = 500  # spans a message, whose head is bounded
_LATEST = 1 << 62


class RemoteRecorder:
    """A worker's recorder, whose spans go to the parent: `send` is called with messages."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None]) -> None:
        self._send = send
        self._received = timeline.clock()
        self._recorder = Recorder("worker", self._pass_on)
        timeline.set_recorder(self._recorder)

    def flush(self) -> None:
        """Send what has been recorded."""
        self._recorder.flush()

    def _pass_on(self, batch: Batch) -> None:
        tracks: Mapping[int, str] = batch.tracks
        for first in range(0, len(batch.spans), _MOST):
            spans = batch.spans[first : first + _MOST]
            head = {"say": ORDER, "told": self._received, "said": timeline.clock(), "process": batch.process}
            self._send({**head, "tracks": list(tracks.items()), "spans": spans})
            tracks = {}


class WorkerTimeline:
    """The parent's side: the timeline of the worker with this process number."""

    def __init__(self, recorder: Recorder, pid: int) -> None:
        self._recorder, self._pid = recorder, pid
        self._ordered = timeline.clock()
        self._offset = ClockOffset(0)

    def hear(self, head: Mapping[str, Any]) -> None:
        """Record the spans in a message. Raises WireError if it is invalid."""
        received, sent = _time(head.get("told")), _time(head.get("said"))
        self._offset.bound(self._ordered - received, timeline.clock() - sent)
        tracks = {_time(number): _text(name) for number, name in _rows(head.get("tracks"), 2)}
        spans = [self._span(row) for row in _rows(head.get("spans"), 6)]
        self._recorder.forward(Batch(self._pid, _text(head.get("process")), tracks, spans))

    def _span(self, values: list[Any]) -> Span:
        track, name, kind, start, duration, details = values
        begun = _time(start) + self._offset.value
        return Span(_time(track), _text(name), _text(kind), begun, _time(duration), _details(details))


def _rows(value: object, width: int) -> list[list[Any]]:
    if not isinstance(value, list) or any(not isinstance(row, list) or len(row) != width for row in value):
        raise WireError("no spans")
    return value


def _time(value: object) -> int:
    if type(value) is not int or not 0 <= value < _LATEST:
        raise WireError("no time of a span")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise WireError("no name of a span")
    return printable(value)


def _details(value: object) -> dict[str, int | float | str] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or any(not isinstance(detail, int | float | str) for detail in value.values()):
        raise WireError("no details of a span")
    return {_text(name): _text(detail) if isinstance(detail, str) else detail for name, detail in value.items()}
