"""How the results of finished blocks leave the device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.block import Block
from mandelcl.words import Words

if TYPE_CHECKING:
    from mandelcl.engine.shading import Shader

# A block as it is delivered: its results, words × height × width, or its pixels, height × width bytes or × 3 of them.
Delivered: TypeAlias = npt.NDArray[Any]

# Returns host memory for a block's results, as an array of this shape.
HostMemory: TypeAlias = Callable[[Block, tuple[int, ...]], Words]


def fresh(_block: Block, shape: tuple[int, ...]) -> Words:
    """Return new host memory."""
    return np.empty(shape, np.uint32)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What becomes of a block's results: they are copied to memory that `host` provides, or stay where they are.

    With `totals` the device sums them up for the log. With a `shader` pixels are made of them and copied.
    """

    host: HostMemory | None = fresh
    totals: bool = True
    shader: "Shader | None" = None


TO_HOST = Delivery()
NOWHERE = Delivery(host=None, totals=False)  # results stay on the device, where only their computation matters
