"""The map from pixels to points of the plane: an exact affine lattice without edges.

Pixel (i, j) is column i and row j, rows counted downward. Parts, levels and shifted samples of a lattice are lattices
again, and share its points exactly: every second pixel of `finer()` is the lattice itself.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import Exact, exact, floor_log2, root_above, root_below, whole
from mandelcl.base.rotation import cosine_and_sine
from mandelcl.base.text import quoted

Matrix = tuple[Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Lattice:
    """Pixel (i, j) lies at re + im·√−1 + matrix·(i − column, j − row).

    `matrix` is (re by column, re by row, im by column, im by row): how far a step of a column or of a row leads. The
    anchor pixel (`column`, `row`), which may lie outside every picture, is exactly on the anchor. All numbers are
    exact; they are kept as Fractions and ints. Raises InvalidInputError if the matrix leads nowhere, and for what
    is no number.
    """

    re: Fraction
    im: Fraction
    matrix: Matrix
    column: int = 0
    row: int = 0

    def __post_init__(self) -> None:
        matrix: object = self.matrix
        if not isinstance(matrix, tuple | list) or len(matrix) != 4:
            raise InvalidInputError(f"a lattice's matrix must be four numbers, not {quoted(matrix)}")
        object.__setattr__(self, "re", exact(self.re, "the anchor"))
        object.__setattr__(self, "im", exact(self.im, "the anchor"))
        object.__setattr__(self, "matrix", tuple(exact(entry, "an entry of the matrix") for entry in matrix))
        object.__setattr__(self, "column", whole(self.column, "the anchor's column"))
        object.__setattr__(self, "row", whole(self.row, "the anchor's row"))
        if self.determinant == 0:
            raise InvalidInputError("the distance between pixels must be positive; is the zoom or region empty?")

    @classmethod
    def upright(cls, re: Exact, im: Exact, pitch: Exact, column: int = 0, row: int = 0) -> Self:
        """Return the lattice with the real axis to the right, the imaginary axis up, and `pitch` between pixels."""
        distance = exact(pitch, "the distance between pixels")
        if distance <= 0:
            raise InvalidInputError("the distance between pixels must be positive; is the zoom or region empty?")
        zero = Fraction(0)
        return cls(exact(re, "the anchor"), exact(im, "the anchor"), (distance, zero, zero, -distance), column, row)

    def rotated(self, degrees: Exact) -> Self:
        """Return the lattice that shows the plane turned counter-clockwise about the anchor by an angle."""
        cosine, sine = cosine_and_sine(exact(degrees, "rotation"))
        # The plane rotates one way if the step of a pixel rotates the other way: by cos − sin·√−1.
        a, b, c, d = self.matrix
        turned = (cosine * a + sine * c, cosine * b + sine * d, cosine * c - sine * a, cosine * d - sine * b)
        return replace(self, matrix=turned)

    def stretched(self, matrix: Matrix) -> Self:
        """Return the lattice whose steps are turned into others by a matrix of the plane, about the anchor."""
        (k, m, n, o), (a, b, c, d) = matrix, self.matrix
        return replace(self, matrix=(k * a + m * c, k * b + m * d, n * a + o * c, n * b + o * d))

    @property
    def determinant(self) -> Fraction:
        """The determinant of the matrix; negative where the imaginary axis is up."""
        a, b, c, d = self.matrix
        return a * d - b * c

    @property
    def is_upright(self) -> bool:
        """Whether columns follow the real axis and rows the imaginary one, downward, at the same distance."""
        a, b, c, d = self.matrix
        return b == c == 0 and a == -d > 0

    @property
    def pitch(self) -> Fraction:
        """The least distance between two pixels, or a little less if it is not a ratio."""
        if self.is_upright:
            return self.matrix[0]
        a, b, c, d = self.matrix
        # Of a reduced basis the shortest vector is a side; of any, none is shorter than the area by the longest side.
        sides = (a * a + c * c, b * b + d * d, (a + b) ** 2 + (c + d) ** 2, (a - b) ** 2 + (c - d) ** 2)
        least = self.determinant**2 / max(sides[:2])
        dot = abs(a * b + c * d)
        return root_below(min(sides) if 2 * dot <= min(sides[:2]) else least)

    @property
    def scale(self) -> int:
        """The k for which the pitch times 2^k is from 1 to 2."""
        return -floor_log2(self.pitch)

    @property
    def stretch(self) -> Fraction:
        """A bound of how far a step of length 1 in pixels leads; the pitch itself for an upright lattice."""
        if self.is_upright:
            return self.matrix[0]
        a, b, c, d = self.matrix
        conformal = a * a + c * c == b * b + d * d and a * b + c * d == 0
        squares = a * a + c * c if conformal else a * a + b * b + c * c + d * d
        return root_above(squares)

    def point(self, column: int, row: int) -> tuple[Fraction, Fraction]:
        """Return the exact (re, im) of a pixel."""
        a, b, c, d = self.matrix
        x, y = whole(column, "a column") - self.column, whole(row, "a row") - self.row
        return self.re + a * x + b * y, self.im + c * x + d * y

    def pixel_at(self, re: Fraction, im: Fraction) -> tuple[Fraction, Fraction]:
        """Return (column, row) of a point, in general between pixels."""
        a, b, c, d = self.matrix
        x, y, area = re - self.re, im - self.im, self.determinant
        return self.column + (d * x - b * y) / area, self.row + (a * y - c * x) / area

    def moved(self, columns: int, rows: int) -> Self:
        """Return the lattice counted from another pixel: its (0, 0) is this one's (columns, rows)."""
        column, row = self.column - whole(columns, "a column"), self.row - whole(rows, "a row")
        return replace(self, column=column, row=row)

    def anchored(self, column: int, row: int) -> Self:
        """Return the same points with another pixel as the anchor, from which a number that rounds counts its steps."""
        re, im = self.point(column, row)
        return replace(self, re=re, im=im, column=column, row=row)

    def finer(self, factor: int = 2) -> Self:
        """Return the lattice with `factor` times as many columns and rows: its pixel (factor·i, factor·j) is (i, j)."""
        factor = factor_of(factor)
        a, b, c, d = (entry / factor for entry in self.matrix)
        return replace(self, matrix=(a, b, c, d), column=self.column * factor, row=self.row * factor)

    def coarser(self, factor: int = 2) -> Self:
        """Return every `factor`th column and row, counted from pixel (0, 0): its pixel (i, j) is (factor·i, factor·j).

        The anchor becomes the new pixel (0, 0) where the old one is between two of those that stay.
        """
        factor = factor_of(factor)
        a, b, c, d = (entry * factor for entry in self.matrix)
        if self.column % factor or self.row % factor:
            re, im = self.point(0, 0)
            return replace(self, re=re, im=im, matrix=(a, b, c, d), column=0, row=0)
        return replace(self, matrix=(a, b, c, d), column=self.column // factor, row=self.row // factor)

    def shifted(self, columns: Exact, rows: Exact) -> Self:
        """Return the lattice moved by exact parts of a pixel, as a further sample of each pixel."""
        a, b, c, d = self.matrix
        x, y = exact(columns), exact(rows)
        return replace(self, re=self.re + a * x + b * y, im=self.im + c * x + d * y)


def factor_of(value: object) -> int:
    """Return by how much a lattice is to be finer or coarser; raises InvalidInputError for what is no such factor."""
    factor = whole(value, "a factor")
    if factor < 1:
        raise InvalidInputError(f"a lattice is made finer or coarser by a factor of at least 1, not {quoted(factor)}")
    return factor
