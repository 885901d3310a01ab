"""Pictures painted in strips of rows, on all cores, a few at a time."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

_T = TypeVar("_T")

# paint(top, bottom) returns those rows of pixels, uint8; it may be called from several threads.
Paint = Callable[[int, int], npt.NDArray[np.uint8]]


def in_order(work: Callable[[int], _T], tops: range) -> Iterator[_T]:
    """Yield work(top) for each top, in order, computed on all cores with a bounded number waiting."""
    workers = min(len(tops), os.cpu_count() or 1, 16)
    if workers <= 1:
        yield from map(work, tops)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # only large pictures need it

    with ThreadPoolExecutor(workers) as pool:
        pending: deque[Future[_T]] = deque()
        try:
            for top in tops:
                pending.append(pool.submit(work, top))
                if len(pending) > 2 * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
