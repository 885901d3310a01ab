"""A table on standard output: whole in a pipe or a file, and as much of it as fits on a terminal."""

from collections.abc import Sequence
from typing import Any

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

_RANGE = " (min … max)"
_BETWEEN = 3  # characters from column to column
# To how many characters names and reasons may be folded; nothing else is.
_FOLDED = {"Case": 20, "Device": 20, "Error": 16, "Worse": 24, "Remark": 24}
# What is left out where not all columns fit, in this order; a study's own columns go between the two, from the right.
_SOONER = (
    *("Runs", "Build s", "Copy ms", "Launches", "Longest ms", "Driver", "Peak Gfma/s", "Platform", "Rounding", "SPEC"),
    *("Wall × best", "Compute × best", "Mpix/s"),
)
_LATER = ("Wall ms", "Kernel × best")
_NEVER = ("Case", "Machine", "Place", "Where", "Device", "Kernel ms", "Kernel ×", "Giter/s", "Counts", *_FOLDED)
_NAMES = ("Case", "Machine", "Device")  # which tell most rows apart; where they do not, SPEC stays


def show(headings: Sequence[str], lines: Sequence[Sequence[str]], wide: bool = False) -> None:
    """Print a table; lines with wrong counts are red.

    On a terminal, columns that do not fit are left out, and a line says which, unless it is to be `wide`.
    """
    console = Console(highlight=False, markup=False)
    missing: list[str] = []
    if not console.is_terminal:
        console.width = 100_000  # never truncate what a program may read
    elif not wide:
        headings, lines, missing = fitted(headings, lines, console.width)
    table = Table(show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=bool(missing) and heading not in _FOLDED)
    for cells in lines:
        wrong: dict[str, Any] = {"style": "red"} if any(cell.startswith("WRONG") for cell in cells) else {}
        table.add_row(*cells, **wrong)
    console.print(table)
    if missing:
        click.echo(f"mandelcl: left out: {', '.join(missing)}; --wide shows all columns", err=True)


def fitted(
    headings: Sequence[str], lines: Sequence[Sequence[str]], width: int
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the headings and lines of a table that fits a width, and the headings that are left out.

    Times lose their minimum and maximum before a column goes.
    """
    table = {heading: [line[k] for line in lines] for k, heading in enumerate(headings)}
    if _width(table) > width:
        table = {
            heading.removesuffix(_RANGE): [cell.partition(" (")[0] for cell in cells]
            if heading.endswith(_RANGE)
            else cells
            for heading, cells in table.items()
        }
    own = [heading for heading in table if heading not in (*_SOONER, *_LATER, *_NEVER)]
    names = list(zip(*(table[heading] for heading in _NAMES if heading in table), strict=True))
    missing: list[str] = []
    for heading in (*_SOONER, *reversed(own), *_LATER):
        needed = heading == "SPEC" and len(set(names)) < len(names)
        if heading in table and not needed and _width(table) > width:
            del table[heading]
            missing.append(heading)
    missing.sort(key=[heading.removesuffix(_RANGE) for heading in headings].index)
    return list(table), [list(cells) for cells in zip(*table.values(), strict=True)], missing


def _width(table: dict[str, list[str]]) -> int:
    """Return how many characters a table takes at least, if names and reasons are folded."""
    total = _BETWEEN * (len(table) - 1)
    for heading, cells in table.items():
        widest = max(map(cell_len, (heading, *cells)))
        total += min(widest, _FOLDED.get(heading, widest))
    return total
