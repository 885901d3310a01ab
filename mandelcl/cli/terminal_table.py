"""A table on standard output: complete in a pipe or a file, cut to the width on a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from mandelcl.cli.progress import print_line, sized

_RANGE = " (min … max)"
_BETWEEN = 3  # characters between columns
# The width in characters to which names and reasons may be folded. Other columns are never folded.
_FOLDED = {"Case": 20, "Device": 20, "Error": 16, "Worse": 24, "Remark": 24}
# The columns to leave out if not all fit, in this order. A study's own columns go between the two, from the right.
_SOONER = (
    *("Runs", "Build s", "Copy ms", "Launches", "Longest ms", "Driver", "Peak Gfma/s", "Platform", "Rounding", "SPEC"),
    *("Wall × best", "Compute × best", "Mpix/s"),
)
_LATER = ("Wall ms", "Kernel × best")
_NEVER = ("Case", "Machine", "Place", "Where", "Device", "Kernel ms", "Kernel ×", "Giter/s", "Counts", *_FOLDED)
_NAMES = ("Case", "Machine", "Device")  # these tell most rows apart; if they do not, SPEC stays
_BAD = ("WRONG", "FAIL")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table that is not a study's is made to fit.

    `left_out` are the columns that may be dropped, in this order. `folded` gives the width in characters to which other
    columns may shrink.
    """

    left_out: Sequence[str]
    folded: Mapping[str, int]


def show(
    headings: Sequence[str], lines: Sequence[Sequence[str]], wide: bool = False, layout: Layout | None = None
) -> None:
    """Print a table. Rows with wrong counts or a failure are red.

    On a terminal, columns that do not fit are dropped, and a line lists them, unless `wide` is set. Without a `layout`
    the table is a study's.
    """
    folded = _FOLDED if layout is None else layout.folded
    console = sized(Console(highlight=False, markup=False))
    missing: list[str] = []
    if not console.is_terminal:
        console.width = 100_000  # never truncate output that a program may read
    elif not wide:
        headings, lines, missing = fitted(headings, lines, console.width, layout)
    table = Table(show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=bool(missing) and heading not in folded)
    for cells in lines:
        wrong: dict[str, Any] = {"style": "red"} if any(cell.startswith(_BAD) for cell in cells) else {}
        table.add_row(*cells, **wrong)
    console.print(table)
    if missing:
        print_line(f"mandelcl: columns left out: {', '.join(missing)}; --wide shows all")


def fitted(
    headings: Sequence[str], lines: Sequence[Sequence[str]], width: int, layout: Layout | None = None
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the headings and rows of a table that fits a width, and the headings that are left out.

    Times lose their minimum and maximum before a column is dropped.
    """
    table = {heading: [line[k] for line in lines] for k, heading in enumerate(headings)}
    folded = _FOLDED if layout is None else layout.folded
    if _width(table, folded) > width:
        table = {
            heading.removesuffix(_RANGE): [cell.partition(" (")[0] for cell in cells]
            if heading.endswith(_RANGE)
            else cells
            for heading, cells in table.items()
        }
    missing: list[str] = []
    for heading in _leaving(table) if layout is None else layout.left_out:
        if heading in table and _width(table, folded) > width:
            del table[heading]
            missing.append(heading)
    missing.sort(key=[heading.removesuffix(_RANGE) for heading in headings].index)
    return list(table), [list(cells) for cells in zip(*table.values(), strict=True)], missing


def _leaving(table: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the columns of a study's table that may be dropped, in this order."""
    own = [heading for heading in table if heading not in (*_SOONER, *_LATER, *_NEVER)]
    names = list(zip(*(table[heading] for heading in _NAMES if heading in table), strict=True))
    alike = len(set(names)) < len(names)
    return [heading for heading in (*_SOONER, *reversed(own), *_LATER) if not (heading == "SPEC" and alike)]


def _width(table: Mapping[str, Sequence[str]], folded: Mapping[str, int]) -> int:
    """Return the minimum width of a table in characters, with names and reasons folded."""
    total = _BETWEEN * (len(table) - 1)
    for heading, cells in table.items():
        widest = max(map(cell_len, (heading, *cells)))
        total += min(widest, folded.get(heading, widest))
    return total
