"""`--iterations`: a number that may have an exponent, or `auto`."""

import click

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.text import quoted

AUTO = "auto"


def number_or_auto(_context: click.Context, _option: click.Parameter, text: str | None) -> int | str | None:
    """Return the iteration limit of an option's text, for click: a number, or `auto`."""
    return text if text is None or text == AUTO else _number(text, ", or auto")


def number_of_iterations(_context: click.Context, _option: click.Parameter, text: str) -> int:
    """Return the number of iterations of an option's text, for click."""
    return _number(text, "")


def _number(text: str, otherwise: str) -> int:
    try:
        number = parse_number(text, "number of iterations")
    except InvalidInputError:
        number = None
    if number is None or number.denominator != 1 or number < 1:
        raise click.BadParameter(f"{quoted(text)} is not a whole number from 1 on, like 20000 or 1e6{otherwise}")
    return number.numerator
