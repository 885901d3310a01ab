"""A trace in a file: Chrome's trace event format, which ui.perfetto.dev and chrome://tracing show.

The file is a complete JSON object at any moment: each batch is written over the end of the object, with a new end. So
it can be read however the process ends, and memory holds only batches that are not yet written.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from mandelcl.base.errors import FileError
from mandelcl.core import timeline
from mandelcl.core.timeline.recorder import Batch, Recorder, Span

MOST_SPANS = 1_000_000  # some 200 MB: what viewers still open
_FLUSH_S = 0.5
_HEAD = b'{"displayTimeUnit":"ms","traceEvents":[\n'


class TraceFile:
    """A trace that is being written. The file is created with the first batch, and holds at most `most` spans.

    Times are counted from `origin`. `about` is kept in the file as `otherData`.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any], most: int = MOST_SPANS) -> None:
        self.failure: OSError | None = None
        self._path = Path(path)
        self._about = about
        self._origin = timeline.clock()
        self._file: BinaryIO | None = None
        self._end = 0
        self._left = most
        self._left_out = 0
        self._closed = False
        self._processes: dict[int, str] = {}

    def write(self, batch: Batch) -> None:
        """Add a batch. If the disk refuses it, the file ends there, and `failure` holds the error."""
        if self._closed or self.failure is not None:
            return
        spans = batch.spans[: self._left]
        self._left -= len(spans)
        self._left_out += len(batch.spans) - len(spans)
        events = [*self._names(batch), *(self._event(batch.pid, span) for span in spans)]
        try:
            self._append(b",\n".join(json.dumps(event, separators=(",", ":")).encode() for event in events))
        except OSError as error:
            self.failure = error

    def close(self) -> None:
        """Close the file. Later batches, from a thread that was left behind, are dropped."""
        self._closed = True
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _append(self, text: bytes) -> None:
        """Write events behind those that are there, and the end behind them."""
        if self._file is None:
            self._file = self._path.open("wb", buffering=0)
        start = b",\n" if self._end else _HEAD
        about = {**self._about, "spans left out": self._left_out}
        body = start + text if text else b""
        data = memoryview(body + b'\n],"otherData":' + json.dumps(about).encode() + b"}\n")
        self._file.seek(self._end)
        while data:
            data = data[self._file.write(data) :]
        self._end += len(body)

    def _names(self, batch: Batch) -> Iterator[dict[str, Any]]:
        """Yield the events that name a process and its tracks."""
        if self._processes.get(batch.pid) != batch.process:
            self._processes[batch.pid] = batch.process
            yield {"ph": "M", "name": "process_name", "pid": batch.pid, "args": {"name": batch.process}}
        for number, name in batch.tracks.items():
            named = {"pid": batch.pid, "tid": number}
            yield {"ph": "M", "name": "thread_name", **named, "args": {"name": name}}
            yield {"ph": "M", "name": "thread_sort_index", **named, "args": {"sort_index": number}}

    def _event(self, pid: int, span: Span) -> dict[str, Any]:
        """Return a span as a complete event, in microseconds."""
        start, duration = (span.start - self._origin) / 1000, span.duration / 1000
        event = {"ph": "X", "name": span.name, "cat": span.kind, "pid": pid, "tid": span.track, "ts": start}
        return event | {"dur": duration} | ({"args": dict(span.details)} if span.details else {})


@contextmanager
def recording(path: str | Path, process: str, about: Mapping[str, Any], most: int = MOST_SPANS) -> Iterator[None]:
    """Record what the body does, in all threads and in the processes that it starts, to a file.

    `process` is the name of this process in the trace. The file is replaced as soon as there is something to record.
    Raises FileError at the end if the disk refused a part of it, unless the body raises something else.
    """
    file = TraceFile(path, about, most)
    recorder = Recorder(process, file.write)
    over = threading.Event()

    def flush() -> None:
        while not over.wait(_FLUSH_S):
            recorder.flush()

    flusher = threading.Thread(target=flush, name="mandelcl trace", daemon=True)
    timeline.set_recorder(recorder)
    flusher.start()
    try:
        yield
    finally:
        timeline.set_recorder(None)
        over.set()
        flusher.join()
        recorder.flush()
        file.close()
    if file.failure is not None:
        why = file.failure.strerror or file.failure
        raise FileError(f"cannot write {path}: {why}; the trace ends early", path) from file.failure
