"""Where a film goes: from stop to stop, each leg a zoom about the one point that both stops show at the same place.

Zooming about that point keeps it where it is in the picture. So all frames of a leg are parts of one another, turned or
not, and so are its keyframes: each the nested lattice of the next.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Self

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import Exact, exact, floor_log2
from mandelcl.base.lattice import Lattice
from mandelcl.base.rotation import cosine_and_sine
from mandelcl.base.view import View

_PIVOT_BITS = 40  # of the height of the smaller picture, to which a pivot that is no stop's centre is rounded
_PITCH_BITS = 24  # of a distance between pixels: any number holds them, and those of half the distance
_LEAST_DOUBLINGS = 0.01
_MARGIN = 4  # pixels of a keyframe beyond the widest frame that is made of it, for filters

# A 2 × 2 matrix of floats, row by row.
Floats = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Stop:
    """A view on the way, of any shape: its middle, its zoom (it is 4/zoom high) and its rotation in degrees, exact."""

    re: Fraction
    im: Fraction
    zoom: Fraction
    rotation: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.zoom <= 0:
            raise InvalidInputError("the zoom must be positive; the picture is 4/zoom high")

    @classmethod
    def of(cls, re: Exact, im: Exact, zoom: Exact, rotation: Exact = 0) -> Self:
        """Return a stop of numbers as `View.centred` takes them."""
        return cls(exact(re, "center"), exact(im, "center"), exact(zoom, "zoom"), exact(rotation, "rotation"))

    def view(self, width: int, height: int) -> View:
        """Return what a frame of width × height pixels shows there."""
        return View.centred(self.re, self.im, self.zoom, width, height, self.rotation)


class Leg:
    """The way between two stops, and its keyframes: 0 is the widest, and each has half the pitch of the one before.

    Frames have the shape width : height, and `density` is the pixels of a keyframe in the height of the widest frame
    made of it, along a row or a column. Raises InvalidInputError where one stop does not lie in the other.
    """

    def __init__(self, start: Stop, end: Stop, width: int, height: int, density: int) -> None:
        self.inward = start.zoom <= end.zoom
        self.outer, self.inner = (start, end) if self.inward else (end, start)
        self.width, self.height, self.density = width, height, density
        self.doublings = log2(self.inner.zoom / self.outer.zoom)
        if self.doublings < _LEAST_DOUBLINGS:
            raise InvalidInputError("a film goes from one zoom to another; for views side by side, go by a wider one")
        self.turn = float(self.inner.rotation - self.outer.rotation)
        self.pivot = _pivot(self.outer, self.inner)
        # Where frames have the pivot: in heights, from the middle to the right and up.
        self.pivot_x, self.pivot_y = _seen(self.inner, self.pivot)
        if abs(self.pivot_x) > width / height / 2 or abs(self.pivot_y) > 0.5:
            raise InvalidInputError("one view does not lie in the other; go by a wider one that holds both (--via)")
        self.last = math.ceil(self.doublings - 1e-12)

    @property
    def keyframes(self) -> int:
        """How many keyframes it has."""
        return self.last + 1

    def level(self, travelled: float) -> float:
        """Return the place of a frame among keyframes, after so many doublings from the start of the leg.

        At level k a frame shows all of keyframe k, and at k + 1/2 an area half as large.
        """
        within = min(max(travelled, 0.0), self.doublings)
        return self.last - (self.doublings - within if self.inward else within)

    def keyframe(self, number: int) -> View:
        """Return the view of a keyframe; its anchor pixel is the pivot."""
        left, top, _, _ = self.reach
        a, b, c, d = (entry * Fraction(2) ** (self.last - number) for entry in self._matrix)
        return View(Lattice(*self.pivot, (a, b, c, d), left, top), *self.keyframe_size)

    @property
    def keyframe_size(self) -> tuple[int, int]:
        """Columns and rows of each keyframe."""
        left, top, right, bottom = self.reach
        return left + right + 1, top + bottom + 1

    def placement(self, level: float, number: int) -> tuple[Floats, tuple[float, float]]:
        """Return how the frame at a level lies on a keyframe: x ↦ matrix·x + offset, from pixel to pixel.

        Pixel (0, 0) of both has its middle at (0, 0), and x counts columns and rows. `number` is near the level.
        """
        a, b, c, d = self._per_height
        zoom = 2.0 ** (number - level)
        angle = math.radians(self.turn * (self.doublings - (self.last - level)) / self.doublings)
        cosine, sine = math.cos(angle) * zoom, math.sin(angle) * zoom
        # Along rows, downward: the picture turns with the plane behind it.
        xx, xy, yx, yy = cosine, -sine, sine, cosine
        full = a * xx + b * yx, a * xy + b * yy, c * xx + d * yx, c * xy + d * yy
        x0 = (0.5 - self.width / 2) / self.height - self.pivot_x
        y0 = (0.5 - self.height / 2) / self.height + self.pivot_y
        left, top, _, _ = self.reach
        offset = left + full[0] * x0 + full[1] * y0, top + full[2] * x0 + full[3] * y0
        p, q, r, s = (entry / self.height for entry in full)
        return (p, q, r, s), offset

    @cached_property
    def reach(self) -> tuple[int, int, int, int]:
        """How many columns and rows each keyframe has to the left of the pivot, above, to the right and below."""
        aspect = self.width / self.height
        corners = [(x - self.pivot_x, y + self.pivot_y) for x in (-aspect / 2, aspect / 2) for y in (-0.5, 0.5)]
        a, b, c, d = self._per_height
        if self.turn:
            radius = max(math.hypot(*corner) for corner in corners)
            wide = radius * max(math.hypot(a, b), math.hypot(c, d))
            side = math.ceil(wide) + _MARGIN
            return side, side, side, side
        columns = [a * x + b * y for x, y in corners]
        rows = [c * x + d * y for x, y in corners]
        sides = (-min(columns), -min(rows), max(columns), max(rows))
        left, top, right, bottom = (max(0, math.ceil(side - 1e-9)) + _MARGIN for side in sides)
        return left, top, right, bottom

    @cached_property
    def _matrix(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """The matrix of the deepest keyframe, with so few bits that every number holds it and its multiples exactly."""
        pitch = Fraction(4) / self.inner.zoom / self.density
        unit = Fraction(2) ** (floor_log2(pitch) - _PITCH_BITS + 1)
        ideal = Lattice.upright(0, 0, pitch).rotated(self.outer.rotation).matrix
        a, b, c, d = (math.floor(abs(entry) / unit) * unit * (1 if entry > 0 else -1) for entry in ideal)
        return a, b, c, d

    @cached_property
    def _per_height(self) -> Floats:
        """How many columns and rows of keyframe k a frame's height is, to the right and down, at level k."""
        height = Fraction(4) / self.inner.zoom
        e, f, g, h = Lattice.upright(0, 0, height).rotated(self.outer.rotation).matrix
        a, b, c, d = self._matrix
        area = a * d - b * c
        entries = (d * e - b * g, d * f - b * h, a * g - c * e, a * h - c * f)
        p, q, r, s = (float(entry / area) for entry in entries)
        return p, q, r, s


