"""Finished bands on disk, so that a render that was stopped can continue.

A store is a folder: a manifest that says which job it belongs to and how the picture is cut, and a compressed file for
each band, with a checksum over it and the manifest. A file is written under another name, flushed and renamed, so it
is complete, or was damaged later, which the checksum shows. The lock is the operating system's and ends with the
process.
"""

import hashlib
import json
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mandelcl.errors import FileError, InvalidInputError
from mandelcl.files import deepzoom
from mandelcl.files.lock import FileLock
from mandelcl.files.paths import one_line, read_bounded
from mandelcl.job import Job
from mandelcl.planes import Word, words_of
from mandelcl.words import Words

MANIFEST = "manifest.json"
LOCK = "lock"
DRAFT = "draft"
_BAND = "band-{:07d}"
_NEW = ".new"
_OWN_BAND = re.compile(r"band-\d{7}")
_OWN_DRAFT = re.compile(rf"{DRAFT}|(manifest\.json|band-\d{{7}})\{_NEW}")
_VERSION = 1
_MAGIC = b"mandelcl band 1\n"
_DIGEST_BYTES = 16
_LONGEST_MANIFEST = 1 << 20
_LEVEL = 1
_HEADER = struct.Struct("<III")  # words a pixel, rows, columns


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a store holds: the results of a resolved job, cut into bands of `band_rows` rows.

    `origin` is the text that it was read from, which the checksums of the bands include; empty for a new one.
    """

    job: Job
    band_rows: int
    origin: str = field(default="", compare=False, repr=False)

    @property
    def bands(self) -> int:
        """Number of bands."""
        return -(-self.job.view.height // self.band_rows)

    def shape(self, band: int) -> tuple[int, int, int]:
        """Return words a pixel, rows and columns of a band."""
        view = self.job.view
        return self.job.words, min(self.band_rows, view.height - band * self.band_rows), view.width

    def text(self) -> str:
        """Return the manifest as JSON, in the words of the version of mandelcl that wrote it."""
        core = {"version": _VERSION, "job": json.loads(self.job.to_json()), "band_rows": self.band_rows}
        return self.origin or _text({"manifest": core, "checksum": _checksum(core)})

    @classmethod
    def parse(cls, text: str) -> "Manifest":
        """Return what `text` wrote; raises ValueError for anything else."""
        try:
            values = json.loads(text)
            core: dict[str, Any] = values["manifest"]
            if values["checksum"] != _checksum(core):
                raise ValueError("its checksum is wrong")
            if core["version"] != _VERSION:
                raise ValueError(f"it has version {core['version']!r}; this mandelcl reads version {_VERSION}")
            origin = _text({"manifest": core, "checksum": values["checksum"]})
            manifest = cls(Job.from_json(json.dumps(core["job"])), int(core["band_rows"]), origin)
        except (AttributeError, InvalidInputError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        if manifest.band_rows < 1:
            raise ValueError("its bands have no rows")
        return manifest


class Store:
    """The folder of one output, `FILE.part`, locked by this process: drafts and, once begun, finished bands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: Manifest | None = None
        self.keeps_draft = False  # a finished draft that could not be put in place
        self._lock = FileLock(folder / LOCK)

    def lock(self) -> None:
        """Create and lock the folder; raises FileError if another process has locked it, or it is not mandelcl's."""
        self.folder.mkdir(exist_ok=True)
        self._refuse_strangers()
        if not self._lock.acquire():
            why = f"{self.folder} is in use: another mandelcl is drawing the same file"
            raise FileError(why, self.folder)

    def _refuse_strangers(self) -> None:
        """Raise FileError for files with a store's names in a folder that has neither lock nor manifest."""
        names = sorted(path.name for path in self.folder.iterdir())
        strangers = [name for name in names if _OWN_BAND.fullmatch(name) or _OWN_DRAFT.fullmatch(name)]
        if strangers and not {LOCK, MANIFEST} & set(names):
            stranger = self.folder / strangers[0]
            raise FileError(f"{stranger} is not mandelcl's; move it away, or choose another output", stranger)

    def read_manifest(self) -> Manifest | None:
        """Return the manifest in the folder; None if there is none. Raises FileError for a damaged one."""
        path = self.folder / MANIFEST
        if not path.exists():
            return None
        try:
            with one_line("cannot use", self.folder):
                text = read_bounded(path, _LONGEST_MANIFEST).decode()
            return Manifest.parse(text)
        except ValueError as error:  # UnicodeDecodeError is one, too
            why = f"{path} is damaged ({error}), so nothing here can be used; delete {self.folder}"
            raise FileError(why, path) from error

    def begin(self, manifest: Manifest) -> None:
        """Write the manifest, unless there is one already."""
        self.manifest = manifest
        if not (self.folder / MANIFEST).exists():
            self._write(MANIFEST, [manifest.text().encode()])

    def verified(self) -> Iterator[tuple[int, bool]]:
        """Yield the number of each band that has a file, and whether the file is intact; damaged ones are removed."""
        for band in range(self._require_manifest().bands):
            if not self._path(band).exists():
                continue
            try:
                self.read(band)
                yield band, True
            except FileError:
                with one_line("cannot use", self.folder):
                    self._path(band).unlink()
                yield band, False

    def band_count(self) -> int:
        """Return how many bands have files."""
        return sum(map(_is_band, self.folder.iterdir()))

    def write(self, band: int, results: Words) -> None:
        """Put a band's results (words × rows × width) into the store."""
        head = _HEADER.pack(*results.shape)
        parts = [head, *_pack(results, words_of(self._require_manifest().job.planes))]
        self._write(_BAND.format(band), [_MAGIC, self._digest(band, parts), *parts])

    def read(self, band: int) -> Words:
        """Return a band's results; raises FileError if its file is damaged or belongs to another store."""
        shape = self._require_manifest().shape(band)
        start = len(_MAGIC) + _DIGEST_BYTES
        most = start + _HEADER.size + shape[0] * _packed_bound(4 * shape[1] * shape[2])
        with one_line("cannot use", self.folder):
            data = memoryview(read_bounded(self._path(band), most))
        intact = data[: len(_MAGIC)] == _MAGIC and data[len(_MAGIC) : start] == self._digest(band, [data[start:]])
        if not intact or _HEADER.unpack_from(data, start) != shape:
            raise FileError(f"{self._path(band)} is damaged", self._path(band))
        return _unpack(data[start + _HEADER.size :], shape, words_of(self._require_manifest().job.planes))

    def remove(self) -> None:
        """Remove the store's files and nothing else, the folder if that leaves it empty, and the lock."""
        if not self._lock.is_held:
            return
        # The manifest goes last: bands without one belong to no job, and are swept away.
        names = [path for path in self.folder.iterdir() if _is_band(path) or _is_draft(path)]
        for path in (*names, self.folder / MANIFEST):
            _remove(path)
        with suppress(OSError):  # Windows does not remove a file that is open
            _remove(self.folder / LOCK)
        self._lock.release()
        with suppress(OSError):  # somebody else's file is in it
            _remove(self.folder / LOCK)
            self.folder.rmdir()

    def sweep(self) -> None:
        """Remove drafts that an earlier process left, and bands without a manifest; the caller holds the lock."""
        orphans = not (self.folder / MANIFEST).exists()
        for path in self.folder.iterdir():
            if _is_draft(path) or (orphans and _is_band(path)):
                _remove(path)

    def release(self) -> None:
        """Release the lock; drafts are removed, unless one is to be kept, and so is a folder without bands."""
        if not self._lock.is_held:
            return
        if self.keeps_draft:
            self._lock.release()  # its file stays: the next render knows the folder by it
        elif (self.folder / MANIFEST).exists():
            self.sweep()
            self._lock.release()
        else:
            self.remove()

    def _require_manifest(self) -> Manifest:
        if self.manifest is None:
            raise RuntimeError("the store has not begun")
        return self.manifest

    def _path(self, band: int) -> Path:
        return self.folder / _BAND.format(band)

    def _digest(self, band: int, parts: list[bytes] | list[memoryview]) -> bytes:
        digest = hashlib.blake2b(f"{band}\n{self._require_manifest().text()}".encode(), digest_size=_DIGEST_BYTES)
        for part in parts:
            digest.update(part)
        return digest.digest()

    def _write(self, name: str, parts: list[bytes]) -> None:
        """Write a file that exists completely or not at all, whenever the process or the machine stops."""
        draft = self.folder / f"{name}{_NEW}"
        try:
            with draft.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.folder / name)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise


