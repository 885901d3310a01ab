"""Options of effects as they are written: values separated by commas, most of them numbers."""

import math
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted


def values(text: str, what: str, most: int) -> list[str]:
    """Return the parts of a text, at least one and at most so many; raises InvalidInputError for others."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(parts) > most:
        raise InvalidInputError(f"--{what} takes 1 to {most} values separated by commas, not {quoted(text)}")
    return parts


def number(value: Any, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number from a text or JSON, within bounds; raises InvalidInputError for another."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not least <= found <= most or not math.isfinite(found):
        upper = "" if most == math.inf else f" to {most:g}"
        lower = "a number" if least == -math.inf else f"a number from {least:g}{upper}"
        raise InvalidInputError(f"{what} must be {lower}, not {quoted(value)}")
    return found
