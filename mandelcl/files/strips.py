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
_MOST_WORKERS = 8  # with more, numpy's calls wait for the interpreter's lock more than they gain

STRIP_PIXELS = 1 << 18  # enough that a strip costs more than handing it over, few enough to stay in a cache

# paint(top, bottom) returns those rows of pixels, uint8 or uint16; it may be called from several threads.
Paint = Callable[[int, int], npt.NDArray[Any]]
# colour(rows, top) returns the pixels of rows that somebody has read, from row `top` on; likewise from several threads.
Colour = Callable[[Rows, int], npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Picture:
    """Pixels to be, painted strip by strip so that the whole need not be in memory.

    `paint(top, bottom)` returns sRGB uint8 (bottom − top, width, 3); with a `table` (uint8, at most 256 × 3) it
    returns places in the table, uint8 (bottom − top, width). `colouring` is the colours' own description as
    JSON, or empty. Writers tell `watch` how long they were busy. There may be other `channels` than red, green and
    blue: 1 for grey, and one more for how opaque a pixel is. With a `depth` of 16 bits they are uint16. A picture of
    planes has `colour`, for who reads the rows himself: each may be read once.
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
    """Return how many rows of so many pixels make a strip: at least one."""
    return max(1, STRIP_PIXELS // width)


def in_order(
    work: Callable[[int], _T], tops: range, workers: int | None = None, ahead: int | None = None
) -> Iterator[_T]:
    """Yield work(top) for each top, in order, computed on all cores or by so many threads.

    At most `ahead` results, by default two a thread, are computed or wait beyond the one that is yielded.
    """
    workers = min(len(tops), workers or min(os.cpu_count() or 1, _MOST_WORKERS))
    ahead = 2 * workers if ahead is None else ahead
    if ahead < 1 or (workers <= 1 and ahead > 1):
        yield from map(work, tops)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # only large pictures need it

    with ThreadPoolExecutor(workers, "mandelcl strip") as pool:
        pending: deque[Future[_T]] = deque()
        try:
            for top in tops:
                pending.append(pool.submit(work, top))
                if len(pending) > ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
