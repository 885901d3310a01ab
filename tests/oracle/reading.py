"""What the oracles read of a job: exact numbers and names, none of the package's arithmetic."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from mandelcl.core.job import Job


@dataclass(frozen=True, slots=True)
class Step:
    """An operation by its name; one of `sqr`, `mul` and `rot` that `adds` is followed by c in the same operation.

    `turn` is the cosine and sine of a `rot`.
    """

    name: str
    adds: bool = False
    turn: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Formula:
    """The lines of a formula, of which step n takes line n modulo their number.

    `constant` is c for all pixels, which z₀ then is; where it is None, c is the pixel and z₀ is 0.
    """

    lines: tuple[tuple[Step, ...], ...]
    constant: tuple[Fraction, Fraction] | None = None

    def line(self, n: int) -> tuple[Step, ...]:
        return self.lines[n % len(self.lines)]


def formula(job: Job) -> Formula:
    """Return the job's formula, read from its text."""
    return Formula(lines(job.formula.text), job.formula.constant)


@cache
def lines(text: str) -> tuple[tuple[Step, ...], ...]:
    return tuple(tuple(_steps(line.split())) for line in text.split(" / "))


def _steps(words: list[str]) -> Iterator[Step]:
    while words:
        name, _, numbers = words.pop(0).partition(":")
        adds = name in ("sqr", "mul", "rot") and words[:1] == ["add"]
        if adds:
            words.pop(0)
        cosine, sine = (Fraction(part) for part in numbers.split(",")) if numbers else (Fraction(0), Fraction(0))
        yield Step(name, adds, (cosine, sine))


def matrix(job: Job) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return A, B, C, D: pixel (i, j) is anchor + (A·x + B·u, C·x + D·u), x = i − column and, upward, u = row − j."""
    a, b, c, d = job.view.lattice.matrix
    return a, -b, c, -d


def upright_pitch(job: Job) -> Fraction | None:
    """Return the distance between pixels where x leads along the real axis and u as far along the imaginary one."""
    a, b, c, d = matrix(job)
    return a if b == c == 0 and a == d > 0 else None
