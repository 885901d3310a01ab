"""What holds for every case: how a command ends, what it says, and what it leaves behind."""

import hashlib
import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests import posix

MOST_SECONDS = 60.0
MOST_BYTES = 400 << 20  # beyond what was resident before: pictures and files of cases are small
_LONGEST_LINE = 300
_PYTHON = ("Traceback", "<class ", " object at 0x", "Exception ignored", "Warning:", "Exception in thread")
_BEGINNINGS = ("mandelcl: ",)


class Fault(AssertionError):  # noqa: N818 - it is what the suite looks for
    """Something that mandelcl must not do; its text says what, in a line or a few."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, what it printed, how long it took, and how much memory it took beyond."""

    code: int
    out: str
    err: str
    seconds: float = 0.0
    bytes: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether the command did what was asked for."""
        return self.code == 0


def patience() -> float:
    """Return MOST_SECONDS of a core to itself, in seconds of this machine as busy as it is."""
    load: float = posix.os.getloadavg()[0]
    return MOST_SECONDS * max(1.0, 2 * load / (os.cpu_count() or 1))


def require(holds: object, what: str) -> None:
    """Raise Fault with a text unless something holds."""
    if not holds:
        raise Fault(what)


def require_line(line: str) -> None:
    """Raise Fault for a message that is not one printable line of sensible length, in words."""
    require(line.isprintable(), f"control characters in a message: {line!r}")
    require(len(line) <= _LONGEST_LINE, f"a message of {len(line)} characters: {line}")
    require(not any(mark in line for mark in _PYTHON), f"Python's own words in a message: {line}")
    require(len(line.split()) >= 3, f"a message that says nothing: {line!r}")


def require_reported(outcome: Outcome, codes: Collection[int] = (0, 1, 2), line_by_line: bool = False) -> None:
    """Raise Fault for a command that ended in another way than with one of the codes, and a line where that is not 0.

    Commands that succeed may remark on something, line by line; those that fail may where `line_by_line` is true.
    """
    text = outcome.err
    require(not any(mark in text + outcome.out for mark in _PYTHON), f"Python's own words:\n{text or outcome.out}")
    require(outcome.code in codes, f"exit code {outcome.code}: {text}")
    require(outcome.seconds <= patience(), f"it took {outcome.seconds:.0f} s")
    require(outcome.bytes <= MOST_BYTES, f"it took {outcome.bytes >> 20} MiB")
    lines = text.splitlines()
    require(text.isprintable() or all(map(str.isprintable, lines)), f"control characters on standard error: {text!r}")
    if outcome.code:
        allowed = len(lines) == 1 or (line_by_line and lines)
        require(allowed, f"exit code {outcome.code} with {len(lines)} lines: {text!r}")
        for line in lines:
            require(line.startswith(_BEGINNINGS), f"a message of nobody: {line!r}")
    for line in lines:
        require_line(line)


Print = tuple[str, int, bytes]


def fingerprint(folder: Path) -> dict[str, Print]:
    """Return what lies in a folder and below, by path: its kind, mode and time, or digest, of each."""
    prints = {}
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            prints[str(path.relative_to(folder))] = _print(path)
    return prints


def _print(path: Path) -> Print:
    facts = path.lstat()
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISLNK(facts.st_mode):
        return "link", 0, os.fsencode(path.readlink())
    if stat.S_ISREG(facts.st_mode):
        return "file", mode, hashlib.blake2b(path.read_bytes()).digest() + facts.st_mtime_ns.to_bytes(9, "big")
    return str(stat.S_IFMT(facts.st_mode)), mode, b""


def require_untouched(before: Mapping[str, Print], after: Mapping[str, Print], own: Collection[str] = ()) -> None:
    """Raise Fault where anything but `own`, by path, is not as it was."""
    for path in sorted({*before, *after} - set(own)):
        if path not in after:
            raise Fault(f"{path} is gone")
        if path not in before:
            raise Fault(f"{path} was left behind")
        require(before[path] == after[path], f"{path} has changed")
