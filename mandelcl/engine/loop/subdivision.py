"""How border tracing divides a block into rectangles: pure arithmetic, no OpenCL.

A rectangle is x0, y0, x1, y1 with its edges included, and neighbours share their edges. `cl/rectangles.cl` places the
same lines, by the same formula, as `line` does here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

LEAST_SIDE = 3  # pixels: a thinner block is all border
NO_LIMIT = (1 << 64) - 1
TRUST = ("nothing", "outside", "all")


@dataclass(frozen=True, slots=True)
class DivisionPlan:
    """How finely to divide.

    The longer side of a block is cut into `first` parts; a mixed rectangle is cut into `split` × `split`, as long as
    the parts' sides have at least `smallest` pixels and there are fewer than `depth` levels. The first launch of fresh
    orbits runs about `early` iterations, so that the orbits that do not escape early can be packed closely; with 0
    all run to the iteration limit at once.

    A rectangle is filled if its count is proved, with at most `steps` iterations; 0 tries no proof. Otherwise a border
    of one count is trusted: any (`all`), one below the iteration limit (`outside`) or none (`nothing`). With `outside`,
    rectangles within a component of the set are filled too, if its centre and size can be computed. Of counts below the
    iteration limit only those less than `below` are trusted.
    """

    first: int = 32
    split: int = 2
    smallest: int = 16
    depth: int = 32
    early: int = 0
    steps: int = 1 << 12
    trust: str = "outside"
    below: int = NO_LIMIT

    def __post_init__(self) -> None:
        least = {"first": 1, "split": 2, "smallest": 2, "depth": 1, "early": 0, "steps": 0, "below": 0}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ValueError(f"{name} must be at least {value}")
        if self.trust not in TRUST:
            raise ValueError(f"trust must be one of {', '.join(TRUST)}")


@dataclass(frozen=True, slots=True)
class DivisionLevel:
    """A division of rectangles, whose sides differ by at most a pixel, into `parts` columns and rows.

    `span` is the largest distance between opposite edges before the division; `outer` means that the edges themselves
    are new too, `last` that the children are not divided again.
    """

    parts: tuple[int, int]
    span: tuple[int, int]
    outer: bool
    last: bool

    @property
    def children(self) -> int:
        """Rectangles that one becomes."""
        return self.parts[0] * self.parts[1]

    @property
    def child_span(self) -> tuple[int, int]:
        """The largest distance between opposite edges of a child."""
        return -(-self.span[0] // self.parts[0]), -(-self.span[1] // self.parts[1])

    @property
    def most(self) -> tuple[int, int]:
        """Pixels of a level line between two upright ones, and of an upright line, at most."""
        return max(1, self.child_span[0] - 1), max(1, self.span[1] - 1 + 2 * self.outer)

    @property
    def slots(self) -> int:
        """Slots that a rectangle has for pixels on its dividing lines."""
        upright, level = (part - 1 + 2 * self.outer for part in self.parts)
        return upright * self.most[1] + level * self.parts[0] * self.most[0]

    @property
    def inside(self) -> tuple[int, int]:
        """Columns and rows inside a child, at most."""
        return max(0, self.child_span[0] - 1), max(0, self.child_span[1] - 1)


def line(low: int, high: int, k: int, parts: int) -> int:
    """Return where line k of `parts` lies between two edges."""
    return low + (high - low) * k // parts


def levels(width: int, height: int, plan: DivisionPlan) -> Iterator[DivisionLevel]:
    """Yield the divisions of a block, coarse to fine; of at least LEAST_SIDE pixels a side."""
    if min(width, height) < LEAST_SIDE:
        raise ValueError(f"a block of {width}x{height} is all border")
    span = width - 1, height - 1
    longest = max(span)
    first = max(1, min(plan.first, (1 << 31) // longest))  # the kernels' products of both have 32 bits
    parts = tuple(max(1, min(round(side * first / longest), side // plan.smallest)) for side in span)
    for depth in range(plan.depth):
        level = DivisionLevel((parts[0], parts[1]), span, outer=depth == 0, last=depth + 1 == plan.depth)
        if level.last or min(level.child_span) // plan.split < plan.smallest:
            yield replace(level, last=True)
            return
        yield level
        parts, span = (plan.split, plan.split), level.child_span
