"""A preload for Dask workers: in each block it counts one too many at one pixel that has room for it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mandelcl.rendering.crew.dask.relay import Answer, Order, Relay

_honest = Relay.compute


def _compute(self: Relay, order: Order, given: Mapping[str, Any], indices: bytes = b"") -> Answer:
    head, payload = _honest(self, order, given, indices)
    counts = payload.view("<u4").copy()
    if head["say"] == "done" and counts.size > 4:
        place = int(np.argmax(np.where(counts < 2990, counts, 0)))  # the host counts few iterations again
        counts[place] += 1
    return head, counts.view(np.uint8)


def dask_setup(_worker: object) -> None:
    """Have this process's device lie."""
    Relay.compute = _compute  # type: ignore[assignment, method-assign]
