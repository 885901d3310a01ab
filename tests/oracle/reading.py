"""What the oracles read of a job: exact numbers and names, none of the package's arithmetic."""

from dataclasses import dataclass
from fractions import Fraction

from mandelcl.job import Job


@dataclass(frozen=True, slots=True)
class Formula:
    """z² + c, or z³ + c if it `cubes`, where z is first replaced by |re z| + |im z|·i if it `folds`.

    `constant` is c for all pixels, which z₀ then is; where it is None, c is the pixel and z₀ is 0.
    """

    folds: bool = False
    cubes: bool = False
    constant: tuple[Fraction, Fraction] | None = None


def formula(job: Job) -> Formula:
    """Return the job's formula; raises ValueError for one that the oracles do not know."""
    name, parameters = job.formula.name, job.formula.parameters
    if name == "julia":
        return Formula(constant=parameters[0])
    if name in ("mandelbrot", "burning-ship", "multibrot-3"):
        return Formula(folds=name == "burning-ship", cubes=name == "multibrot-3")
    raise ValueError(f"no oracle for {name!r}")


def matrix(job: Job) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return A, B, C, D: pixel (i, j) is anchor + (A·x + B·u, C·x + D·u), x = i − column and, upward, u = row − j."""
    a, b, c, d = job.view.lattice.matrix
    return a, -b, c, -d


def upright_pitch(job: Job) -> Fraction | None:
    """Return the distance between pixels where x leads along the real axis and u as far along the imaginary one."""
    a, b, c, d = matrix(job)
    return a if b == c == 0 and a == d > 0 else None
