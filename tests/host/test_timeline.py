"""The timeline: spans of threads, devices and processes, clocks that differ, and a file that is whole at any moment."""

import json
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.base.errors import FileError
from mandelcl.cli.options import recorded
from mandelcl.core import timeline
from mandelcl.core.report import Stopwatch
from mandelcl.core.timeline.chrome import TraceFile, recording
from mandelcl.core.timeline.recorder import Batch, ClockOffset, Recorder, Span
from mandelcl.opencl.commands import Commands
from mandelcl.workers.dialogue import Dialogue
from mandelcl.workers.process import WorkerMessage, WorkerProcess
from tests import traces

MS = 1_000_000


class Kept:
    """A recorder that is set for a `with` statement; its spans, and the names of their tracks."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.tracks: dict[int, str] = {}
        self.recorder = Recorder("test", self._keep)

    def _keep(self, batch: Batch) -> None:
        self.spans += batch.spans
        self.tracks |= batch.tracks

    def __enter__(self) -> "Kept":
        timeline.set_recorder(self.recorder)
        return self

    def __exit__(self, *_error: object) -> None:
        timeline.set_recorder(None)
        self.recorder.flush()


def batch(*names: str, pid: int = 7, process: str = "mandelcl", tracks: dict[int, str] | None = None) -> Batch:
    start = timeline.clock()
    spans = [Span(1, name, "host", start + k, 1) for k, name in enumerate(names)]
    return Batch(pid, process, {1: "work"} if tracks is None else tracks, spans)


def test_no_recorder_records_nothing() -> None:
    commands = Commands("device", lambda _event: (0, 1))
    assert timeline.since() == 0
    assert timeline.span("a") is timeline.span("b")
    with timeline.span("a"):
        timeline.add("track", "b", "host", 0)
        event = commands.noted(timeline.since(), object(), "kernel")
        commands.describe(event, {"x": 1})
        commands.ended(event)
    with Kept() as kept:  # nor does it turn up later
        commands.ended(event)
    assert not kept.spans


def test_spans_are_those_of_their_threads() -> None:
    def work(name: str) -> None:
        with timeline.span(name, details={"n": 1}), timeline.span(f"{name} inside", "wait"):
            pass

    with Kept() as kept, ThreadPoolExecutor(2, "pool") as pool:
        work("here")
        list(pool.map(work, ["there"] * 4))
    names = {(kept.tracks[span.track], span.name, span.kind) for span in kept.spans}
    here = threading.current_thread().name
    assert names - {("pool_1", "there", "host"), ("pool_1", "there inside", "wait")} == {
        *((here, "here", "host"), (here, "here inside", "wait")),
        *(("pool_0", "there", "host"), ("pool_0", "there inside", "wait")),
    }
    assert all(span.details == {"n": 1} for span in kept.spans if span.kind == "host")


def test_thread_reuses_the_track_of_an_ended_namesake() -> None:
    def work() -> None:
        with timeline.span("work"):
            pass

    with Kept() as kept:
        for _ in range(3):
            thread = threading.Thread(target=work, name="again")
            thread.start()
            thread.join()
        barrier = threading.Barrier(2)

        def together() -> None:
            barrier.wait()
            work()
            barrier.wait()

        pair = [threading.Thread(target=together, name="twin") for _ in range(2)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
    assert sorted(kept.tracks.values()) == ["again", "twin", "twin"]


def test_stage_is_a_span_and_its_time_is_counted() -> None:
    watch = Stopwatch()
    with Kept() as kept, watch.of("encode"):
        started = time.thread_time()
        while time.thread_time() == started:  # Windows' clock of a thread has long steps
            sum(range(10_000))
    assert [span.name for span in kept.spans] == ["encode"]
    assert watch.seconds["encode"] > 0
    assert kept.spans[0].duration > 0


# The file.


def test_trace_file_is_complete_after_each_batch(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("old " * 1000)
    file = TraceFile(path, {"command": "x"})
    assert path.read_text().startswith("old")  # nothing has happened yet
    for count in range(1, 4):
        file.write(batch("a", "b", tracks={count: f"track {count}"} | {1: "work"}))
        assert len(traces.read(path)) == 2 * count
    file.close()
    file.write(batch("late"))
    assert [span.name for span in traces.read(path)] == ["a", "b"] * 3
    assert json.loads(path.read_text())["otherData"] == {"command": "x", "spans left out": 0}


def test_trace_file_is_bounded(tmp_path: Path) -> None:
    file = TraceFile(tmp_path / "trace.json", {}, most=3)
    for _ in range(3):
        file.write(batch("a", "b"))
    file.close()
    assert len(traces.read(tmp_path / "trace.json")) == 3
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"] == {"spans left out": 3}


def test_processes_have_their_names_and_tracks(tmp_path: Path) -> None:
    file = TraceFile(tmp_path / "trace.json", {})
    file.write(batch("a"))
    file.write(batch("b", pid=8, process="worker"))
    file.write(batch("c", tracks={}))
    file.close()
    spans = traces.read(tmp_path / "trace.json")
    assert [(span.process, span.name) for span in spans] == [
        ("7 mandelcl", "a"),
        ("8 worker", "b"),
        ("7 mandelcl", "c"),
    ]


def test_recording_ends_with_its_context_on_any_exception(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with pytest.raises(KeyboardInterrupt), recording(path, "test", {}), timeline.span("outer"), timeline.span("inner"):
        raise KeyboardInterrupt
    assert not timeline.on()
    assert [span.name for span in traces.read(path)] == ["outer", "inner"]
    traces.check_nesting(traces.read(path))


def test_a_recording_without_spans_or_without_a_path_makes_no_file(tmp_path: Path) -> None:
    with recording(tmp_path / "trace.json", "test", {}):
        pass
    with recorded(None, "render"):
        assert not timeline.on()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_full_disk_is_reported_after_the_work() -> None:
    done = []
    why = "/dev/full: No space left on device; the trace ends early"
    with pytest.raises(FileError, match=why), recording("/dev/full", "test", {}), timeline.span("a"):
        done.append(True)
    assert done
    with pytest.raises(KeyError), recording("/dev/full", "test", {}), timeline.span("a"):
        raise KeyError  # it is the work's own error that counts


def test_spans_are_flushed_in_batches(tmp_path: Path) -> None:
    with recording(tmp_path / "trace.json", "test", {}):
        for _ in range(10_000):
            with timeline.span("a"):
                pass
        assert len(traces.read(tmp_path / "trace.json")) >= 8000
    assert len(traces.read(tmp_path / "trace.json")) == 10_000


# Clocks.


@given(st.integers(-(10**15), 10**15), st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1))
def test_clock_offset_satisfies_all_bounds(true: int, slacks: list[tuple[int, int]]) -> None:
    offset = ClockOffset()
    for below, above in slacks:
        offset.bound(true - below, true + above)
        assert true - below <= offset.value <= true + above
    least, most = max(true - below for below, _ in slacks), min(true + above for _, above in slacks)
    offset.bound(least, most)
    assert least <= offset.value <= most


def test_clocks_that_agree_are_left_alone() -> None:
    offset = ClockOffset(0)
    offset.bound(-5, 900)
    assert offset.value == 0
    offset.bound(100, 900)
    assert offset.value == 100


class FakeQueue:
    """A device with one queue: commands take a time each, on a clock that is `ahead` and fast by a share."""

    def __init__(self, ahead: int, drift: float) -> None:
        self.ahead, self.drift = ahead, drift
        self.host = 10**9
        self.free = 0
        self.stamps: dict[int, tuple[int, int] | None] = {}
        self.true: dict[int, tuple[int, int]] = {}

    def device(self, host: int) -> int:
        return int(host * (1 + self.drift)) + self.ahead

    def enqueue(self, event: int, overhead: int, latency: int, duration: int, timed: bool) -> int:
        before, self.host = self.host, self.host + overhead
        start = max(before + latency, self.free)
        self.free = start + duration
        self.true[event] = start, self.free
        self.stamps[event] = (self.device(start), self.device(self.free)) if timed else None
        return before

    def wait(self, event: int, latency: int) -> None:
        self.host = max(self.host, self.true[event][1]) + latency


COMMANDS = st.tuples(*[st.integers(0, MS)] * 2, st.integers(2000, 50 * MS), st.booleans())


@given(
    st.integers(-(10**12), 10**12),
    st.floats(-1e-5, 1e-5),
    st.lists(COMMANDS, min_size=1, max_size=30),
    st.data(),
)
def test_commands_keep_order_and_durations_with_any_device_clock(
    ahead: int, drift: float, listed: list[tuple[int, int, int, bool]], data: st.DataObject
) -> None:
    fake = FakeQueue(ahead, drift)
    events = [object() for _ in listed]
    with pytest.MonkeyPatch.context() as patch, Kept() as kept:
        patch.setattr(timeline, "clock", lambda: fake.host)
        commands = Commands("device", lambda event: fake.stamps[id(event)])
        waited = 0
        for event, values in zip(events, listed, strict=True):
            before = fake.enqueue(id(event), *values[:3], timed=True)
            commands.noted(before, event, f"kernel {id(event)}")
            if values[3] or event is events[-1]:
                fake.wait(id(event), data.draw(st.integers(0, MS)))
                commands.ended(event)
                waited = events.index(event) + 1
    assert [span.name for span in kept.spans] == [f"kernel {id(event)}" for event in events[:waited]]
    last = 0
    for event, span in zip(events, kept.spans, strict=False):
        start, end = fake.true[id(event)]
        assert span.start >= last
        assert abs(span.duration - (end - start)) <= 2 + (end - start) * 1e-4
        assert abs(span.start - start) <= MS + 200_000  # no more than a latency of the host, and drift
        last = span.start + span.duration


def test_a_device_without_a_clock_is_timed_by_the_host() -> None:
    with Kept() as kept:
        commands = Commands("device", lambda _event: None)
        start = timeline.since()
        fill, kernel, read = object(), object(), object()
        commands.noted(start, fill, "fill", 1 << 20)
        commands.noted(timeline.since(), kernel, "advance_block")
        commands.describe(kernel, {"x": 3})
        commands.noted(timeline.since(), read, "read", 4)
        commands.ended(read)
        commands.ended(read)  # a second wait is no second span
        small = object()
        commands.noted(timeline.since(), small, "read", 4)
        commands.ended(small)
    (span,) = kept.spans
    assert kept.tracks[span.track] == "device: kernels"
    assert (span.name, span.kind) == ("advance_block", "kernel")
    assert span.details == {"x": 3, "timed": "by the host", "with": "fill, read"}
    assert start <= span.start <= span.start + span.duration <= timeline.clock()


def test_commands_of_an_earlier_recording_are_forgotten() -> None:
    commands, old, new = Commands("device", lambda _event: (1, 2)), object(), object()
    with Kept():
        commands.noted(timeline.since(), old, "old")
    with Kept() as kept:
        commands.noted(timeline.since(), new, "new")
        commands.ended(new)
    assert [span.name for span in kept.spans] == ["new"]


# Other processes.


def test_a_worker_records_on_the_parents_timeline() -> None:
    with Kept() as kept:
        start = timeline.clock()
        with Dialogue("tests.host.roles:record", lambda: None) as process:
            process.ask({"spans": 1200})
        end = timeline.clock()
    theirs = [span for span in kept.spans if span.name.startswith("span ")]
    assert [span.name for span in theirs] == [f"span {k}" for k in range(1200)]
    assert all(start <= span.start <= span.start + span.duration <= end for span in theirs)
    assert {kept.tracks[span.track] for span in theirs} == {"their own", "MainThread"}
    assert theirs[0].details == {"n": 0, "what": r"\x1b[31mred"}


def test_worker_clock_offset_is_corrected() -> None:
    with Kept() as kept, Dialogue("tests.host.roles:record", lambda: None) as process:
        start = timeline.clock()
        process.ask({"spans": 3, "ahead": 3_600_000 * MS})
        end = timeline.clock()
    theirs = [span for span in kept.spans if span.name.startswith("span ")]
    assert len(theirs) == 3
    assert all(start - 60_000 * MS <= span.start <= end for span in theirs)


def test_worker_records_no_trace_by_default() -> None:
    with Dialogue("tests.host.roles:record", lambda: None) as process:
        assert process.ask({"spans": 3}) == {"on": False}


WRONG_DETAILS: list[Any] = [1, [], {"a": []}, {"a": None}]
GOOD: dict[str, Any] = {"say": "trace", "process": "x", "told": 1, "said": 2, "tracks": [], "spans": []}


@pytest.mark.parametrize(
    "change",
    [
        {"process": None},
        *({"told": value} for value in (None, -1, 1.5, True, 1 << 63)),
        *({"tracks": value} for value in (None, 1, [1], [[1]], [["a", "b"]], [[1, 2]])),
        *(
            {"spans": [row]}
            for row in (1, [], [1, "a", "b", 2, 3], [1, 2, "b", 2, 3, None], [1, "a", "b", 2, -3, None])
        ),
        *({"spans": [[1, "a", "b", 2, 3, value]]} for value in WRONG_DETAILS),
    ],
)
def test_invalid_timeline_message_ends_the_worker(change: dict[str, Any]) -> None:
    script = f"from tests.host.roles import reply; reply({GOOD | change!r})"
    messages: queue.Queue[WorkerMessage] = queue.Queue()
    with Kept() as kept:
        worker = WorkerProcess("", messages, command_line=(sys.executable, "-c", script))
        try:
            reported = messages.get(timeout=600)
        finally:
            worker.end()
    assert reported.head is not None
    assert str(reported.head["why"]).startswith("sent an invalid message: ")
    assert not kept.spans
