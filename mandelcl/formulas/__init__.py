"""The formulas: a module each, and here the list of all.

To add one: a kernel part, a module with its `Formula`, and its line in `FORMULAS`.
"""

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from types import MappingProxyType

from mandelcl.errors import InvalidInputError
from mandelcl.formulas.burning_ship import BurningShip
from mandelcl.formulas.formula import Formula, FromText
from mandelcl.formulas.julia import Julia
from mandelcl.formulas.mandelbrot import Mandelbrot
from mandelcl.formulas.multibrot_3 import Multibrot3
from mandelcl.printable import quoted

__all__ = [
    "FORMULAS",
    "MANDELBROT",
    "BurningShip",
    "Formula",
    "Julia",
    "Multibrot3",
    "formula_class",
    "formula_from_json",
    "formula_named",
]

MANDELBROT = Mandelbrot()
FORMULAS: Mapping[str, type[Formula]] = MappingProxyType(
    {formula.name: formula for formula in (Mandelbrot, Julia, BurningShip, Multibrot3)}
)


def formula_class(name: str) -> type[Formula]:
    """Return the formula of that name; raises InvalidInputError, listing the known ones, if there is none."""
    try:
        return FORMULAS[name]
    except KeyError:
        raise InvalidInputError(f"unknown formula {quoted(name)}; there is {', '.join(FORMULAS)}") from None


def formula_named(name: str) -> Formula:
    """Return a formula by its name alone: what parameters it has are 0."""
    kind = formula_class(name)
    return kind(*(Fraction(0) for _ in fields(kind)))


def formula_from_json(values: Mapping[str, object], number: FromText) -> Formula:
    """Return what `Formula.as_json` wrote; raises InvalidInputError or TypeError for anything else."""
    name = values["name"]
    if not isinstance(name, str):
        raise TypeError(f"the formula's name is {quoted(name)}")
    return formula_class(name).from_json(values, number)
