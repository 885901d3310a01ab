"""One folder for everything that is remembered between runs. A damaged entry counts as a miss.

An entry has its own checksum and is written atomically, by a rename. So a killed process, or two writers at once, leave
no damaged entry that is used. But anyone who can write to the folder can make valid entries: `cache_folder` decides
which folder is used.

With its first write to a kind, a process removes that kind's least recently used entries; it does so again whenever it
may have written more than a sixteenth of the bound since. An entry's time is that of its last use. This needs no lock:
at worst an entry that another process has just used is removed, and made again.
"""

import contextlib
import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from mandelcl.files import own_folder
from mandelcl.files.cache_folder import complain_of, complaints, folder, make, subfolder

__all__ = [
    "KINDS",
    "Stored",
    "clear",
    "complaints",
    "contents",
    "digest",
    "folder",
    "holds",
    "make",
    "noting",
    "read",
    "read_json",
    "remove",
    "subfolder",
    "write",
]

# The kinds of entries. Each has a folder of entries; `vendors` has several folders of .icd files, named by content.
_VENDORS = "vendors"
KINDS = MappingProxyType(
    {
        "binaries": "built kernels",
        "selftest": "results of self-tests",
        "shading": "whether a device's colours equal the host's",
        "rates": "measured iterations per second of kernels",
        "choices": "devices chosen for jobs of a kind",
        "devices": "the devices listed last, for shell completion",
        "openings": "the runtime that a command probably uses",
        "tuning": "kernel shapes that `mandelcl tune` found",
        "orbits": "reference orbits of deep views",
        "surveys": "a few points of a view, for automatic iteration limits",
        "thumbnails": "thumbnails of the named locations",
        _VENDORS: "the runtimes found, for the OpenCL loader",
    }
)

_DIGEST_BYTES = hashlib.sha256().digest_size
_LASTING = ("tuning",)  # small, and the result of minutes of measurement that the user asked for
_MOST_BYTES = 128 << 20  # per kind
_LONGEST_ENTRY = 1 << 30
_MOST_ENTRIES = 4096
_SLACK = 16  # 1/16 of the bounds may be written before a process clears again
_LONGEST_UNUSED_S = 90 * 86400.0
_LONGEST_TEMPFILE_S = 3600.0  # no writer takes this long, so it was killed
# Keys are hexadecimal digests, and tempfiles their names with a prefix and a suffix. Nothing else is ever removed.
_ENTRY = re.compile(r"[0-9a-f]{32}")
_TEMPFILE = re.compile(r"\.[0-9a-f]{32}\..+")
_MERGED = re.compile(r"vendors-[0-9a-f]{16}")
_since_cleared: dict[Path, tuple[int, int]] = {}  # entries and bytes that this process has written, by folder
_notes: ContextVar[dict[tuple[str, str], str] | None] = ContextVar("notes", default=None)


def read(kind: str, key: str) -> bytes | None:
    """Return the payload stored under a key; None if there is none, or if it is damaged."""
    return _note(kind, key, _read(kind, key))


def read_json(kind: str, key: str) -> Any:
    """Return the value stored as JSON under a key; None if there is none."""
    try:
        return json.loads(read(kind, key) or b"null")
    except (ValueError, RecursionError):
        return None


def _read(kind: str, key: str) -> bytes | None:
    place = subfolder(kind)
    if place is None:
        return None
    path = place / key
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode) or not own_folder.owned(facts) or facts.st_size > _LONGEST_ENTRY:
            return None
        with path.open("rb") as file:
            digest, payload = file.read(_DIGEST_BYTES), file.read(facts.st_size)
    except OSError:
        return None
    if hashlib.sha256(payload).digest() != digest:
        return None
    with contextlib.suppress(OSError):  # a read-only folder
        os.utime(path)
    return payload


@contextlib.contextmanager
def noting() -> Iterator[dict[tuple[str, str], str]]:
    """Record what this thread reads and writes while the body runs: the digest of each entry, by kind and key.

    The digest is that of `digest`, of the entry's latest payload.
    """
    notes: dict[tuple[str, str], str] = {}
    before = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(before)


def digest(payload: bytes | None) -> str:
    """Return the digest that identifies a payload; an empty text for None."""
    return "" if payload is None else hashlib.sha256(payload).hexdigest()


def _note(kind: str, key: str, payload: bytes | None) -> bytes | None:
    notes = _notes.get()
    if notes is not None:
        notes[kind, key] = digest(payload)
    return payload


