"""A line of a formula: the operations of one step, and the properties that follow from them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.base.errors import InvalidInputError
from mandelcl.formulas.delta import Beside, Exact_contra, ExactRules
from mandelcl.formulas.operations import Add, Growth, Mul, Operation, OrbitPoint, Rot, Sqr, Store, Turning

_PRODUCT, _SUM, _FOLD = Fraction(9, 4), Fraction(3, 2), 6  # units: √5 and √2, rounded up, and twice 2 + 1 of a fold
MOST_OPERATIONS = 16  # of a line: as many as a page of a kernel's text
# A z within the smooth radius of 128 has |z|² of at most 2¹⁴, and what follows must be a finite float: 2¹⁴ᵈ < 2¹²⁸.
MOST_DEGREE = 9


@dataclass(frozen=True, slots=True)
class Derived:
    """A step of a derivative: an operation, for a square those that turn signs before it, and an `add` behind it."""

    operation: Operation
    turns: tuple[Turning, ...] = ()
    added: Add | None = None

    @property
    def takes_add(self) -> bool:
        """Whether an `add` behind it can be part of it."""
        return isinstance(self.operation, Sqr) and self.added is None


@dataclass(frozen=True, slots=True)
class Line:
    """One step: operations on z, one after the other.

    Raises InvalidInputError for a line that is none.
    """

    operations: tuple[Operation, ...]

    def __post_init__(self) -> None:
        if not self.operations:
            raise InvalidInputError("a line of a formula has at least one operation")
        if len(self.operations) > MOST_OPERATIONS:
            raise InvalidInputError(
                f"a line of a formula has at most {MOST_OPERATIONS} operations, not {len(self.operations)}"
            )
        stored = False
        for operation in self.operations:
            if isinstance(operation, Mul) and not stored:
                raise InvalidInputError(f"there is nothing to multiply by in {str(self)!r}: store comes before mul")
            stored |= isinstance(operation, Store)
        if self.degree > MOST_DEGREE:
            raise InvalidInputError(
                f"a line of a formula has a degree of at most {MOST_DEGREE}, beyond which smooth colours leave the "
                f"range of float; {str(self)!r} has {self.degree}"
            )

    @property
    def steps(self) -> tuple[tuple[Operation, bool], ...]:
        """The operations as numbers make them, each with whether an `add` behind it is part of it."""
        found: list[tuple[Operation, bool]] = []
        for operation in self.operations:
            if isinstance(operation, Add) and found and found[-1][0].fuses and not found[-1][1]:
                found[-1] = found[-1][0], True
            else:
                found.append((operation, False))
        return tuple(found)

    @property
    def degree(self) -> int:
        """The power of |z| with which it grows."""
        return _growth(self).degree

    @property
    def products(self) -> int:
        """How many roundings of complex products a step is off by at most: its degree less one, and more for `rot`."""
        return _growth(self).products

    @property
    def analytic(self) -> bool:
        """Whether it is differentiable as a complex function."""
        return all(operation.analytic for operation in self.operations)

    @property
    def conformal(self) -> bool:
        """Whether on each side of its axes it is differentiable as a complex function, or the conjugate of one.

        So it is unless it multiplies z by a stored z that has other signs: one that was folded or mirrored since.
        """
        folded, mirrored = False, False  # since the last `store`
        for operation in self.operations:
            if isinstance(operation, Store):
                folded, mirrored = False, False
            elif operation.folds:
                folded = True
            elif isinstance(operation, Turning):
                mirrored = not mirrored
            elif isinstance(operation, Mul) and (folded or mirrored):
                return False
        return True

    @property
    def inner_folds(self) -> tuple[int, ...]:
        """The places of operations that fold what a product has made: of that a rounded z does not tell the side."""
        found, product = list[int](), False
        for place, operation in enumerate(self.operations):
            if operation.folds and product:
                found.append(place)
            product |= isinstance(operation, Sqr | Mul | Rot)
        return tuple(found)

    @property
    def delta_units(self) -> int:
        """By how many units a difference is off at most once it has gone through the line, as `delta` makes it.

        They are shares of what the line makes of it with nothing cancelled: of (|Z| + |z|)^d − |Z|^d. A value of the
        reference is off by 2 units, a complex product by √5, a sum of two terms by √2, a constant by 1. Inner folds
        count in full, since it is not looked at which orbits cross them.
        """
        value, difference = Fraction(2), Fraction(0)  # units of either
        stored, stored_difference = value, difference
        for operation in self.operations:
            if isinstance(operation, Store):
                stored, stored_difference = value, difference
            elif isinstance(operation, Sqr):
                value, difference = 2 * value + _PRODUCT, difference + max(value, difference) + _SUM + _PRODUCT
            elif isinstance(operation, Mul):
                by_sum = difference + max(stored, stored_difference) + _SUM
                by_value = value + stored_difference
                value, difference = value + stored + _PRODUCT, max(by_sum, by_value) + _PRODUCT + _SUM
            elif isinstance(operation, Rot):
                value, difference = value + _PRODUCT + 1, difference + _PRODUCT + 1
        return math.ceil(difference) + _FOLD * len(self.inner_folds)

    @property
    def fold_units(self) -> int:
        """By how many more one is off where it crosses folds before the first product."""
        folds = sum(operation.folds for operation in self.operations)
        return _FOLD * (folds - len(self.inner_folds))

    @property
    def squares(self) -> bool:
        """Whether it is z² + c but for folds and mirrors, which round nothing and move no two points apart."""
        *before, last = self.operations
        products = [operation for operation in before if not isinstance(operation, Turning)]
        return [operation.name for operation in products] == [Sqr.name] and isinstance(last, Add)

    @property
    def adds(self) -> bool:
        """Whether c is added anywhere."""
        return any(isinstance(operation, Add) for operation in self.operations)

    @property
    def grows(self) -> bool:
        """Whether |z′| ≥ |z|^degree − |c| for a degree of 2 or more: c is added last, once, if at all."""
        return self.degree > 1 and not any(isinstance(operation, Add) for operation in self.operations[:-1])

    @property
    def power(self) -> int:
        """The degree d if the line is z^d + c with d of at least 2, otherwise 0."""
        *before, last = self.operations
        plain = all(isinstance(operation, Sqr | Mul | Store) for operation in before)
        return self.degree if plain and isinstance(last, Add) and self.degree > 1 else 0

    def largest(self, size: Fraction, constant: Fraction) -> Fraction:
        """Return a bound of all that it makes of |z| ≤ `size`, where |c| ≤ `constant`."""
        return self._grown(size, constant).most

    def value(self, arithmetic: Arithmetic, z: Complex, c: Complex) -> Complex:
        """Return what it makes of z, to the last bit."""
        stored = z
        for operation, adds in self.steps:
            place = OrbitPoint(z, stored, c)
            z = operation.value_add(arithmetic, place) if adds else operation.value(arithmetic, place)
            if isinstance(operation, Store):
                stored = z
        return z

    def beside(self, rules: ExactRules[Beside, Exact_contra], z: Beside, parts: Sequence[Exact_contra] = ()) -> Beside:
        """Return what it makes of a value of a reference and of a difference from it, but for c.

        `parts` are, in their order, the parts that the inner folds take, exactly.
        """
        stored, exact = z, dict(zip(self.inner_folds, parts, strict=True))
        for place, operation in enumerate(self.operations):
            if place in exact and isinstance(operation, Turning):
                z = rules.exactly(z, operation.part, exact[place])
            z = operation.delta(rules, z, stored)
            if isinstance(operation, Store):
                stored = z
        return z

    def derived_steps(self, moves: bool) -> tuple[Derived, ...]:
        """Return the operations as derivatives go through them, where c `moves` or stays.

        (±x ± yi)² is z² but for the sign of its imaginary part, and so is its derivative: a square is taken with the
        signs that are turned before it, and with the c that is added behind it.
        """
        found, turns = list[Derived](), list[Turning]()
        for operation in self.operations:
            if isinstance(operation, Turning):
                turns.append(operation)
            elif isinstance(operation, Sqr):
                found.append(Derived(operation, tuple(turns)))
                turns = []
            elif moves and isinstance(operation, Add) and not turns and found and found[-1].takes_add:
                found[-1] = Derived(found[-1].operation, found[-1].turns, operation)
            else:
                found += [*map(Derived, turns), Derived(operation)]
                turns = []
        return *found, *map(Derived, turns)

    def _grown(self, size: Fraction, constant: Fraction) -> Growth:
        value = stored = Growth(size, 1, 0, size)
        for operation in self.operations:
            value = operation.grown(value, stored, constant)
            if isinstance(operation, Store):
                stored = value
        return value

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def __str__(self) -> str:
        return " ".join(map(str, self.operations))


@lru_cache(maxsize=256)
def _growth(line: Line) -> Growth:
    """Return how |z| = 1 grows without c; a job asks for it again and again."""
    return line._grown(Fraction(1), Fraction(0))
