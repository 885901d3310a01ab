"""The reference of perturbation: the point whose orbit is computed exactly, and the radius in which it serves."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Self

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import exact, root_above, whole
from mandelcl.base.view import View

# The definitions of a reference's orbit: that of z² + c in stretches of fewer bits (perturbation/orbit.py), and that of
# any formula, exact and then rounded (perturbation/exact_orbit.py), with the nodes of a return map where z² + c has one
# (perturbation/map_orbit.py), and where it leaves that, with places that a step of it follows (mapped_places.py).
FIRST_VERSION, EXACT_VERSION, MAP_VERSION, MAPPED_VERSION = 1, 2, 3, 4
_RADIUS_BITS = 32
_MOST_BITS = 40


@dataclass(frozen=True, slots=True)
class Reference:
    """The point `re` + `im`·i beside which orbits are computed, for all points within `radius` of it.

    A step over many iterations leaves out terms below 2^(−2·`step_bits`) of what it keeps. Once an orbit is
    2^(−`tail_bits`) from the reference's, it is iterated as it is, not as a difference. `version` is that of the
    definition: equal references give equal counts. Bits that are 0 are left to the number, until they are resolved.
    Numbers may be Fractions, ints, decimal texts or floats. Raises InvalidInputError for values that make no sense.
    """

    re: Fraction
    im: Fraction
    radius: Fraction
    step_bits: int = 0
    tail_bits: int = 0
    version: int = EXACT_VERSION

    def __post_init__(self) -> None:
        for name in ("re", "im", "radius"):
            object.__setattr__(self, name, exact(getattr(self, name), f"the reference's {name}"))
        for name in ("step_bits", "tail_bits", "version"):
            object.__setattr__(self, name, whole(getattr(self, name), f"the reference's {name}"))
        if not FIRST_VERSION <= self.version <= MAPPED_VERSION:
            raise InvalidInputError(
                f"the reference has version {self.version}; this mandelcl knows {FIRST_VERSION} to {MAPPED_VERSION}"
            )
        if self.radius <= 0:
            raise InvalidInputError("the reference's radius must be positive")
        for name, bits in (("step_bits", self.step_bits), ("tail_bits", self.tail_bits)):
            if not 0 <= bits <= _MOST_BITS:
                raise InvalidInputError(f"the reference's {name} must be from 0 to {_MOST_BITS}, not {bits}")

    @classmethod
    def of(cls, view: View, step_bits: int = 0, tail_bits: int = 0) -> Self:
        """Return the reference in the middle of a view, whose radius reaches a pixel beyond its corners.

        So it serves finer levels and shifted samples of the view, too.
        """
        return cls(*_disc(view), step_bits, tail_bits)

    @property
    def tests_interior(self) -> bool:
        """Whether orbits end about which a disc maps into itself; those of return maps have a test of their own."""
        return self.version == EXACT_VERSION

    @property
    def may_have_mapped_places(self) -> bool:
        """Whether a step of a return map may follow places of the orbit."""
        return self.version == MAPPED_VERSION

    @property
    def may_have_map(self) -> bool:
        """Whether the orbit may have nodes of a return map, or places that a step of one follows."""
        return self.version >= MAP_VERSION

    def resolved(self, step_bits: int, tail_bits: int) -> Self:
        """Return the reference with these bits where it leaves them open."""
        return replace(self, step_bits=self.step_bits or step_bits, tail_bits=self.tail_bits or tail_bits)

    def reaches(self, view: View) -> bool:
        """Return whether all pixels of a view lie within the radius."""
        lattice = view.lattice
        values = (lattice.re - self.re, lattice.im - self.im, *lattice.matrix, self.radius)
        # Whole numbers, so that no sum is reduced: deep down that takes most of the time.
        unit = math.lcm(*(value.denominator for value in values))
        re, im, a, b, c, d, radius = (value.numerator * (unit // value.denominator) for value in values)
        columns = -lattice.column, view.width - 1 - lattice.column
        rows = -lattice.row, view.height - 1 - lattice.row
        corners = ((re + a * x + b * y, im + c * x + d * y) for x in columns for y in rows)
        return all(x * x + y * y <= radius * radius for x, y in corners)

    def distance_squared(self, other: "Reference") -> Fraction:
        """Return the square of the distance to another reference's point."""
        return (self.re - other.re) ** 2 + (self.im - other.im) ** 2


@lru_cache(maxsize=128)  # it is asked for several times while a job is resolved, and deep down that takes a while
def _disc(view: View) -> tuple[Fraction, Fraction, Fraction]:
    """Return the middle of a view, and a radius that reaches a pixel beyond its corners."""
    columns, rows = Fraction(view.width - 1, 2), Fraction(view.height - 1, 2)
    middle = view.lattice.shifted(columns - view.lattice.column, rows - view.lattice.row)
    a, b, c, d = middle.matrix
    across, down = columns + 1, rows + 1
    corners = ((a * across + b * y, c * across + d * y) for y in (-down, down))  # the others lie opposite
    farthest = max(x * x + y * y for x, y in corners)
    return middle.re, middle.im, rounded_up(root_above(farthest), _RADIUS_BITS)


def rounded_up(value: Fraction, bits: int) -> Fraction:
    """Return the least number with this many bits that is not less than a positive value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - bits
    scaled = value / Fraction(2) ** exponent
    return -(-scaled.numerator // scaled.denominator) * Fraction(2) ** exponent
