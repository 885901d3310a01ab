"""Settings of a computation, which change its speed and no byte, and its progress."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, TypeAlias

from mandelcl.base.errors import InvalidInputError, require_callable, require_type
from mandelcl.base.exact import whole
from mandelcl.base.text import quoted
from mandelcl.engine.variant import Variant

if TYPE_CHECKING:
    from mandelcl.engine.loop.border import Watch


_LONGEST_LAUNCH = 86400.0  # seconds


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a render has got.

    Pixels done and in all, the iterations of those done in this run, seconds since it began, and the device's name.
    While the devices wait for the reference orbit of a deep view, `reference` is how many iterations of it are
    done, and no pixel is. While counts are proved in exact arithmetic, `exact` is how many of how many are done,
    in the current block.
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
    0.1, and less on a GPU unless its driver reports that it stops no long kernels. `block_pixels` bounds the unit of
    work. `blocks` (columns, rows) cuts the picture into exactly that many, each one launch to the iteration limit,
    however long that takes. With `self_test` off the device is trusted. `shortcuts` end orbits early that are known
    never to escape. `watch` is called with the rectangles of border tracing. With `guarded`, results are filled with
    NO_COUNT before they are computed. Where the plane `certified` is asked for, exact arithmetic may take `certify_for`
    seconds in all for counts that nothing else proves; the others are not certified. Raises InvalidInputError for
    values of another type, and for an invalid time or size.
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
        require_type(self.variant, (Variant, NoneType), "the variant")
        require_type(self.budget, (int, float, NoneType), "the budget of a launch")
        if self.budget is not None and not 0 < self.budget <= _LONGEST_LAUNCH:
            raise InvalidInputError(
                f"the budget of a launch must be a time above 0, and at most a day, not {quoted(self.budget)} s"
            )
        if self.block_pixels is not None:
            object.__setattr__(self, "block_pixels", _count(self.block_pixels, "the pixels of a block"))
        if self.blocks is not None:
            blocks: object = self.blocks
            if not isinstance(blocks, tuple | list) or len(blocks) != 2:
                raise InvalidInputError(f"blocks must be two whole numbers, columns and rows, not {quoted(blocks)}")
            object.__setattr__(self, "blocks", tuple(_count(number, "the blocks of a picture") for number in blocks))
        for name in ("self_test", "shortcuts", "guarded"):
            require_type(getattr(self, name), bool, name)
        require_callable(self.watch, "watch")
        require_type(self.certify_for, (int, float), "the time for exact arithmetic")
        if not self.certify_for >= 0:
            raise InvalidInputError(f"exact arithmetic may take a time of at least 0, not {quoted(self.certify_for)} s")


def _count(value: object, what: str) -> int:
    number = whole(value, what)
    if number < 1:
        raise InvalidInputError(f"{what} must be at least 1, not {quoted(number)}")
    return number
