"""How border tracing divides a block into rectangles: pure arithmetic, no OpenCL.

A rectangle is x0, y0, x1, y1 with its edges included, and neighbours share their edges. `cl/rectangles.cl` places the
same lines, by the same formula, as `line` does here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

LEAST_SIDE = 3  # pixels: a thinner block is all border
PROVE = ("nothing", "insides", "all")


@dataclass(frozen=True, slots=True)
class Plan:
    """How finely to divide, and what a fill rests on.

    The longer side of a block is cut into `first` parts; a rectangle that is mixed is cut into `split` × `split`, as
    long as the parts' sides keep `smallest` pixels and there are fewer than `depth` levels. The first launch of fresh
    orbits runs about `early` iterations, so that those that escape soon leave the others packed closely; 0 runs all to
    the cap at once.

    Each rectangle's inside is looked at in `probes` × `probes` places. What is filled is first proved to be of one
    count in `prove`: nothing, insides or all (cl/rectangles_prove.cl); a proof may take `steps` iterations.
    """

    first: int = 32
    split: int = 2
    smallest: int = 16
    depth: int = 32
    probes: int = 0
    early: int = 0
    prove: str = "insides"
    steps: int = 1 << 14

    def __post_init__(self) -> None:
        least = {"first": 1, "split": 2, "smallest": 2, "depth": 1, "probes": 0, "early": 0, "steps": 1}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ValueError(f"{name} must be at least {value}")
        if self.prove not in PROVE:
            raise ValueError(f"prove must be one of {', '.join(PROVE)}")


@dataclass(frozen=True, slots=True)
class Level:
    """A division of rectangles, all alike but for a pixel: into `parts` columns and rows.

    `span` is the distance of a rectangle's edges before, at most; `outer` says that the edges themselves are new too.
    """

    parts: tuple[int, int]
    span: tuple[int, int]
    outer: bool
    probes: int

    @property
    def children(self) -> int:
        """Rectangles that one becomes."""
        return self.parts[0] * self.parts[1]

    @property
    def child_span(self) -> tuple[int, int]:
        """The distance of a child's edges, at most."""
        return -(-self.span[0] // self.parts[0]), -(-self.span[1] // self.parts[1])

    @property
    def most(self) -> tuple[int, int]:
        """Pixels of a level line between two upright ones, and of an upright line, at most."""
        return max(1, self.child_span[0] - 1), max(1, self.span[1] - 1 + 2 * self.outer)

    @property
    def slots(self) -> int:
        """Places that a rectangle has for pixels on its dividing lines and for its children's probes."""
        upright, level = (part - 1 + 2 * self.outer for part in self.parts)
        return upright * self.most[1] + level * self.parts[0] * self.most[0] + self.children * self.probes**2

    @property
    def inside(self) -> tuple[int, int]:
        """Columns and rows inside a child, at most."""
        return max(0, self.child_span[0] - 1), max(0, self.child_span[1] - 1)


def line(low: int, high: int, k: int, parts: int) -> int:
    """Return where line k of `parts` lies between two edges."""
    return low + (high - low) * k // parts


def levels(width: int, height: int, plan: Plan) -> Iterator[Level]:
    """Yield the divisions of a block, coarse to fine; of at least LEAST_SIDE pixels a side."""
    if min(width, height) < LEAST_SIDE:
        raise ValueError(f"a block of {width}x{height} is all border")
    span = width - 1, height - 1
    longest = max(span)
    first = max(1, min(plan.first, ((1 << 32) - 1) // longest))  # the kernels' products of both have 32 bits
    parts = tuple(max(1, min(round(side * first / longest), side // plan.smallest)) for side in span)
    level = Level((parts[0], parts[1]), span, outer=True, probes=plan.probes)
    yield level
    for _ in range(plan.depth - 1):
        span = level.child_span
        if min(span) // plan.split < plan.smallest:
            return
        level = Level((plan.split, plan.split), span, outer=False, probes=plan.probes)
        yield level
