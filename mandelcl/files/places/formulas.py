"""Conversion between other programs' names of formulas and ours.

The facts come from the programs' sources. Kalles Fraktaler (2.15, `formula.xml`) has numbers for kinds, and powers;
kinds from 10 on, which fold parts of a power, are not read. Fraktaler-3 (2.1) has lines of the same operations as
mandelcl, or a list of what is done before a power is taken.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from mandelcl.base.errors import FileError
from mandelcl.base.exact import about
from mandelcl.base.text import printable, quoted
from mandelcl.formulas import Formula

_PREPARED = {"abs_x": "absx", "abs_y": "absy", "neg_x": "negx", "neg_y": "negy"}
_OPERATIONS = ("add", "store", "mul", "sqr", "absx", "absy", "negx", "negy")  # Fraktaler-3's
_MOST_POWER = 9  # the highest power in a line of ours


def of_kalles_fraktaler(kind: int, power: int) -> Formula:
    """Return the formula for a `FractalType` and a `Power`. Raises FileError if mandelcl has no such formula."""
    try:
        return _kinds()[kind, power]
    except KeyError:
        numbers = f"fractaltype {about(Fraction(kind))}, power {about(Fraction(power))}"
        raise FileError(f"its formula ({numbers}) is not supported in a .kfr") from None


def to_kalles_fraktaler(formula: Formula) -> tuple[int, int]:
    """Return the `FractalType` and `Power` of a formula. Raises FileError if Kalles Fraktaler lacks it."""
    for numbers, known in _kinds().items():
        if known == formula:
            return numbers
    raise FileError(f"Kalles Fraktaler has no {_name(formula)}")


def of_fraktaler_3(tables: Any) -> Formula:
    """Return the formula of the tables `formula`. Raises FileError or InvalidInputError if it is not valid."""
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise FileError(f"its formula is not valid: {quoted(tables)}")
    return Formula.parse(" / ".join(map(_line, tables)))


def to_fraktaler_3(formula: Formula) -> list[str]:
    """Return the operations of each line. Raises FileError if Fraktaler-3 lacks one."""
    lines = [str(line).split() for line in formula.lines]
    known = all(line.count("add") == 1 and line[-1] == "add" and set(line) <= set(_OPERATIONS) for line in lines)
    if formula.constant is not None or not known:
        raise FileError(f"Fraktaler-3 has no {_name(formula)}")
    return [" ".join(line) for line in lines]


def _line(table: Mapping[str, Any]) -> str:
    """Return the operations of a line."""
    unknown = [key for key in table if key not in (*_PREPARED, "power", "opcodes")]
    if unknown:
        raise FileError(f"its formula has the unknown operation {printable(unknown[0], 30)}")
    words = table.get("opcodes", "")
    if not isinstance(words, str):
        raise FileError(f"its opcodes are not a text: {quoted(words)}")
    if words.strip():
        given = words.split()
        before = given[: given.index("mul")] if "mul" in given else ["store"]
        return " ".join(given if "store" in before else ["store", *given])
    power = table.get("power", 2)
    if isinstance(power, bool) or not isinstance(power, int) or not 1 <= power <= _MOST_POWER:
        raise FileError(f"its power is not supported: {quoted(power)}")
    return " ".join([*(word for key, word in _PREPARED.items() if table.get(key) is True), *_power(power), "add"])


def _power(power: int) -> list[str]:
    """Return the operations that compute a power, from its highest binary digit on."""
    words = [word for digit in f"{power:b}"[1:] for word in (["sqr", "mul"] if digit == "1" else ["sqr"])]
    return ["store", *words] if "mul" in words else words


@cache
def _kinds() -> Mapping[tuple[int, int], Formula]:
    """Return the formulas by `FractalType` and `Power`."""
    texts = {(0, power): [*_power(power), "add"] for power in range(2, _MOST_POWER + 1)}
    for power in range(2, 6):
        words = _power(power)
        texts |= {
            (1, power): ["absx", "absy", *words, "add"],
            (2, power): [*words, "absx", "absy", "add"],
            (3, power): [*words, "absx", "add"],
            (4, power): ["negx" if power == 3 else "negy", *words, "add"],
        }
    named = (
        "negy sqr absx add",
        *("perpendicular", "perpendicular-burning-ship", "perpendicular-celtic", "perpendicular-buffalo"),
    )
    known = {numbers: Formula.parse(" ".join(words)) for numbers, words in texts.items()}
    return known | {(5 + k, 2): Formula.parse(name) for k, name in enumerate(named)}


def _name(formula: Formula) -> str:
    return f"{'Julia set of ' if formula.constant is not None else ''}{quoted(formula.text)}"
