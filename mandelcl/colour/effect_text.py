"""Parsing the options of effects: values separated by commas, most of them numbers."""

import math
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted


def values(text: str, what: str, most: int) -> list[str]:
    """Split a text into one to `most` parts. Raises InvalidInputError for any other number."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(parts) > most:
        raise InvalidInputError(f"--{what} needs 1 to {most} values separated by commas, not {quoted(text)}")
    return parts


def number(value: Any, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number from a text or JSON. Raises InvalidInputError for one outside the bounds."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not least <= found <= most or not math.isfinite(found):
        upper = "" if most == math.inf else f" to {most:g}"
        lower = "a number" if least == -math.inf else f"a number from {least:g}{upper}"
        raise InvalidInputError(f"{what} must be {lower}, not {quoted(value)}")
    return found