def legs_of(stops: Sequence[Stop], width: int, height: int, density: int) -> tuple[Leg, ...]:
    """Return the legs between stops; raises InvalidInputError where there are fewer than two, as `Leg` does."""
    if len(stops) < 2:
        raise InvalidInputError("a film goes from one view to another")
    return tuple(Leg(start, end, width, height, density) for start, end in pairwise(stops))


def log2(value: Fraction) -> float:
    """Return the logarithm of a positive number, however large."""
    whole = floor_log2(value)
    return whole + math.log2(value / Fraction(2) ** whole)


def _pivot(outer: Stop, inner: Stop) -> tuple[Fraction, Fraction]:
    """Return the point that two stops show at the same place: the fixed point of the map from one to the other.

    That map is p ↦ c + q·(p − c′) for their middles c and c′, q the ratio of their zooms, turned.
    """
    re, im = inner.re - outer.re, inner.im - outer.im
    if re == im == 0:
        return inner.re, inner.im
    ratio = outer.zoom / inner.zoom
    cosine, sine = cosine_and_sine(inner.rotation - outer.rotation)
    x, y = ratio * cosine, -ratio * sine  # q
    # q/(1 − q) times the difference of the middles, from the inner one
    size = (1 - x) ** 2 + y * y
    u, v = (x * (1 - x) - y * y) / size, y / size
    unit = Fraction(2) ** (floor_log2(4 / inner.zoom) - _PIVOT_BITS)
    return (
        round((inner.re + u * re - v * im) / unit) * unit,
        round((inner.im + u * im + v * re) / unit) * unit,
    )


def _seen(stop: Stop, point: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """Return where a stop shows a point, in heights of its picture from the middle to the right and up."""
    cosine, sine = cosine_and_sine(stop.rotation)
    re, im = ((point[0] - stop.re) * stop.zoom / 4, (point[1] - stop.im) * stop.zoom / 4)
    return float(re * cosine - im * sine), float(im * cosine + re * sine)
