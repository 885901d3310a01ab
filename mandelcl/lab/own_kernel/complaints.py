"""Oclgrind's messages about a user's kernel, explained to its author: which index, work-item and line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mandelcl.lab.own_kernel.contract import KernelFile

_KINDS = _WRITES, _READS, _NO_VALUE, _RACES = (
    "writes out of bounds",
    "reads out of bounds",
    "uses a variable that has no value yet",
    "races",
)
_MOST_PLACES = 4
_BUFFER = 1 << 48  # Oclgrind numbers buffers in the upper 16 bits of an address, the first one with 1
_BLOCK = re.compile(r"^(?=\S)", re.MULTILINE)
_ACCESS = re.compile(r"Invalid (read|write) of size (\d+) at (global|local|private|constant) memory address 0x(\w+)")
_RACE = re.compile(r"data race at (global|local) memory address 0x(\w+)")
_UNINITIALISED = re.compile(r"Uninitialized value")
_ITEM = re.compile(r"Global(\(\d+,\d+),\d+\)")
_LINE = re.compile(r"At line (\d+)")


@dataclass(frozen=True, slots=True)
class Complaint:
    """One message of Oclgrind: its `kind`, its `place`, the work-items, and the line, 0 for none.

    `address` is that of the place, 0 if there is none.
    """

    kind: str
    place: str
    items: str
    line: int
    address: int = 0


def complaints(log: str, counts: int) -> list[Complaint]:
    """Return Oclgrind's messages about a kernel's run. `counts` is the number of counts.

    They are sorted, the worst first, because Oclgrind runs work-groups in several threads.
    """
    return sorted(_read(log, counts), key=lambda one: (_KINDS.index(one.kind), one.line, one.address, one.items))


def _read(log: str, counts: int) -> Iterator[Complaint]:
    for block in _BLOCK.split(log):
        access, race, line = (pattern.search(block) for pattern in (_ACCESS, _RACE, _LINE))
        items = " and ".join(f"{item})".replace(",", ", ") for item in _ITEM.findall(block))
        where = items, int(line.group(1)) if line else 0
        if access:
            kind, _, space, address = access.groups()
            place = _place(space, int(address, 16), counts)
            yield Complaint(_WRITES if kind == "write" else _READS, place, *where, int(address, 16))
        elif race:
            space, address = race.groups()
            yield Complaint(_RACES, _place(space, int(address, 16), counts), *where, int(address, 16))
        elif _UNINITIALISED.search(block):
            yield Complaint(_NO_VALUE, "", *where)


def explained(found: list[Complaint], kernel: KernelFile, counts: int) -> list[str]:
    """Return Oclgrind's messages as lines: each kind and line of the file once, with some of its places."""
    groups: dict[tuple[str, int], list[Complaint]] = {}
    for complaint in found:
        groups.setdefault((complaint.kind, complaint.line), []).append(complaint)
    lines = []
    for (kind, number), same in groups.items():
        text = kernel.line(number)
        where = f"{kernel.name}:{number}" + (f": `{text}`" if text else "") if number else kernel.name
        lines.append(f"{where} {_of_kind(kind, counts)}:")
        lines += [f"  work-item {one.items} {one.place}".rstrip() for one in same[:_MOST_PLACES]]
        if len(same) > _MOST_PLACES:
            lines.append(f"  … and {len(same) - _MOST_PLACES} times more")
    return lines


def _of_kind(kind: str, counts: int) -> str:
    if kind == _RACES:
        return "has several work-items write to the same place, so that it is chance which one is last"
    if kind in (_WRITES, _READS):
        return f"{kind}; `counts` has the indices 0 to {counts - 1}"
    return kind


def _place(space: str, address: int, counts: int) -> str:
    """Return what an address is, in a phrase: an element of `counts` if it is near them."""
    index, rest = divmod(address - _BUFFER, 4)
    if space != "global" or not -(1 << 40) < index < 1 << 40:
        return f"at an address of {space} memory that belongs to nothing"
    side = "" if 0 <= index < counts else f", {index - counts + 1} beyond the last" if index >= counts else ", below 0"
    return f"at counts[{index}]{side}" + (f" and {rest} bytes" if rest else "")
