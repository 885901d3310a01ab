"""The named formulas: their lines, and a view that shows each as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mandelcl.formulas import reading
from mandelcl.formulas.line import Line


@dataclass(frozen=True, slots=True)
class Named:
    """A formula's name, its lines, what it is in short, and centre and zoom of a view of all of its set from 0."""

    name: str
    text: str
    summary: str
    home: tuple[str, str, str]

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its lines."""
        return reading.lines(self.text)


_ALL = (
    Named("mandelbrot", "sqr add", "z² + c", ("-0.75", "0", "1.6")),
    # The burning ship (Michelitsch and Rössler, 1992), and others with the imaginary axis upward, as everywhere: the
    # ship that is known from pictures lies upside down.
    Named("burning-ship", "absx absy sqr add", "(|re z| + |im z|·i)² + c", ("-0.45", "-0.5", "1.25")),
    Named("tricorn", "negy sqr add", "(re z − im z·i)² + c", ("-0.25", "0", "1.05")),
    Named("celtic", "sqr absx add", "|re z²| + im z²·i + c", ("-0.75", "0", "1")),
    Named("buffalo", "sqr absx absy add", "|re z²| + |im z²|·i + c", ("-0.8", "-0.4", "1.25")),
    Named("perpendicular", "absx negy sqr add", "(|re z| − im z·i)² + c", ("-0.75", "0", "1.25")),
    Named("perpendicular-burning-ship", "absy negy sqr add", "(re z − |im z|·i)² + c", ("-0.75", "0", "1.25")),
    Named("perpendicular-celtic", "absx negy sqr absx add", "(|re z| − im z·i)², |re|, + c", ("-0.75", "0", "1.25")),
    Named("perpendicular-buffalo", "absy negy sqr absx add", "(re z − |im z|·i)², |re|, + c", ("-0.75", "0", "1.25")),
    Named("multibrot-3", "store sqr mul add", "z³ + c", ("0", "0", "1.4")),
    Named("multibrot-4", "sqr sqr add", "z⁴ + c", ("0", "0", "1.4")),
    Named("multibrot-5", "store sqr sqr mul add", "z⁵ + c", ("0", "0", "1.4")),
    Named("multibrot-6", "store sqr mul sqr add", "z⁶ + c", ("0", "0", "1.4")),
    Named("multibrot-7", "store sqr mul sqr mul add", "z⁷ + c", ("0", "0", "1.4")),
    Named("multibrot-8", "sqr sqr sqr add", "z⁸ + c", ("0", "0", "1.4")),
)
NAMED: Mapping[str, Named] = MappingProxyType({named.name: named for named in _ALL})
BY_LINES: Mapping[tuple[Line, ...], Named] = MappingProxyType({named.lines: named for named in _ALL})
# What other programs and people call them.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "mandelbar": "tricorn",
        "ship": "burning-ship",
        "multibrot": "multibrot-3",
        "cubic": "multibrot-3",
        "quartic": "multibrot-4",
        "quintic": "multibrot-5",
    }
)
