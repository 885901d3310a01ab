"""The ranking of several kernels on a device: right ones by their kernel time, then wrong ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mandelcl.lab.own_kernel.study import OURS, passed
from mandelcl.lab.studies.row import Row

_SIMULATED = "Oclgrind"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The places of kernels on a device. `lines` are cells, in the order of HEADINGS."""

    device: str
    lines: Sequence[Sequence[str]]

    HEADINGS: ClassVar[Sequence[str]] = ("Place", "Kernel", "Kernel ms", "Times ours", "Times the first", "Verdict")


def rankings(rows: Sequence[Row]) -> list[Ranking]:
    """Return a ranking for each device of a table of kernels. Ours has no place, and simulated runs are left out."""
    found = []
    for spec, platform in dict.fromkeys((row.spec, row.platform) for row in rows):
        own = [row for row in rows if (row.spec, row.platform) == (spec, platform) and row.case != OURS]
        if own and platform != _SIMULATED:
            found.append(Ranking(f"{own[0].device} ({platform})", _lines(own)))
    return found


def _lines(rows: Sequence[Row]) -> list[list[str]]:
    right = sorted((row for row in rows if passed(row) and row.kernel_s is not None), key=_milliseconds)
    lines = []
    for row in right:
        place = 1 + sum(_milliseconds(other) < _milliseconds(row) for other in right)
        speed, first = row.extra.get("speed"), _milliseconds(row) / _milliseconds(right[0])
        ours = f"{1 / speed:.3g}" if isinstance(speed, float) and speed > 0 else ""
        lines.append([str(place), row.case, f"{_milliseconds(row):.4g}", ours, f"{first:.3g}", "right"])
    return lines + [["", row.case, "", "", "", _verdict(row)] for row in rows if row not in right]


def _verdict(row: Row) -> str:
    """Return the fault of a kernel in a line."""
    if row.error:
        return row.error
    wrong = f"wrong counts in {row.differing_pixels} pixels" if row.differing_pixels else "wrong counts"
    return wrong if row.validation == "WRONG" else "its time is unknown"


def _milliseconds(row: Row) -> float:
    return row.kernel_s.median * 1e3 if row.kernel_s is not None else 0.0
