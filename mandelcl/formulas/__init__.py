"""The formulas: a module each, and here the list of all.

To add one: a kernel part, a module with its `Formula`, and its line in `FORMULAS`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from mandelcl.errors import InvalidInputError
from mandelcl.formulas.formula import Arithmetic, Complex, Formula, FromText
from mandelcl.formulas.mandelbrot import Mandelbrot

__all__ = ["FORMULAS", "MANDELBROT", "Arithmetic", "Complex", "Formula", "formula_class", "formula_from_json"]

MANDELBROT = Mandelbrot()
FORMULAS: Mapping[str, type[Formula]] = MappingProxyType({formula.name: formula for formula in (Mandelbrot,)})


def formula_class(name: str) -> type[Formula]:
    """Return the formula of that name; raises InvalidInputError, listing the known ones, if there is none."""
    try:
        return FORMULAS[name]
    except KeyError:
        raise InvalidInputError(f"unknown formula {name!r}; there is {', '.join(FORMULAS)}") from None


def formula_from_json(values: Mapping[str, object], number: FromText) -> Formula:
    """Return what `Formula.as_json` wrote; raises InvalidInputError or TypeError for anything else."""
    name = values["name"]
    if not isinstance(name, str):
        raise TypeError(f"the formula's name is {name!r}")
    return formula_class(name).from_json(values, number)
