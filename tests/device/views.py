"""Places where a kernel, a boundary or an arithmetic can go wrong, as views of any size."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from random import Random

from mandelcl.base.view import View
from mandelcl.core.numbers import NumberFormat

Sized = Callable[[int, int], View]


def whole(width: int, height: int) -> View:
    return View.centred(Fraction("-0.75"), Fraction(0), Fraction(8, 5), width, height)


def mini_set(width: int, height: int) -> View:
    """Mini Set 1 of the multiprecision article; its pitch is 3.75e-5 at 2048²."""
    zoom = Fraction(4) / (Fraction("3.75e-5") * 2048)
    return View.centred(Fraction("-0.15710375803"), Fraction("1.03258348530"), zoom, width, height)


def seahorses(width: int, height: int) -> View:
    return View.centred(Fraction("-0.7436"), Fraction("0.1318"), Fraction(400), width, height)


def real_axis(width: int, height: int) -> View:
    """With an odd height a row lies on the axis, with an even one two lie beside it."""
    return View.centred(Fraction("-1.76"), Fraction(0), Fraction(300), width, height)


PLACES: dict[str, Sized] = {
    "whole set": whole,
    "mini set 1": mini_set,
    "seahorse valley": seahorses,
    "real axis": real_axis,
}

_DEEP = {
    "spiral": (Fraction("-0.743643887037158704752191506114774"), Fraction("0.131825904205311970493132056385139")),
    "near -2": (Fraction("-1.99999911758766165543764649311537154663"), Fraction("1e-4")),
    "misiurewicz": (Fraction("-0.77568377"), Fraction("0.13646737")),
}


@cache
def deepest(number: NumberFormat, name: str, width: int, height: int, max_iterations: int) -> View:
    """Return the deepest view of a place, by doublings, that a number resolves at an iteration limit."""
    re, im = _DEEP[name]
    zoom = Fraction(1)
    while number.unresolved(View.centred(re, im, 2 * zoom, width, height), max_iterations) is None:
        zoom *= 2
    return View.centred(re, im, zoom, width, height)


DEEP = tuple(_DEEP)


def random_views(seed: int, total: int, width: int, height: int, degree: int = 2) -> Iterator[tuple[View, int]]:
    """Yield views on the edge of the set, from all of it to where double ends, each with a limit: the same for a seed.

    Zooms are even on a scale of ten, and so are limits, from 50 to 10 000. The set is that of z² + c, or of z³ + c.
    """
    random = Random(seed)
    for _ in range(total):
        zoom = 10 ** random.uniform(0, 11)
        middle = _on_edge(random, 0.2 / zoom, degree)
        max_iterations = int(10 ** random.uniform(1.7, 4))
        yield View.centred(Fraction(middle.real), Fraction(middle.imag), Fraction(zoom), width, height), max_iterations


def _on_edge(random: Random, near: float, degree: int) -> complex:
    """Return a point that leaves soon, at most so far from one that stays."""
    outside = complex(random.uniform(-2.2, 0.8), random.uniform(-1.4, 1.4))
    while _stays(outside, degree):
        outside = complex(random.uniform(-2.2, 0.8), random.uniform(-1.4, 1.4))
    inside = complex(random.uniform(-2, 0.5), random.uniform(-1.2, 1.2))
    while not _stays(inside, degree):
        inside = complex(random.uniform(-2, 0.5), random.uniform(-1.2, 1.2))
    for _ in range(60):
        if abs(outside - inside) <= near:
            break
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if _stays(middle, degree) else (inside, middle)
    return outside


def _stays(c: complex, degree: int) -> bool:
    z = 0j
    for _ in range(1000):
        z = z * z * z + c if degree == 3 else z * z + c
        if abs(z) > 2:
            return False
    return True
