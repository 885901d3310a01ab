"""A scripted dive: a page that zooms in at a steady speed, and notes when each frame was requested and came."""

import json
import select
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, BinaryIO

from mandelcl.base.exact import parse_number
from mandelcl.core.job import Job
from mandelcl.explore.places import number_text
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from tests.explore.page import HEADER
from tests.explore.quick import QuickPage

SLOT_S = 1 / 60
_ON_THEIR_WAY = 3  # views at once; another is requested once the server has resolved the last one
_STEPS = 1 << 24  # of a factor between two views


@dataclass
class Frame:
    """A view in motion: when it was requested, settled and complete, in seconds, and how many of its pixels came."""

    asked: float
    settled: float = 0.0
    came: float = 0.0
    pixels: int = 0
    reference: str = ""


@dataclass
class Dive:
    """A dive from one zoom to another towards a point: where, how deep, how fast, and in which size."""

    re: str
    im: str
    zoom: str
    octaves: float
    iterations: int
    size: tuple[int, int] = (1920, 1080)
    octaves_a_second: float = 2.0
    coarser: int = 1  # each frame has so many times fewer columns and rows
    frames: list[Frame] = field(default_factory=list)

    def view(self, octaves: float, coarser: int = 1) -> dict[str, Any]:
        """Return the view so many octaves deep; its point is in the middle."""
        width, height = (side // coarser for side in self.size)
        whole = int(octaves // 1)
        zoom = parse_number(self.zoom) * 2**whole * Fraction(round(_STEPS * 2 ** (octaves - whole)), _STEPS)
        chart = {"re": self.re, "im": self.im, "pitch": number_text(4 / (zoom * height))}
        origin = [-(width // 2), -(height // 2)]
        return {"lattice": chart, "origin": origin, "size": [width, height], "iterations": self.iterations}

    def run(self, page: QuickPage, record: BinaryIO | None = None) -> dict[str, Any]:
        """Dive; return what was measured. A `record` gets each message: its time and length, and its text or header."""
        page.view(self.view(0.0))  # as a page that has rested there
        self.frames, open_frames = [], dict[int, Frame]()
        most = self.octaves / self.octaves_a_second
        started = time.perf_counter()
        next_ask = 0.0
        while (now := time.perf_counter() - started) < most or open_frames:
            if now > most + 30.0:
                break
            free = len(open_frames) < _ON_THEIR_WAY and all(frame.settled for frame in open_frames.values())
            if now < most and now >= next_ask and free:
                page.generation += 1
                frame = open_frames[page.generation] = Frame(now)
                self.frames.append(frame)
                wanted = self.view(self.octaves_a_second * now, self.coarser)
                middle = [0.0, 0.0]
                page.send("view", pane=0, generation=page.generation, motion=True, pointer=middle, **wanted)
                next_ask = max(next_ask + SLOT_S, now)
                continue
            wait = min(max(0.0, next_ask - now), 0.25) if free and now < most else 0.25
            if not select.select([page.socket], [], [], wait)[0]:
                continue
            message = page.socket.recv_frame()
            if message is not None:
                self._take(message, open_frames, started, record)
        return self._measured(most)

    def _take(
        self, message: str | bytes, open_frames: dict[int, Frame], started: float, record: BinaryIO | None
    ) -> None:
        now = time.perf_counter() - started
        if record is not None:
            text = {"header": message[: HEADER.size].hex()} if isinstance(message, bytes) else {"text": message}
            record.write(json.dumps({"at": round(now, 5), "bytes": len(message), **text}).encode() + b"\n")
        if isinstance(message, bytes):
            *_, generation, _, _, _, width, height = HEADER.unpack_from(message)
            frame = open_frames.get(generation)
            if frame is not None:
                frame.pixels += width * height
                frame.came = now
            return
        heard: Mapping[str, Any] = json.loads(message)
        assert heard["say"] not in ("failed", "problem"), heard
        generation = heard.get("generation", -1)
        if heard["say"] == "settled" and generation in open_frames:
            open_frames[generation].settled = now
            open_frames[generation].reference = heard["key"]
        if heard["say"] == "complete":
            for older in [number for number in open_frames if number <= generation]:
                del open_frames[older]

    def _measured(self, most: float) -> dict[str, Any]:
        width, height = (side // self.coarser for side in self.size)
        shown = [frame for frame in self.frames if frame.pixels == width * height]
        # What is on screen was requested with the last frame that came; it grows old until the next one is there.
        ages = [after.came - before.asked for before, after in pairwise(shown)]
        late = list(zip(ages, (frame.came for frame in shown[1:]), strict=True))
        slots = {int(frame.came / SLOT_S) for frame in shown if frame.came < most}
        delays = [frame.came - frame.asked for frame in shown]
        return {
            "frames": len(shown),
            "a_second": round(len(shown) / most, 1),
            "requested": len(self.frames),
            "size": [width, height],
            "latency_ms": _quantiles(delays),
            "settled_ms": _quantiles([frame.settled - frame.asked for frame in shown]),
            "oldest_ms": _quantiles(ages),
            "oldest_at_s": [round(came, 2) for _, came in sorted(late, reverse=True)[:5]],
            "slots_with_data": round(len(slots) * SLOT_S / most, 3),
            "references": len({frame.reference for frame in shown}),
        }

    def rest(self, page: QuickPage, session: Session) -> dict[str, Any]:
        """Rest where the dive has ended; return the digest of the counts, which is that of a render."""
        picture = page.view(self.view(self.octaves))
        job = Job.from_json(picture.of("settled")["job"])
        _, report = render(job, session)
        assert report.counts_sha256 == picture.sha256 == picture.of("complete")["sha256"]
        return {"rest_ms": round(1000 * picture.seconds), "sha256": picture.sha256, "method": job.method}


def _quantiles(seconds: list[float]) -> list[float]:
    """Return the median, the 95th percentile and the largest, in milliseconds."""
    if not seconds:
        return []
    ordered = sorted(seconds)
    return [
        round(1000 * value, 1) for value in (statistics.median(ordered), ordered[int(0.95 * len(ordered))], ordered[-1])
    ]
