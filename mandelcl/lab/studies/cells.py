"""The cells of tables as text, and text of unknown origin made safe for terminals, Markdown and spreadsheets."""

import re
from typing import Any

from mandelcl.lab.studies.row import Row, Times

_MARKUP = re.compile(r"([\\`*\[<|~&])")
_FORMULA = ("=", "+", "-", "@")  # how a cell begins that a spreadsheet computes


def cleaned(text: str, most: int) -> str:
    """Return text in one line of at most `most` printable characters. Others become � or a space."""
    shown = "".join(c if c.isprintable() else " " if c.isspace() else "�" for c in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def markdown(text: str) -> str:
    """Return text as Markdown that shows it as it is."""
    return _MARKUP.sub(r"\\\1", text)


def markdown_code(text: str) -> str:
    """Return a line of text as code in Markdown."""
    line = cleaned(text, len(text))
    if "`" not in line:
        return f"`{line}`"
    fence = "`" * (1 + max(len(run) for run in re.findall("`+", line)))
    return f"{fence} {line} {fence}"


def spreadsheet(value: Any) -> Any:
    """Return a value of a CSV file: None is empty, and no text is taken for a formula."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


def listed(names: list[str], most: int = 3) -> str:
    """Return names in a sentence, the first few of many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def study_value(value: Any, form: str) -> str:
    """Return one of a study's own values, a number in the format `form` where it is not empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if not form or not isinstance(value, int | float):
        return str(value)
    return format(value, "g" if form.endswith("d") and isinstance(value, float) else form)


def milliseconds(times: Times | None) -> str:
    """Return the median, and the minimum and maximum in brackets; empty for None."""
    if times is None:
        return ""
    middle, low, high = (_significant(seconds * 1e3) for seconds in (times.median, times.min, times.max))
    return f"{middle} ({low} … {high})"


def _significant(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def number(value: float | None, form: str, factor: float = 1.0) -> str:
    """Return a number times a factor in the format `form`; empty for None."""
    return "" if value is None else format(value * factor, form)


def counts(row: Row) -> str:
    """Return whether a row's counts are right."""
    if row.validation != "WRONG":
        return row.validation
    pixels = "some pixels" if row.differing_pixels is None else f"{row.differing_pixels} pixels"
    return f"WRONG: {pixels} ({row.checked})"
