"""Lines that fold and mirror z, take a power of it, and may add c: most named formulas."""

from collections.abc import Sequence
from dataclasses import dataclass

from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Mul, Sqr, Store, Turning


@dataclass(frozen=True, slots=True)
class Reflection:
    """A fold or mirror: a part changes its sign, the real or the imaginary one, always or only where it is negative."""

    of_re: bool
    always: bool


@dataclass(frozen=True, slots=True)
class FoldedPower:
    """z^degree + c of a z that goes through `reflections`, without c unless it `adds`.

    `products` has the power of z that each product of the line makes.
    """

    reflections: tuple[Reflection, ...]
    degree: int
    products: tuple[int, ...]
    adds: bool


def folded_powers(lines: Sequence[Line]) -> tuple[FoldedPower, ...] | None:
    """Return what the lines of a formula are, or None if one is something else."""
    found = [_folded_power(line) for line in lines]
    powers = tuple(power for power in found if power is not None)
    return powers if len(powers) == len(found) else None


def _folded_power(line: Line) -> FoldedPower | None:
    reflections, products, degree, stored, adds = list[Reflection](), list[int](), 1, 0, False
    for operation in line.operations:
        if isinstance(operation, Turning) and not products and not stored and not adds:
            reflections.append(Reflection(operation.part == 0, not operation.folds))
        elif isinstance(operation, Store) and not adds:
            stored = degree
        elif isinstance(operation, Sqr | Mul) and not adds:
            degree += degree if isinstance(operation, Sqr) else stored
            products.append(degree)
        elif isinstance(operation, Add) and products and not adds:
            adds = True
        else:
            return None
    return FoldedPower(tuple(reflections), degree, tuple(products), adds) if products else None
