"""A location in the terms of other programs' files: a centre, a zoom, and an orientation of the plane."""

from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.lattice import Lattice, Matrix
from mandelcl.base.rotation import cosine_and_sine
from mandelcl.base.view import View
from mandelcl.formulas import MANDELBROT, Formula

_POWER = Context(prec=40)
_MOST_STRETCH = 1000  # as a power of two: beyond it, a picture is a line
_IDENTITY = (Fraction(1), Fraction(0), Fraction(0), Fraction(1))


@dataclass(frozen=True, slots=True)
class Orientation:
    """The orientation of the plane in the picture.

    A step in pixels, to the right and down, is rotated clockwise by `rotation` degrees, so the picture shows the plane
    rotated counter-clockwise. Then it is stretched by 2^`stretch` along `direction` (degrees from the right, downward)
    and shrunk by as much across it. The imaginary axis points up, or down if the picture is `mirrored`.
    """

    rotation: Fraction = Fraction(0)
    stretch: Fraction = Fraction(0)
    direction: Fraction = Fraction(0)
    mirrored: bool = False

    def __post_init__(self) -> None:
        if abs(self.stretch) > _MOST_STRETCH:
            raise InvalidInputError(f"the stretch must be at most 2^{_MOST_STRETCH}")
        if not self.stretch:
            object.__setattr__(self, "direction", Fraction(0))

    def matrix(self) -> Matrix:
        """Return the matrix of one step to the next column and one to the next row, in pixels, as in `Lattice`."""
        a, b, c, d = _times(self._stretching(), _rotation(self.rotation))
        return (a, b, c, d) if self.mirrored else (a, b, -c, -d)

    def _stretching(self) -> Matrix:
        if not self.stretch:
            return _IDENTITY
        factor = _power_of_two(self.stretch)
        along = (factor, Fraction(0), Fraction(0), 1 / factor)
        return _times(_times(_rotation(self.direction), along), _rotation(-self.direction))


@dataclass(frozen=True, slots=True)
class ForeignPlace:
    """The description of a view in a file; None for values that the file leaves out.

    The picture is 4/`zoom` high. re + im·i is at its middle, or, if `on_pixel`, at the pixel right of and below the
    middle. `iterations` is the iteration limit, `radius` the escape radius, and `formula` the iterated formula. `notes`
    are sentences on what was not converted.
    """

    re: Fraction
    im: Fraction
    zoom: Fraction
    iterations: int | None = None
    size: tuple[int, int] | None = None
    radius: Fraction | None = None
    on_pixel: bool = False
    orientation: Orientation = field(default_factory=Orientation)
    notes: tuple[str, ...] = ()
    formula: Formula = MANDELBROT

    def __post_init__(self) -> None:
        if self.zoom <= 0:
            raise InvalidInputError("the zoom must be positive; the picture is 4/zoom high")

    def view(self, width: int, height: int) -> View:
        """Return the location as a view of this size in pixels. Raises InvalidInputError for a size without pixels."""
        pitch = Fraction(4) / self.zoom / max(1, height)
        a, b, c, d = (entry * pitch for entry in self.orientation.matrix())
        if self.on_pixel:
            return View(Lattice(self.re, self.im, (a, b, c, d), width // 2, height // 2), width, height)
        lattice = Lattice(self.re, self.im, (a, b, c, d))
        return View(lattice.shifted(Fraction(1 - width, 2), Fraction(1 - height, 2)), width, height)


def _rotation(degrees: Fraction) -> Matrix:
    cosine, sine = cosine_and_sine(degrees)
    return cosine, -sine, sine, cosine


def _times(first: Matrix, second: Matrix) -> Matrix:
    a, b, c, d = first
    e, f, g, h = second
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


def _power_of_two(exponent: Fraction) -> Fraction:
    """Return 2^exponent, to forty digits if it is irrational. Decimal arithmetic is the same on every machine."""
    if exponent.denominator == 1:
        return Fraction(2) ** exponent.numerator
    power = _POWER.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(_POWER.power(Decimal(2), power))
