"""Places where a kernel, a boundary or an arithmetic can go wrong, as views of any size."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from mandelcl.numbers import NumberFormat
from mandelcl.view import View

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
def deepest(number: NumberFormat, name: str, width: int, height: int, cap: int) -> View:
    """Return the deepest view of a place, by doublings, that a number resolves at a cap."""
    re, im = _DEEP[name]
    zoom = Fraction(1)
    while number.unresolved(View.centred(re, im, 2 * zoom, width, height), cap) is None:
        zoom *= 2
    return View.centred(re, im, zoom, width, height)


DEEP = tuple(_DEEP)
