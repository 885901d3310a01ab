"""Pictures painted in strips of rows, on all cores, a few at a time."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mandelcl.core.field import Rows
from mandelcl.core.report import Stopwatch

_T = TypeVar("_T")
_MOST_WORKERS = 8  # with more workers, waiting for the interpreter's lock costs more than they gain

STRIP_PIXELS = 1 << 18  # large enough to outweigh the handover, small enough for a cache

# paint(top, bottom) returns those rows of pixels, uint8 or uint16. Several threads may call it.
Paint = Callable[[int, int], npt.NDArray[Any]]
# colour(rows, top) returns the pixels of rows that were read already, from row `top` on. Several threads may call it.
Colour = Callable[[Rows, int], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is painted strip by strip, so that it is never in memory as a whole.

    `paint(top, bottom)` returns sRGB uint8 (bottom − top, width, 3). With a `table` (uint8, at most 256 × 3) it returns
    indices into the table, uint8 (bottom − top, width). `colouring` is the description of the colours as JSON, or
    empty. Writers report their busy time to `watch`. `channels` may differ from 3: 1 for grey, and one more for
    opacity. With a `depth` of 16 bits the values are uint16. A picture of planes has `colour`, for callers that read
    the rows themselves, because each row may be read only once.
    """

    width: int
    height: int
    paint: Paint
    table: npt.NDArray[np.uint8] | None = None
    colouring: str = ""
    watch: Stopwatch = field(default_factory=Stopwatch)
    channels: int = 3
    depth: int = 8
    colour: Colour | None = None

    @classmethod
    def from_pixels(cls, pixels: npt.NDArray[np.uint8]) -> "Picture":
        """Return a picture of finished sRGB pixels, uint8 (height, width, 3)."""
        return cls(pixels.shape[1], pixels.shape[0], lambda top, bottom: pixels[top:bottom])


def strip_rows(width: int) -> int:
    """Return the number of rows per strip for this width: at least one."""
    return max(1, STRIP_PIXELS // width)


def in_order(
    work: Callable[[int], _T], tops: range, workers: int | None = None, prefetched: int | None = None
) -> Iterator[_T]:
    """Yield work(top) for each top, in order, computed on all cores or by this number of threads.

    At most `prefetched` results, by default two per thread, are computed or waiting beyond the one that is yielded.
    """
    workers = min(len(tops), workers or min(os.cpu_count() or 1, _MOST_WORKERS))
    prefetched = 2 * workers if prefetched is None else prefetched
    if prefetched < 1 or (workers <= 1 and prefetched > 1):
        yield from map(work, tops)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # imported here because only large pictures need it

    with ThreadPoolExecutor(workers, "mandelcl strip") as pool:
        pending: deque[Future[_T]] = deque()
        try:
            for top in tops:
                pending.append(pool.submit(work, top))
                if len(pending) > prefetched:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