def _text(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=1) + "\n"


def _checksum(core: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(core, sort_keys=True).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _is_band(path: Path) -> bool:
    return bool(_OWN_BAND.fullmatch(path.name)) and not _is_folder(path)


def _is_draft(path: Path) -> bool:
    """Whether a path is a draft that a store made: a file, or the folder of a Deep Zoom picture."""
    if _is_folder(path):
        return path.name == DRAFT and deepzoom.is_draft(path)
    return bool(_OWN_DRAFT.fullmatch(path.name))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    if _is_folder(path):
        import shutil  # only Deep Zoom's drafts are folders

        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _packed_bound(size: int) -> int:
    """Return a bound on the size of so many bytes when packed, with their header."""
    return size + size // 1000 + 64


def _pack(results: Words, kinds: Sequence[Word]) -> Iterator[bytes]:
    """Yield, for each word of a pixel, a header (bytes a word, packed length) and the packed bytes, grouped by rank.

    Words that follow the counts closely are packed as their difference; no word has more bytes than needed.
    """
    for kind, values in zip(kinds, results, strict=True):
        words = values - results[0] if kind.near_counts else values
        largest = int(words.max())
        size = 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
        planar = np.ascontiguousarray(words.astype(f"<u{size}").reshape(-1).view(np.uint8).reshape(-1, size).T)
        packed = zlib.compress(planar.data, _LEVEL)
        yield struct.pack("<IQ", size, len(packed))
        yield packed


def _unpack(data: memoryview, shape: tuple[int, int, int], kinds: Sequence[Word]) -> Words:
    results = np.empty(shape, np.uint32)
    start = 0
    for index, kind in enumerate(kinds):
        size, length = struct.unpack_from("<IQ", data, start)
        start += 12
        planar = np.frombuffer(zlib.decompress(data[start : start + length]), np.uint8).reshape(size, -1)
        words = np.ascontiguousarray(planar.T).reshape(-1).view(f"<u{size}").reshape(shape[1:])
        results[index] = words
        if kind.near_counts:
            results[index] += results[0]
        start += length
    return results
