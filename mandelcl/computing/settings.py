"""How a job is computed, and how far it has got."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mandelcl.engine.variant import Variant
from mandelcl.errors import InvalidInputError

if TYPE_CHECKING:
    from mandelcl.algorithms.border import Watch


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a render has got.

    Pixels done and in all, the iterations of those done in this run, seconds since it began, and the device's name.
    As long as the devices wait for the reference orbit of a deep view, `reference` is how many iterations of it are
    done, and no pixel is. As long as counts are proved in exact arithmetic, `exact` is how many of how many are done,
    in the block in hand.
    """

    pixels: int
    pixels_total: int
    iterations: int
    seconds: float
    device: str
    reference: int = 0
    exact: tuple[int, int] = (0, 0)


ShowProgress: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How a job is computed: what affects its speed, never a byte of its field.

    `variant` is by default the one that suits the device. `budget` is how many seconds a launch should last; by default
    0.1, and less on a GPU unless its driver says that it stops no long kernels. `block_pixels` bounds the unit of work.
    `blocks` (columns, rows) cuts the picture into exactly that many, each one launch to the cap, however long that
    takes. With `self_test` off the device is trusted. `shortcuts` end orbits early that are known never to escape.
    `watch` is called with the rectangles of border tracing. With `guarded`, results are filled with NO_COUNT before
    they are computed. Where the plane `certified` is asked for, exact arithmetic may take `certify_for` seconds in all
    for counts that nothing else proves; what is left is not certified. Raises InvalidInputError for a budget or a block
    size that is not positive.
    """

    variant: Variant | None = None
    budget: float | None = None
    block_pixels: int | None = None
    blocks: tuple[int, int] | None = None
    self_test: bool = True
    shortcuts: bool = True
    watch: "Watch | None" = None
    guarded: bool = False
    certify_for: float = math.inf

    def __post_init__(self) -> None:
        if self.budget is not None and not 0 < self.budget < float("inf"):
            raise InvalidInputError(f"the budget of a launch must be a time above 0, not {self.budget} s")
        if self.block_pixels is not None and self.block_pixels < 1:
            raise InvalidInputError(f"a block has at least one pixel, not {self.block_pixels}")
