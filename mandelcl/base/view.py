"""A view: a lattice with a width and a height."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.exact import Exact, about, exact, whole
from mandelcl.base.lattice import Lattice, Matrix, factor_of
from mandelcl.base.text import quoted

_MAX_SIDE = 1 << 31


@dataclass(frozen=True, slots=True)
class View:
    """The pixels (0, 0) to (width − 1, height − 1) of a lattice; row 0 is the top.

    Raises InvalidInputError for a size without pixels or beyond what a picture may have.
    """

    lattice: Lattice
    width: int
    height: int

    def __post_init__(self) -> None:
        require_type(self.lattice, Lattice, "a view's lattice")
        width, height = _size(self.width, self.height)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "height", height)
        if self.largest_offset >= _MAX_SIDE:
            raise InvalidInputError(f"the anchor pixel is beyond {_MAX_SIDE - 1} pixels from the picture")

    @classmethod
    def upright(
        cls, re: Exact, im: Exact, pitch: Exact, width: int, height: int, column: int = 0, row: int = 0
    ) -> Self:
        """Return the upright view in which pixel (column, row) is re + im·i, and pixels are `pitch` apart."""
        return cls(Lattice.upright(re, im, pitch, column, row), width, height)

    @classmethod
    def centred(cls, re: Exact, im: Exact, zoom: Exact, width: int, height: int, rotation: Exact = 0) -> Self:
        """Return the view whose middle is re + im·i and whose height is 4/zoom.

        It shows the plane turned counter-clockwise by `rotation` degrees. Numbers may be Fractions, ints, decimal
        texts or floats; a float counts as the binary fraction that it is.
        """
        width, height = _size(width, height)
        zoom = exact(zoom, "zoom")
        if zoom <= 0:
            raise InvalidInputError("the zoom must be positive; the picture is 4/zoom high")
        middle = Lattice.upright(exact(re, "center"), exact(im, "center"), Fraction(4) / zoom / height)
        degrees = exact(rotation, "rotation")
        if degrees:
            middle = middle.rotated(degrees)
        return cls(middle.shifted(Fraction(1 - width, 2), Fraction(1 - height, 2)), width, height)

    @classmethod
    def region(
        cls, xmin: Exact, xmax: Exact, ymin: Exact, ymax: Exact, width: int, height: int, rotation: Exact = 0
    ) -> Self:
        """Return the view whose outer edges, before it is turned, are the given ones; its shape must be the picture's.

        Numbers and `rotation` are as for `centred`.
        """
        width, height = _size(width, height)
        xmin, xmax, ymin, ymax = (exact(edge, "region edge") for edge in (xmin, xmax, ymin, ymax))
        if xmax <= xmin or ymax <= ymin:
            raise InvalidInputError("the region is empty; give XMIN XMAX YMIN YMAX, each minimum below its maximum")
        wide, high = xmax - xmin, ymax - ymin
        if wide * height != high * width:
            raise InvalidInputError(
                f"a region of shape {about(wide / high)} (width/height) does not fill {width}x{height}; "
                + _fitting_size(wide / high, width)
            )
        return cls.centred((xmin + xmax) / 2, (ymin + ymax) / 2, 4 / high, width, height, rotation)

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        return self.width * self.height

    @property
    def pitch(self) -> Fraction:
        """The least distance between two pixels."""
        return self.lattice.pitch

    def point(self, column: int, row: int) -> tuple[Fraction, Fraction]:
        """Return the exact (re, im) of a pixel."""
        return self.lattice.point(column, row)

    def part(self, x: int, y: int, width: int, height: int) -> Self:
        """Return the view of some of the lattice's pixels, from column x and row y on, even outside this view."""
        return type(self)(self.lattice.moved(x, y), width, height)

    def finer(self, factor: int = 2) -> Self:
        """Return the same part of the plane with `factor` times as many columns and rows."""
        factor = factor_of(factor)
        return type(self)(self.lattice.finer(factor), self.width * factor, self.height * factor)

    def coarser(self, factor: int = 2) -> Self:
        """Return every `factor`th column and row, from the first on."""
        factor = factor_of(factor)
        size = (max(1, -(-side // factor)) for side in (self.width, self.height))
        return type(self)(self.lattice.coarser(factor), *size)

    def tile(self, column: int, row: int, side: int) -> Self:
        """Return a tile of the lattice: `side` pixels square, numbered from pixel (0, 0) to the right and down."""
        column, row, side = whole(column, "a column"), whole(row, "a row"), whole(side, "a tile's side")
        return self.part(column * side, row * side, side, side)

    def shifted(self, columns: Exact, rows: Exact) -> Self:
        """Return the view with each pixel's sample moved by exact parts of a pixel."""
        return type(self)(self.lattice.shifted(columns, rows), self.width, self.height)

    def stretched(self, matrix: Matrix) -> Self:
        """Return the view about the same middle with its lattice stretched by a matrix of the plane."""
        columns = Fraction(self.width - 1, 2) - self.lattice.column
        rows = Fraction(self.height - 1, 2) - self.lattice.row
        middle = self.lattice.shifted(columns, rows).stretched(matrix)
        return type(self)(middle.shifted(-columns, -rows), self.width, self.height)

    @property
    def largest_offset(self) -> int:
        """Largest number of columns or rows between the anchor pixel and a pixel of the picture."""
        columns = max(abs(self.lattice.column), abs(self.width - 1 - self.lattice.column))
        return max(columns, abs(self.lattice.row), abs(self.height - 1 - self.lattice.row))

    def largest_coordinate(self) -> Fraction:
        """Return the largest |re| or |im| of any pixel."""
        return _largest_coordinate(self)


@lru_cache(maxsize=128)  # resolving a job asks for it many times, and at depth it is slow
def _largest_coordinate(view: View) -> Fraction:
    right, bottom = view.width - 1, view.height - 1
    corners = (view.point(0, 0), view.point(right, 0), view.point(0, bottom), view.point(right, bottom))
    return max(abs(part) for corner in corners for part in corner)


def _size(width: object, height: object) -> tuple[int, int]:
    """Return width and height as ints. Raises InvalidInputError if they are not the size of a picture."""
    wide, high = whole(width, "the width"), whole(height, "the height")
    size = f"size {quoted(wide)}x{quoted(high)}"
    if wide < 1 or high < 1:
        raise InvalidInputError(f"{size} has no pixels; give at least 1x1")
    if max(wide, high) >= _MAX_SIDE:
        raise InvalidInputError(f"{size} is beyond {_MAX_SIDE - 1} pixels a side")
    return wide, high


def _fitting_size(shape: Fraction, width: int) -> str:
    """Say which size has exactly the region's shape: the one nearest to the width asked for."""
    scale = max(1, round(Fraction(width, shape.numerator)))
    fitting = scale * shape.numerator, scale * shape.denominator
    if shape.numerator <= 4 * width and max(fitting) < _MAX_SIDE:
        return f"try --size {fitting[0]}x{fitting[1]}"
    height = min(max(1, round(width / shape)), _MAX_SIDE - 1)
    return f"no size near that width fits exactly; change the region to the shape of {width}x{height}"
