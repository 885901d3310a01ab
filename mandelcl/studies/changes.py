"""A table beside an older one: ratios, and what got worse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mandelcl.errors import InvalidInputError

TOLERANCE = 0.10
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """A case on a device, then and now: ratios of the median times, new over old, and in words what got worse."""

    case: str
    device: str
    kernel: float | None
    wall: float | None
    worse: str

    def cells(self) -> list[str]:
        """Return the cells of a table's line."""
        ratios = ["" if ratio is None else f"{ratio:.2f}" for ratio in (self.kernel, self.wall)]
        return [self.case, self.device, *ratios, self.worse]


HEADINGS = ["Case", "Device", "Kernel ×", "Wall ×", "Worse"]


def between(old: Mapping[str, Any], new: Mapping[str, Any], tolerance: float = TOLERANCE) -> list[Change]:
    """Return what changed for each case and device that the old table has; raises InvalidInputError for another study.

    A time is worse where its median grew by more than the tolerance and even its minimum lies above the old median:
    beyond what a busy moment explains. A row that failed, went missing or computes wrong counts now is worse, too.
    """
    if old.get("study") != new["study"]:
        raise InvalidInputError(f"the older table is of study {old.get('study')!r}, this one of {new['study']!r}")
    now = {_key(row): row for row in new["rows"]}
    return [_change(row, now.get(_key(row)), tolerance) for row in old["rows"]]


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return str(row["case"]), str(row["device"]), str(row["platform"]), str(row.get("spec", "")).partition("/")[0]


def _change(old: Mapping[str, Any], new: Mapping[str, Any] | None, tolerance: float) -> Change:
    device = f"{old['device']}, {old['platform']}"
    if new is None:
        return Change(str(old["case"]), device, None, None, "" if old["error"] else "missing")
    kernel, wall = (_ratio(old[which], new[which]) for which in ("kernel_s", "wall_s"))
    reasons = []
    if new["error"] and not old["error"]:
        reasons.append(f"fails: {new['error']}")
    if new["validation"] == "WRONG" and old["validation"] != "WRONG":
        reasons.append("wrong counts")
    for name, which, ratio in (("kernel", "kernel_s", kernel), ("wall", "wall_s", wall)):
        if ratio is not None and ratio > 1 + tolerance and new[which]["min"] > old[which]["median"]:
            reasons.append(f"{name} {ratio:.2f} times as long")
    return Change(str(old["case"]), device, kernel, wall, ", ".join(reasons))


def _ratio(old: Mapping[str, float] | None, new: Mapping[str, float] | None) -> float | None:
    if not old or not new or old["median"] <= 0:
        return None
    return new["median"] / old["median"]
