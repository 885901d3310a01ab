"""The path of a film from stop to stop. Each leg zooms about the one point that both its stops show at the same place.

Zooming about that point keeps it fixed in the picture. So all frames of a leg are nested in one another, rotated or
not, and so are its keyframes: the lattice of each one is nested in that of the next.
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

_PIVOT_BITS = 40  # a pivot that is not a stop's centre is rounded to 2^−40 of the smaller picture's height
_PITCH_BITS = 24  # of the distance between pixels: every number format holds them, and those of half the distance
_LEAST_DOUBLINGS = 0.01
_MARGIN = 4  # pixels of a keyframe beyond its widest frame, for filters

# A 2 × 2 matrix of floats, row by row.
Floats = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Stop:
    """A view of any aspect ratio on the way: its exact centre, zoom (it is 4/zoom high) and rotation in degrees."""

    re: Fraction
    im: Fraction
    zoom: Fraction
    rotation: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.zoom <= 0:
            raise InvalidInputError("the zoom must be positive; the picture is 4/zoom high")

    @classmethod
    def of(cls, re: Exact, im: Exact, zoom: Exact, rotation: Exact = 0) -> Self:
        """Return a stop from numbers in the forms that `View.centred` takes."""
        return cls(exact(re, "center"), exact(im, "center"), exact(zoom, "zoom"), exact(rotation, "rotation"))

    def view(self, width: int, height: int) -> View:
        """Return the view of a frame of width × height pixels at this stop."""
        return View.centred(self.re, self.im, self.zoom, width, height, self.rotation)


class Leg:
    """The way between two stops, and its keyframes: 0 is the widest, and each has half the pitch of the one before.

    Frames have the aspect ratio width : height. `density` is the number of keyframe pixels in the height of the widest
    frame made from it, along a row or a column. Raises InvalidInputError if one stop does not lie in the other.
    """

    def __init__(self, start: Stop, end: Stop, width: int, height: int, density: int) -> None:
        self.inward = start.zoom <= end.zoom
        self.outer, self.inner = (start, end) if self.inward else (end, start)
        self.width, self.height, self.density = width, height, density
        self.doublings = log2(self.inner.zoom / self.outer.zoom)
        if self.doublings < _LEAST_DOUBLINGS:
            raise InvalidInputError("both views have the same zoom; add a wider view between them (--via)")
        self.rotation = float(self.inner.rotation - self.outer.rotation)
        self.pivot = _pivot(self.outer, self.inner)
        # The pivot's position in frames: in heights, from the middle to the right and up.
        self.pivot_x, self.pivot_y = _seen(self.inner, self.pivot)
        if abs(self.pivot_x) > width / height / 2 or abs(self.pivot_y) > 0.5:
            raise InvalidInputError("one view does not lie in the other; add a wider view that contains both (--via)")
        self.last = math.ceil(self.doublings - 1e-12)

    @property
    def keyframes(self) -> int:
        """The number of keyframes."""
        return self.last + 1

    def level(self, travelled: float) -> float:
        """Return the level of a frame among the keyframes, after `travelled` doublings from the start of the leg.

        At level k a frame shows all of keyframe k, and at k + 1/2 an area half as large.
        """
        within = min(max(travelled, 0.0), self.doublings)
        return self.last - (self.doublings - within if self.inward else within)

    def keyframe(self, number: int) -> View:
        """Return the view of a keyframe. Its anchor pixel is the pivot."""
        left, top, _, _ = self.reach
        a, b, c, d = (entry * Fraction(2) ** (self.last - number) for entry in self._matrix)
        return View(Lattice(*self.pivot, (a, b, c, d), left, top), *self.keyframe_size)

    @property
    def keyframe_size(self) -> tuple[int, int]:
        """The columns and rows of each keyframe."""
        left, top, right, bottom = self.reach
        return left + right + 1, top + bottom + 1

    def placement(self, level: float, number: int) -> tuple[Floats, tuple[float, float]]:
        """Return the placement of a frame at a level on a keyframe: x ↦ matrix·x + offset, from pixels to pixels.

        The centre of pixel (0, 0) of both is (0, 0), and x counts columns and rows. `number` is near the level.
        """
        a, b, c, d = self._per_height
        zoom = 2.0 ** (number - level)
        angle = math.radians(self.rotation * (self.doublings - (self.last - level)) / self.doublings)
        cosine, sine = math.cos(angle) * zoom, math.sin(angle) * zoom
        # Along rows, downward: the picture rotates relative to the plane.
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
        """The columns and rows of each keyframe to the left of the pivot, above it, to the right and below."""
        aspect = self.width / self.height
        corners = [(x - self.pivot_x, y + self.pivot_y) for x in (-aspect / 2, aspect / 2) for y in (-0.5, 0.5)]
        a, b, c, d = self._per_height
        if self.rotation:
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
        """The matrix of the deepest keyframe, with so few bits that every number format holds its multiples exactly."""
        pitch = Fraction(4) / self.inner.zoom / self.density
        unit = Fraction(2) ** (floor_log2(pitch) - _PITCH_BITS + 1)
        ideal = Lattice.upright(0, 0, pitch).rotated(self.outer.rotation).matrix
        a, b, c, d = (math.floor(abs(entry) / unit) * unit * (1 if entry > 0 else -1) for entry in ideal)
        return a, b, c, d

    @cached_property
    def _per_height(self) -> Floats:
        """The height of a frame at level k in columns and rows of keyframe k, to the right and down."""
        height = Fraction(4) / self.inner.zoom
        e, f, g, h = Lattice.upright(0, 0, height).rotated(self.outer.rotation).matrix
        a, b, c, d = self._matrix
        area = a * d - b * c
        entries = (d * e - b * g, d * f - b * h, a * g - c * e, a * h - c * f)
        p, q, r, s = (float(entry / area) for entry in entries)
        return p, q, r, s


def legs_of(stops: Sequence[Stop], width: int, height: int, density: int) -> tuple[Leg, ...]:
    """Return the legs between stops. Raises InvalidInputError for fewer than two stops, and the errors of `Leg`."""
    if len(stops) < 2:
        raise InvalidInputError("a film needs at least two views")
    return tuple(Leg(start, end, width, height, density) for start, end in pairwise(stops))


def log2(value: Fraction) -> float:
    """Return the base-2 logarithm of a positive number of any size."""
    whole = floor_log2(value)
    return whole + math.log2(value / Fraction(2) ** whole)


def _pivot(outer: Stop, inner: Stop) -> tuple[Fraction, Fraction]:
    """Return the point that two stops show at the same place: the fixed point of the map from one to the other.

    The map is p ↦ c + q·(p − c′) for their centres c and c′, where q is the ratio of their zooms, rotated.
    """
    re, im = inner.re - outer.re, inner.im - outer.im
    if re == im == 0:
        return inner.re, inner.im
    ratio = outer.zoom / inner.zoom
    cosine, sine = cosine_and_sine(inner.rotation - outer.rotation)
    x, y = ratio * cosine, -ratio * sine  # q
    # q/(1 − q) times the difference of the centres, from the inner one
    size = (1 - x) ** 2 + y * y
    u, v = (x * (1 - x) - y * y) / size, y / size
    unit = Fraction(2) ** (floor_log2(4 / inner.zoom) - _PIVOT_BITS)
    return (
        round((inner.re + u * re - v * im) / unit) * unit,
        round((inner.im + u * im + v * re) / unit) * unit,
    )


def _seen(stop: Stop, point: tuple[Fraction, Fraction]) -> tuple[float, float]:
    """Return where a stop shows a point, in heights of its picture from the middle, to the right and up."""
    cosine, sine = cosine_and_sine(stop.rotation)
    re, im = ((point[0] - stop.re) * stop.zoom / 4, (point[1] - stop.im) * stop.zoom / 4)
    return float(re * cosine - im * sine), float(im * cosine + re * sine)
