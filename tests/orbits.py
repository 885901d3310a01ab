"""Reference orbits of z² + c that no cache has seen, by the definition of the reference's version."""

from fractions import Fraction

from mandelcl.core.reference import FIRST_VERSION, Reference
from mandelcl.formulas import MANDELBROT
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.orbit import Orbit, reference_orbit


def computed_orbit(reference: Reference, max_iterations: int, radius_squared: Fraction = Fraction(4)) -> Orbit:
    """Return the orbit of a reference, computed in this process."""
    if reference.version == FIRST_VERSION:
        return reference_orbit(reference, max_iterations, radius_squared)
    return exact_orbit(reference, MANDELBROT, 0, max_iterations, radius_squared)
