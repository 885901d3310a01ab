"""Formulas as text: operations separated by spaces, lines separated by ` / `."""

from functools import lru_cache

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.names import alike, unknown
from mandelcl.base.rotation import cosine_and_sine
from mandelcl.base.text import quoted
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import OPERATIONS, Operation, Rot

BETWEEN_LINES = "/"


@lru_cache(maxsize=256)
def lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a formula; raises InvalidInputError for what is none."""
    written: list[list[Operation]] = [[]]
    for word in text.split():
        if word == BETWEEN_LINES:
            written.append([])
        else:
            written[-1].append(_operation(word, text))
    return tuple(Line(tuple(operations)) for operations in written)


def _operation(word: str, text: str) -> Operation:
    name, colon, operand = word.partition(":")
    kind = OPERATIONS.get(name)
    if kind is None:
        raise _unknown(name, text)
    if kind is Rot:
        return _turn(operand)
    if colon:
        raise InvalidInputError(f"{name} takes no number; write it without {quoted(colon + operand)}")
    return kind()


def _unknown(name: str, text: str) -> InvalidInputError:
    from mandelcl.formulas.named import ALIASES, NAMED  # which are read by this module

    if name.casefold() == "julia":
        return InvalidInputError("for a Julia set, give its constant: --julia RE IM; --formula names what is iterated")
    near = alike(name, (*NAMED, *ALIASES, *OPERATIONS))
    if near and not alike(name, OPERATIONS):
        return InvalidInputError(f"unknown formula {quoted(name)}; did you mean {' or '.join(near)}?")
    if len(text.split()) == 1:  # a name, most likely
        if near:
            return InvalidInputError(f"unknown formula {quoted(name)}; did you mean {' or '.join(near)}?")
        return InvalidInputError(f"unknown formula {quoted(name)}; there is {', '.join(NAMED)}")
    return unknown("operation", name, OPERATIONS, "or write a formula like z^3 + c")


def _turn(operand: str) -> Rot:
    """Return the turn of `30`, in degrees, or of `3/5,4/5`, cosine and sine."""
    parts = operand.split(",")
    if not operand or len(parts) > 2:
        raise InvalidInputError("rot takes an angle in degrees, like rot:30, or its cosine and sine, like rot:3/5,4/5")
    numbers = [parse_number(part, "rot's number") for part in parts]
    return Rot(*(cosine_and_sine(numbers[0]) if len(numbers) == 1 else numbers))