def holds(kind: str, key: str) -> bool:
    """Return whether anything is stored under a key, valid or not."""
    place = subfolder(kind)
    return place is not None and os.path.exists(place / key)  # noqa: PTH110 - Path.exists raises where it may not look


def remove(kind: str, key: str) -> None:
    """Remove the entry of a key, if there is one."""
    place = subfolder(kind)
    if place is not None:
        with contextlib.suppress(OSError):
            (place / key).unlink(missing_ok=True)


def write(kind: str, key: str, *parts: bytes | memoryview, most_bytes: int | None = None) -> None:
    """Store a payload, given in one or several parts, under a key. Do nothing if the folder cannot be written to.

    `most_bytes` bounds the size of all entries of the kind, for kinds with large entries.
    """
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part)
    notes = _notes.get()
    if notes is not None:
        notes[kind, key] = sha.hexdigest()
    if subfolder(kind) is None:
        return
    with contextlib.suppress(OSError):
        place = make(kind)
        _put(place, key, sha.digest(), *parts)
        most_bytes = _MOST_BYTES if most_bytes is None else most_bytes
        if kind not in _LASTING and _may_exceed(
            place, sum(len(memoryview(part).cast("B")) for part in parts), most_bytes
        ):
            _clear(place, most_bytes)


def _may_exceed(place: Path, size: int, most_bytes: int) -> bool:
    """Return whether to clear a folder after writing `size` more bytes to it."""
    entries, written = _since_cleared.get(place, (_MOST_ENTRIES, 0))
    _since_cleared[place] = entries, written = entries + 1, written + size
    due = entries > _MOST_ENTRIES // _SLACK or written > most_bytes // _SLACK
    if due:
        _since_cleared[place] = 0, 0
    return due


def _put(place: Path, key: str, *parts: bytes | memoryview) -> None:
    """Write a file atomically."""
    try:
        handle, name = tempfile.mkstemp(dir=place, prefix=f".{key}.")
        try:
            with os.fdopen(handle, "wb") as file:
                for part in parts:
                    file.write(part)
            Path(name).replace(place / key)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        complain_of(error)
        raise


def _clear(place: Path, most_bytes: int) -> None:
    """Remove tempfiles of killed processes, long unused entries, and the least recently used ones beyond the bounds."""
    now, entries = time.time(), []
    for path in place.iterdir():
        with contextlib.suppress(OSError):
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode):
                continue
            if _ENTRY.fullmatch(path.name):
                entries.append((facts.st_mtime, facts.st_size, path))
            elif _TEMPFILE.fullmatch(path.name) and now - facts.st_mtime > _LONGEST_TEMPFILE_S:
                path.unlink(missing_ok=True)
    count = total = 0
    for used, size, path in sorted(entries, reverse=True):
        if count < _MOST_ENTRIES and total + size <= most_bytes and now - used <= _LONGEST_UNUSED_S:
            count, total = count + 1, total + size
            continue
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


class Stored(NamedTuple):
    """The contents of one kind: the number of files, and their total size in bytes."""

    kind: str
    files: int
    bytes: int


def contents() -> list[Stored]:
    """Return the contents of each kind that has files, including tempfiles."""
    sizes = {kind: [size for _, size in _files(kind)] for kind in KINDS}
    return [Stored(kind, len(found), sum(found)) for kind, found in sizes.items() if found]


def clear() -> None:
    """Remove all entries and the folders that are then empty. Files that mandelcl did not make stay."""
    root = folder()
    if root is None:
        return
    for kind in KINDS:
        for path, _ in _files(kind):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        for place in _folders(root, kind):
            with contextlib.suppress(OSError):
                place.rmdir()
    with contextlib.suppress(OSError):
        root.rmdir()


def _folders(root: Path, kind: str) -> list[Path]:
    if kind != _VENDORS:
        return [root / kind]
    with contextlib.suppress(OSError):
        return [path for path in root.iterdir() if _MERGED.fullmatch(path.name)]
    return []


def _files(kind: str) -> Iterator[tuple[Path, int]]:
    """Yield the files of a kind and their sizes."""
    root = folder()
    for place in _folders(root, kind) if root is not None else ():
        with contextlib.suppress(OSError):
            for path in list(place.iterdir()):
                facts = path.lstat()
                own = kind == _VENDORS or _ENTRY.fullmatch(path.name) or _TEMPFILE.fullmatch(path.name)
                if stat.S_ISREG(facts.st_mode) and own:
                    yield path, facts.st_size
