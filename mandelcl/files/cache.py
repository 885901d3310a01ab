"""One folder for everything that is remembered between runs; what is damaged in it is a miss.

An entry carries its own checksum, is written beside its place and renamed into it, so a killed process or two at once
leave no damaged entry that is used. But who can write there can make entries that are not damaged: `cache_folder` says
which folder is used.

A process clears away those of a kind used longest ago with its first write, and again where what it has written since
may be more than a sixteenth of the bound: an entry's time is that of its last use. Processes need no lock for that: at
worst an entry is removed that another has just used, and is made again.
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

# What is kept, by kind: each has a folder of entries, `vendors` several of .icd files, named after what is in them.
_VENDORS = "vendors"
KINDS = MappingProxyType(
    {
        "binaries": "built kernels",
        "selftest": "results of self-tests",
        "shading": "whether a device's colours are the host's",
        "rates": "measured iterations a second of kernels",
        "choices": "the device chosen for jobs like one",
        "devices": "the devices listed last, for completion",
        "openings": "the runtime that a command is likely to use",
        "tuning": "shapes that `mandelcl tune` found",
        "orbits": "reference orbits of deep views",
        "surveys": "a few points of views, which decide iteration limits",
        "thumbnails": "small pictures of the named places",
        _VENDORS: "the runtimes found, for the loader",
    }
)

_DIGEST_BYTES = hashlib.sha256().digest_size
_LASTING = ("tuning",)  # small, and made by minutes of measurement that the user asked for
_MOST_BYTES = 128 << 20  # of a kind
_LONGEST_ENTRY = 1 << 30
_MOST_ENTRIES = 4096
_SLACK = 16  # a process may write this fraction of the bounds before it clears again
_LONGEST_UNUSED_S = 90 * 86400.0
_LONGEST_DRAFT_S = 3600.0  # no writer takes so long, so it was killed
# Keys are hexadecimal digests, drafts their names with something before and after: nothing else is ever removed.
_ENTRY = re.compile(r"[0-9a-f]{32}")
_DRAFT = re.compile(r"\.[0-9a-f]{32}\..+")
_MERGED = re.compile(r"vendors-[0-9a-f]{16}")
_since_cleared: dict[Path, tuple[int, int]] = {}  # entries and bytes that this process has written to a folder
_notes: ContextVar[dict[tuple[str, str], str] | None] = ContextVar("notes", default=None)


def read(kind: str, key: str) -> bytes | None:
    """Return what was stored under a key; None if there is nothing, or nothing that can be trusted."""
    return _note(kind, key, _read(kind, key))


def read_json(kind: str, key: str) -> Any:
    """Return the value that was stored under a key as JSON; None if there is none."""
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
    with contextlib.suppress(OSError):  # a folder that may only be read
        os.utime(path)
    return payload


@contextlib.contextmanager
def noting() -> Iterator[dict[tuple[str, str], str]]:
    """Note what this thread reads and writes while the body runs: the digest of each entry, by kind and key.

    It is that of `digest`, of what the entry held last.
    """
    notes: dict[tuple[str, str], str] = {}
    before = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(before)


def digest(payload: bytes | None) -> str:
    """Return what names a payload; an empty text for None."""
    return "" if payload is None else hashlib.sha256(payload).hexdigest()


def _note(kind: str, key: str, payload: bytes | None) -> bytes | None:
    notes = _notes.get()
    if notes is not None:
        notes[kind, key] = digest(payload)
    return payload


def holds(kind: str, key: str) -> bool:
    """Return whether anything is stored under a key, trusted or not."""
    place = subfolder(kind)
    return place is not None and os.path.exists(place / key)  # noqa: PTH110 - Path.exists raises where it may not look


def remove(kind: str, key: str) -> None:
    """Forget what is stored under a key, if anything."""
    place = subfolder(kind)
    if place is not None:
        with contextlib.suppress(OSError):
            (place / key).unlink(missing_ok=True)


def write(kind: str, key: str, *parts: bytes | memoryview, most_bytes: int | None = None) -> None:
    """Store a payload, in one piece or several, under a key; where the folder cannot be written, do nothing.

    `most_bytes` is the bound of all entries of the kind, for a kind whose entries are large.
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
    """Return whether to clear a folder, to which so many bytes were just written."""
    entries, written = _since_cleared.get(place, (_MOST_ENTRIES, 0))
    _since_cleared[place] = entries, written = entries + 1, written + size
    due = entries > _MOST_ENTRIES // _SLACK or written > most_bytes // _SLACK
    if due:
        _since_cleared[place] = 0, 0
    return due


def _put(place: Path, key: str, *parts: bytes | memoryview) -> None:
    """Write a file that exists completely or not at all."""
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
    """Remove the drafts of killed processes, entries long unused, and beyond the bounds those used longest ago."""
    now, entries = time.time(), []
    for path in place.iterdir():
        with contextlib.suppress(OSError):
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode):
                continue
            if _ENTRY.fullmatch(path.name):
                entries.append((facts.st_mtime, facts.st_size, path))
            elif _DRAFT.fullmatch(path.name) and now - facts.st_mtime > _LONGEST_DRAFT_S:
                path.unlink(missing_ok=True)
    count = total = 0
    for used, size, path in sorted(entries, reverse=True):
        if count < _MOST_ENTRIES and total + size <= most_bytes and now - used <= _LONGEST_UNUSED_S:
            count, total = count + 1, total + size
            continue
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


class Stored(NamedTuple):
    """What is kept of a kind: how many files, and how many bytes in all."""

    kind: str
    files: int
    bytes: int


def contents() -> list[Stored]:
    """Return what is kept of each kind, drafts included; of one that has nothing, nothing."""
    sizes = {kind: [size for _, size in _files(kind)] for kind in KINDS}
    return [Stored(kind, len(found), sum(found)) for kind, found in sizes.items() if found]


def clear() -> None:
    """Remove all that is kept, and the folders that are empty then; nothing that is not mandelcl's own."""
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
                own = kind == _VENDORS or _ENTRY.fullmatch(path.name) or _DRAFT.fullmatch(path.name)
                if stat.S_ISREG(facts.st_mode) and own:
                    yield path, facts.st_size
