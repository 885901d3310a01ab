"""The formulas: operations, lines and cycles of lines. The formulas with names are listed here."""

from collections.abc import Mapping
from types import MappingProxyType

from mandelcl.base.errors import require_type
from mandelcl.base.exact import Exact
from mandelcl.formulas.formula import JULIA, Formula, FromText, ToText, formula_named
from mandelcl.formulas.named import NAMED

__all__ = [
    "FORMULAS",
    "JULIA",
    "MANDELBROT",
    "NAMED",
    "BurningShip",
    "Formula",
    "FromText",
    "Julia",
    "Multibrot3",
    "ToText",
    "formula_named",
]

MANDELBROT = formula_named("mandelbrot")
FORMULAS: Mapping[str, Formula] = MappingProxyType({name: formula_named(name) for name in NAMED})


class Julia(Formula):
    """A Julia set of z² + c, or of another formula: `formula.julia(re, im)` by another name."""

    __slots__ = ()

    def __init__(self, re: Exact, im: Exact, formula: Formula = MANDELBROT) -> None:
        require_type(formula, Formula, "a Julia set's formula")
        julia = formula.julia(re, im)
        super().__init__(julia.lines, julia.constant)


class BurningShip(Formula):
    """(|re z| + |im z|·i)² + c from 0: the formula `burning-ship` by another name."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(FORMULAS["burning-ship"].lines)


class Multibrot3(Formula):
    """z³ + c from 0: the formula `multibrot-3` by another name."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(FORMULAS["multibrot-3"].lines)
