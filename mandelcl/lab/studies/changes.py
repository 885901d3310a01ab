"""Compare a table with an older one: ratios, and what got worse. Cases of only one table are not judged."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.naming import Identity
from mandelcl.lab.studies.row import Row, Times

TOLERANCE = 0.10
Key = tuple[str, str, str, str]  # device, platform, and machine and SPEC where they are needed
HEADINGS = ["Case", "Device", "Kernel ×", "Wall ×", "Worse", "Remark"]
_ONLY_OLD, _ONLY_NEW = "only in the older table", "only in this table"
_RIGHT_OLD, _RIGHT_NEW = "right in the older table only", "right in this table only"


@dataclass(frozen=True, slots=True)
class Change:
    """A case on a device, then and now: ratios of the median times, new over old, and in words what got worse.

    `remark` says what is not a change: that one of the tables lacks the row, or which devices are compared.
    """

    case: str
    device: str
    kernel: float | None = None
    wall: float | None = None
    worse: str = ""
    remark: str = ""

    def cells(self) -> list[str]:
        """Return the cells of a table's line."""
        return [self.case, self.device, _shown(self.kernel), _shown(self.wall), self.worse, self.remark]


@dataclass(frozen=True, slots=True)
class TableChanges:
    """What changed. `shared` is whether a device is in both tables, `compared` how many rows have a counterpart."""

    changes: Sequence[Change]
    shared: bool
    compared: int

    @property
    def worse(self) -> list[Change]:
        """What got worse."""
        return [change for change in self.changes if change.worse]


def table(changes: Sequence[Change]) -> tuple[list[str], list[list[str]]]:
    """Return headings and lines of cells; there is a column of remarks where one of them has a remark."""
    width = len(HEADINGS) if any(change.remark for change in changes) else len(HEADINGS) - 1
    return HEADINGS[:width], [change.cells()[:width] for change in changes]


def between(old: Document, new: Document, tolerance: float = TOLERANCE) -> TableChanges:
    """Return what changed for each case and device; raises InvalidInputError for tables of two studies.

    A time is worse where its median grew by more than the tolerance and even its minimum lies above the old median:
    beyond what a busy moment explains. A row that failed, went missing or computes wrong counts now is worse, too, if
    its device took part. Where no device is in both tables, the best of each case is put beside the other's.
    """
    if old.study.name != new.study.name:
        raise InvalidInputError(f"the older table is of study {old.study.name!r}, this one of {new.study.name!r}")
    key = _matching(old, new)
    then = {(row.case, key(row)): row for row in old.rows}
    now = {(row.case, key(row)): row for row in new.rows}
    taking_part = {device for _, device in now}
    if not taking_part & {device for _, device in then}:
        return _across(old, new, key)
    changes = []
    for (case, device), row in then.items():
        if (case, device) in now:
            changes.append(_change(row, now[case, device], _label(device), tolerance))
        elif device not in taking_part or row.error or not new.complete:
            changes.append(Change(case, _label(device), remark=_ONLY_OLD))
        else:
            changes.append(Change(case, _label(device), worse="missing"))
    changes += [Change(case, _label(device), remark=_ONLY_NEW) for case, device in now if (case, device) not in then]
    return TableChanges(changes, True, len(then.keys() & now.keys()))


def _matching(old: Document, new: Document) -> Callable[[Row], Key]:
    """Return what names a row's device in both tables.

    The SPEC changes where another runtime is installed, and a plain run does not know its machine's name: both count
    only where a table has devices that nothing else tells apart.
    """
    named = bool(old.sources and new.sources)
    crowded: set[tuple[str, str]] = set()  # devices of the same name on several machines of a table
    twins: set[tuple[str, str]] = set()  # and on one machine
    for table in (old, new):
        machines: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        specs: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        for device in map(Identity.of, table.rows):
            machines[device.device, device.platform].add(device.machine)
            specs[device.device, device.platform, device.machine].add(device.spec)
        crowded |= {name for name, found in machines.items() if len(found) > 1}
        twins |= {(device, platform) for (device, platform, _), found in specs.items() if len(found) > 1}

    def key(row: Row) -> Key:
        device = Identity.of(row)
        name = (device.device, device.platform)
        machine = device.machine if named or name in crowded else ""
        return (*name, machine, device.spec if name in twins else "")

    return key


def _across(old: Document, new: Document, key: Callable[[Row], Key]) -> TableChanges:
    """Return the best row of each case beside the older table's best; nothing is called worse."""
    then, now = _best(old), _best(new)
    cases = {row.case for row in old.rows} & {row.case for row in new.rows}
    changes = []
    for case in dict.fromkeys(row.case for row in (*old.rows, *new.rows)):
        if case in then and case in now:
            kernel, wall = _ratios(then[case], now[case])
            remark = f"against {_label(key(then[case]))}"
            changes.append(Change(case, _label(key(now[case])), kernel, wall, remark=remark))
        elif case in then:
            changes.append(Change(case, _label(key(then[case])), remark=_RIGHT_OLD if case in cases else _ONLY_OLD))
        elif case in now:
            changes.append(Change(case, _label(key(now[case])), remark=_RIGHT_NEW if case in cases else _ONLY_NEW))
    return TableChanges(changes, False, len(then.keys() & now.keys()))


def _best(table: Document) -> dict[str, Row]:
    """Return the fastest row of each case whose counts are right."""
    best: dict[str, Row] = {}
    for row in table.rows:
        if row.error or row.validation != "ok" or _seconds(row) is None:
            continue
        if row.case not in best or (_seconds(row) or 0) < (_seconds(best[row.case]) or 0):
            best[row.case] = row
    return best


def _seconds(row: Row) -> float | None:
    """Return a row's median kernel time, or its wall time if there is none."""
    times = row.kernel_s or row.wall_s
    return None if times is None else times.median


def _label(key: Key) -> str:
    return ", ".join(part for part in key if part)


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _change(old: Row, new: Row, label: str, tolerance: float) -> Change:
    kernel, wall = _ratios(old, new)
    reasons = []
    if new.error and not old.error:
        reasons.append(f"fails: {new.error}")
    if new.validation == "WRONG" and old.validation != "WRONG":
        reasons.append("wrong counts")
    for name, ratio, before, after in (
        ("kernel", kernel, old.kernel_s, new.kernel_s),
        ("wall", wall, old.wall_s, new.wall_s),
    ):
        if ratio is not None and before and after and ratio > 1 + tolerance and after.min > before.median:
            reasons.append(f"{name} {ratio:.2f} times as long")
    return Change(old.case, label, kernel, wall, ", ".join(reasons))


def _ratios(old: Row, new: Row) -> tuple[float | None, float | None]:
    return _ratio(old.kernel_s, new.kernel_s), _ratio(old.wall_s, new.wall_s)


def _ratio(old: Times | None, new: Times | None) -> float | None:
    if old is None or new is None or old.median <= 0:
        return None
    return new.median / old.median
