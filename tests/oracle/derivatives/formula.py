"""How derivatives go through the steps of a formula, in any arithmetic of derivatives."""

from fractions import Fraction
from typing import Any, TypeAlias

from mandelcl.formulas import Formula
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Mul, Operation, OrbitPoint, Sqr, Store, Turning
from mandelcl.formulas.operations.rot import Rot
from tests.oracle.derivatives.arithmetic import DerivativeArithmetic

# One complex number where a formula is analytic; else two, by the point's real and by its imaginary part.
Derivative: TypeAlias = tuple[Any, ...]


def start(formula: Formula, arithmetic: DerivativeArithmetic, move: Derivative) -> Derivative:
    """Return the derivative of z₀ by the point, where that moves by `move`."""
    return move if formula.constant is not None else tuple(arithmetic.zero() for _ in move)


def step(
    formula: Formula, arithmetic: DerivativeArithmetic, z: Any, c: Any, derivative: Derivative, move: Derivative, n: int
) -> Derivative:
    """Return the derivative of the z that follows z, the n-th of its orbit, from that of z."""
    line = formula.lines[n % len(formula.lines)]
    moves = move if formula.constant is None else (None,) * len(move)
    return tuple(
        line_step(line, arithmetic, z, c, column, moved) for column, moved in zip(derivative, moves, strict=True)
    )


def line_step(line: Line, arithmetic: DerivativeArithmetic, z: Any, c: Any, moved: Any, move: Any) -> Any:
    """Return how what a line makes of z changes where z changes by `moved` and c by `move`; None: c stays."""
    stored, with_it = z, moved
    for step in line.derived_steps(move is not None):
        upright, turned = z, False
        for turn in step.turns:
            turned ^= is_turned(turn, arithmetic, z)
            z = point(turn, arithmetic, OrbitPoint(z, stored, c))
        place, operation = OrbitPoint(z, stored, c), step.operation
        if isinstance(operation, Sqr):
            if step.added is None:
                moved = arithmetic.square(upright, moved, turned)
            else:
                moved = arithmetic.square_add(upright, moved, turned, move)
        elif not isinstance(operation, Add) or move is not None:
            moved = derivative(operation, arithmetic, place, moved, with_it, move)
        z = point(operation, arithmetic, place)
        if step.added is not None:
            z = point(step.added, arithmetic, OrbitPoint(z, stored, c))
        if isinstance(operation, Store):
            stored, with_it = z, moved
    return moved


def is_turned(operation: Turning, arithmetic: DerivativeArithmetic, z: Any) -> bool:
    """Return whether an operation turns the sign of its part of a point."""
    if operation.name.startswith("neg"):
        return True
    negative: bool = arithmetic.plain.less(z[operation.part], arithmetic.plain.encode(Fraction(0)))
    return negative


def point(operation: Operation, arithmetic: DerivativeArithmetic, place: OrbitPoint) -> Any:
    """Return what an operation makes of z in the plain arithmetic beside derivatives, each rounded alone."""
    match operation:
        case Sqr():
            return arithmetic.point_square(place.z)
        case Mul():
            return arithmetic.point_product(place.z, place.stored)
        case Add():
            return arithmetic.point_sum(place.z, place.c)
        case Rot():
            return arithmetic.point_product(place.z, arithmetic.constant(operation.cosine, operation.sine))
        case Turning():
            turn = (arithmetic.point_turn_re, arithmetic.point_turn_im)[operation.part]
            return turn(place.z, is_turned(operation, arithmetic, place.z))
    assert isinstance(operation, Store)
    return place.z


def derivative(
    operation: Operation, arithmetic: DerivativeArithmetic, place: OrbitPoint, moved: Any, with_it: Any, move: Any
) -> Any:
    """Return how what an operation makes changes, where z, the stored z and c change so."""
    match operation:
        case Mul():
            return arithmetic.add(arithmetic.times(place.stored, moved), arithmetic.times(place.z, with_it))
        case Add():
            return arithmetic.add(moved, move)
        case Rot():
            return arithmetic.times(arithmetic.constant(operation.cosine, operation.sine), moved)
        case Turning():
            turn = (arithmetic.turn_re, arithmetic.turn_im)[operation.part]
            return turn(moved, is_turned(operation, arithmetic, place.z))
    assert isinstance(operation, Store)
    return moved
