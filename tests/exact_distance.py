"""How far a computed orbit is from the exact one where it escapes, in as many bits as that takes."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context

from mandelcl.perturbation.bounded import BoundedOrbit, End
from mandelcl.perturbation.counting import CountTask
from mandelcl.perturbation.exact import exact_count
from mandelcl.perturbation.integers import integers_for

_FINER_BITS = 64
_EXACT_SHARE = 1 << 10  # of a bound: how near the exact orbit is known at least


@dataclass(frozen=True, slots=True)
class Computed:
    """A pixel: its point, its count, and for one that escaped z there with the bound on its error."""

    point: tuple[Fraction, Fraction]
    count: int
    z: tuple[float, float] | None
    bound: float


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether the count is exact, and the error of z over its bound; 0 for pixels that did not escape."""

    right: bool
    ratio: float


def check_all(task: CountTask, pixels: Iterable[Computed], processes: int) -> list[Checked]:
    """Return what each pixel is found to be, computed by so many processes."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return list(pool.map(_check, [(task, pixel) for pixel in pixels], chunksize=8))


def _check(question: tuple[CountTask, Computed]) -> Checked:
    task, pixel = question
    if pixel.z is None:
        return Checked(exact_count(pixel.point, task.iterations, task.radius_squared, task.bits) == pixel.count, 0.0)
    bits, bound = task.bits, Fraction(pixel.bound)
    while True:
        orbit = BoundedOrbit(pixel.point, bits, task.radius_squared, lambda _done: True, 0, integers_for(bits))
        if _escaped(orbit, task.iterations):
            error = Fraction(orbit.error, 1 << bits)
            if orbit.n != pixel.count:
                return Checked(False, _ratio(orbit.place, bits, pixel.z, bound))
            if error * _EXACT_SHARE <= bound:
                return Checked(True, _ratio(orbit.place, bits, pixel.z, bound))
        elif orbit.n >= task.iterations:
            return Checked(False, float("inf"))
        bits += _FINER_BITS


def _escaped(orbit: BoundedOrbit, iterations: int) -> bool:
    """Follow an orbit to where it escapes; return whether that is known before the iteration limit."""
    while orbit.n < iterations:
        end = orbit.follow(iterations)
        if end is not None:
            return end is End.ESCAPED
    return False


def _ratio(place: Sequence[int], bits: int, z: Sequence[float], bound: Fraction) -> float:
    """Return how far z is from a place in units of 2^−bits, over a bound."""
    re, im = (
        float((Fraction(part) - Fraction(int(exact), 1 << bits)) / bound) for part, exact in zip(z, place, strict=True)
    )
    return float((re * re + im * im) ** 0.5)
