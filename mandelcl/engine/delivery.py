"""How the results of finished blocks leave the device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mandelcl.block import Block
from mandelcl.words import Words

# Returns host memory for a block's results, as an array of this shape.
HostMemory: TypeAlias = Callable[[Block, tuple[int, ...]], Words]


def fresh(_block: Block, shape: tuple[int, ...]) -> Words:
    """Return new host memory."""
    return np.empty(shape, np.uint32)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What becomes of a block's results: they are copied to memory that `host` provides, or stay where they are.

    With `totals` the device sums them up for the log.
    """

    host: HostMemory | None = fresh
    totals: bool = True


TO_HOST = Delivery()
NOWHERE = Delivery(host=None, totals=False)  # results stay on the device, where only their computation matters
