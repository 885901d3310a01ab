"""Reference orbits that no cache has seen, by the definition of the reference's version."""

from fractions import Fraction

from mandelcl.core.reference import FIRST_VERSION, Reference
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.orbit import Orbit, reference_orbit


def computed_orbit(
    reference: Reference,
    max_iterations: int,
    radius_squared: Fraction = Fraction(4),
    *,
    formula: Formula = MANDELBROT,
    phase: int = 0,
) -> Orbit:
    """Return the orbit of a reference, computed in this process."""
    if reference.version == FIRST_VERSION:
        return reference_orbit(reference, max_iterations, radius_squared)
    return exact_orbit(reference, formula, phase, max_iterations, radius_squared)
