"""What tests read from a trace: its spans, by process and track, and that they can be drawn."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Traced:
    """A span of a trace, in microseconds, with the names of its process and track."""

    process: str
    track: str
    name: str
    kind: str
    start: float
    duration: float
    details: dict[str, Any]

    @property
    def end(self) -> float:
        return self.start + self.duration


def read(path: Path) -> list[Traced]:
    """Return the spans of a trace, in the order of their starts; each process and track must have been named."""
    trace = json.loads(path.read_text(encoding="utf-8"))
    assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"}
    processes: dict[int, str] = {}
    tracks: dict[tuple[int, int], str] = {}
    spans = []
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            if event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                tracks[event["pid"], event["tid"]] = event["args"]["name"]
        else:
            assert event["ph"] == "X"
            names = f"{event['pid']} {processes[event['pid']]}", tracks[event["pid"], event["tid"]]
            times = event["ts"], event["dur"]
            assert min(times) >= 0
            spans.append(Traced(*names, event["name"], event["cat"], *times, event.get("args", {})))
    return sorted(spans, key=lambda span: (span.start, -span.duration))


def by_track(spans: list[Traced]) -> dict[tuple[str, str], list[Traced]]:
    """Return the spans of each process and track."""
    tracks: dict[tuple[str, str], list[Traced]] = defaultdict(list)
    for span in spans:
        tracks[span.process, span.track].append(span)
    return tracks


def check_nesting(spans: list[Traced]) -> None:
    """Assert that of two spans on a track one lies within the other, or they do not overlap; devices do one thing."""
    for (process, track), own in by_track(spans).items():
        under_way: list[Traced] = []
        for span in own:
            while under_way and under_way[-1].end <= span.start:
                under_way.pop()
            if under_way:
                assert span.end <= under_way[-1].end, (process, track, under_way[-1], span)
                assert under_way[-1].kind in ("host", "wait"), (process, track, under_way[-1], span)
            under_way.append(span)


def launches(spans: list[Traced]) -> list[Traced]:
    """Return the launches that a report counts: of orbits, and on rectangles where the device has timed them."""
    kernels = [span for span in spans if span.kind == "kernel"]
    rectangles = [span for span in kernels if span.name.startswith("rectangles_") and "timed" not in span.details]
    return rectangles + [span for span in kernels if "strides" in span.details]
