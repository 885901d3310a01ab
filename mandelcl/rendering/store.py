"""Finished bands on disk, so that a render that was stopped can continue.

A store is a folder. It has a manifest, which names its job, the layout of its bands and how the picture is cut, and one
compressed file per band. The head of a band has a checksum over the manifest and the table of the band's frames, and
that table has the frames' checksums. A file is written under a temporary name and renamed, so it is complete unless it
was damaged later or by a power cut, which the checksums detect. The lock is the operating system's and ends with the
process.
"""

import hashlib
import json
import os
import re
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from mandelcl.base.errors import FileError
from mandelcl.files import deepzoom
from mandelcl.files.folder_lock import LOCK, FolderLock
from mandelcl.files.paths import flush_to_disk, one_line, read_bounded
from mandelcl.rendering import packing
from mandelcl.rendering.band_layout import Values
from mandelcl.rendering.manifest import DIGEST_BYTES, Manifest, OtherVersionError

MANIFEST = "manifest.json"
TEMPFILE = "draft"
BAND = "band-{:07d}"
NEW = ".new"
_BAND = re.compile(r"band-\d{7}")
_TEMPFILE = re.compile(rf"{TEMPFILE}|(manifest\.json|band-\d{{7}})\{NEW}")
_KEEPS_OPEN_FILES = os.name == "nt"
_TRIES = 100  # together 2 s
_PAUSE_S = 0.02
_MAGIC = b"mandelcl band 2\n"
_LONGEST_MANIFEST = 1 << 20
_LONGEST_FACTS = 1 << 12
_HEAD = struct.Struct(f"<{len(_MAGIC)}s{DIGEST_BYTES}sI")  # the last field: the length of the facts in bytes
_NO_FACTS: Mapping[str, Any] = MappingProxyType({})


def own(names: list[str]) -> list[str]:
    """Return those names that only a store uses."""
    return [name for name in names if _BAND.fullmatch(name) or _TEMPFILE.fullmatch(name)]


def is_band(path: Path) -> bool:
    """Return whether a path is a store's band."""
    return bool(_BAND.fullmatch(path.name)) and not _is_folder(path)


def is_tempfile(path: Path) -> bool:
    """Return whether a path is a store's tempfile: a file, or the folder of a Deep Zoom picture."""
    if _is_folder(path):
        return path.name == TEMPFILE and deepzoom.is_tempfile(path)
    return bool(_TEMPFILE.fullmatch(path.name))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def remove(path: Path) -> None:
    """Remove a file if it exists, or a folder with all its contents."""
    if _is_folder(path):
        import shutil  # only Deep Zoom's tempfiles are folders

        with suppress(OSError):
            _patiently(partial(shutil.rmtree, path))
    else:
        _patiently(partial(path.unlink, missing_ok=True))


def _patiently(remove: Callable[[], object]) -> None:
    """Call a function that removes. On Windows, wait a while for other threads of this process to close the files."""
    for left in reversed(range(_TRIES if _KEEPS_OPEN_FILES else 1)):
        try:
            remove()
        except FileNotFoundError:
            raise
        except OSError:
            if not left:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


class Band(NamedTuple):
    """A band's values, and the facts that were stored with them."""

    values: Values
    facts: Mapping[str, Any]


class BandStore:
    """The folder `FILE.part` of one output, locked by this process, with its tempfiles and finished bands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: Manifest | None = None
        self.keeps_tempfile = False  # a finished tempfile that could not be renamed to its final name
        self._lock: FolderLock | None = None

    def lock(self) -> None:
        """Create and lock the folder. Raises FileError if another process has locked it, or if it is not a store."""
        in_use = f"{self.folder} is in use: another mandelcl process is drawing the same file"
        otherwise = "move it away, or choose another output"
        self._lock = FolderLock.acquire(self.folder, self._refuse_strangers, in_use, otherwise)

    def _refuse_strangers(self) -> None:
        """Raise FileError if a folder without lock and manifest has files with a store's names."""
        names = sorted(path.name for path in self.folder.iterdir())
        strangers = own(names)
        if strangers and not {LOCK, MANIFEST} & set(names):
            stranger = self.folder / strangers[0]
            raise FileError(f"{stranger} was not made by mandelcl; move it away, or choose another output", stranger)

    def read_manifest(self) -> Manifest | None:
        """Return the manifest in the folder, or None if there is none. Raises FileError if it is damaged."""
        path = self.folder / MANIFEST
        if not path.exists():
            return None
        try:
            with one_line("cannot use", self.folder):
                text = read_bounded(path, _LONGEST_MANIFEST).decode()
            return Manifest.parse(text)
        except OtherVersionError as error:
            why = f"another version of mandelcl made {self.folder} ({error}); continue with that, or delete the folder"
            raise FileError(why, path) from error
        except ValueError as error:  # UnicodeDecodeError is one, too
            why = f"{path} is damaged ({error}), so the render cannot continue; delete {self.folder}"
            raise FileError(why, path) from error

    def begin(self, manifest: Manifest) -> None:
        """Write the manifest, unless there is one already."""
        self.manifest = manifest = replace(manifest, origin=manifest.text())  # each band's checksum includes it
        if not (self.folder / MANIFEST).exists():
            self._write(MANIFEST, [manifest.text().encode()], flush=True)

    def verified(self, check: Callable[[Band], object] | None = None) -> Iterator[tuple[int, bool]]:
        """Yield the number of each band that has a file, and whether the file is intact. Damaged files are removed.

        A band for which `check` raises ValueError counts as damaged, too.
        """
        for band in range(self._require_manifest().bands):
            if not self._path(band).exists():
                continue
            try:
                kept = self.read(band)
                if check is not None:
                    check(kept)
                yield band, True
            except (FileError, ValueError):
                with one_line("cannot use", self.folder):
                    self._path(band).unlink()
                yield band, False

    def left_behind(self) -> Manifest | None:
        """Return the manifest of an earlier render's bands. A manifest without bands is removed, and None returned."""
        manifest = self.read_manifest()
        if manifest is None or self.band_count():
            return manifest
        with one_line("cannot use", self.folder):
            remove(self.folder / MANIFEST)
        return None

    def band_count(self) -> int:
        """Return the number of bands that have files."""
        return sum(map(is_band, self.folder.iterdir()))

    def write(self, band: int, values: Values, facts: Mapping[str, Any] = _NO_FACTS) -> None:
        """Write a band's values to the store, with facts about it as JSON, of about 4000 bytes at most."""
        manifest = self._require_manifest()
        if (values.shape, values.dtype) != (manifest.shape(band), manifest.form.dtype):
            raise ValueError(f"a band of {values.dtype} {values.shape} does not have the store's layout")
        table, frames = packing.pack(values, manifest.form)
        text = json.dumps(dict(facts)).encode()
        if len(text) > _LONGEST_FACTS:
            raise ValueError(f"facts of {len(text)} bytes")
        digest = self._digest(band, text, table)
        parts = [_HEAD.pack(_MAGIC, digest, len(text)), text, table, *frames]
        self._write(BAND.format(band), parts, flush=False)  # after a power cut, the checksums detect what is missing

    def drop(self, band: int) -> None:
        """Remove a band if it exists."""
        remove(self._path(band))

    def read(self, band: int) -> Band:
        """Return a band. Raises FileError if its file is damaged or belongs to another store."""
        manifest, path = self._require_manifest(), self._path(band)
        rows, columns = manifest.rows(band), manifest.job.view.width
        table_bytes = packing.TABLE_ENTRY_BYTES * packing.entries(manifest.form, rows, columns)
        most = _HEAD.size + _LONGEST_FACTS + table_bytes + packing.most_bytes(manifest.form, rows, columns)
        with one_line("cannot use", self.folder):
            data = memoryview(read_bounded(path, most))
        try:
            magic, digest, facts_bytes = _HEAD.unpack_from(data)
            table_at = _HEAD.size + facts_bytes
            frames_at = table_at + table_bytes
            text, table = bytes(data[_HEAD.size : table_at]), data[table_at:frames_at]
            if magic != _MAGIC or digest != self._digest(band, text, table):
                raise ValueError("the head's checksum is wrong")
            facts = json.loads(text)
            if not isinstance(facts, dict):
                raise ValueError("the facts are no object")
            return Band(packing.unpack(table, data[frames_at:], manifest.form, rows, columns), facts)
        except (LookupError, RecursionError, ValueError, struct.error) as error:
            raise FileError(f"{path} is damaged", path) from error

    def remove(self) -> None:
        """Remove the store's own files and the lock, and also the folder if it is then empty."""
        if self._lock is None or not self._lock.held:
            return
        # The manifest goes last: bands without a manifest belong to no job, and `sweep` removes them.
        names = [path for path in self._entries() if is_band(path) or is_tempfile(path)]
        for path in (*names, self.folder / MANIFEST):
            remove(path)
        try:
            self._lock.remove()
        finally:
            with suppress(OSError):  # the folder has a file that is not the store's
                _patiently(self.folder.rmdir)

    def sweep(self) -> None:
        """Remove tempfiles of earlier processes, and bands without a manifest. The caller holds the lock."""
        orphans = not (self.folder / MANIFEST).exists()
        for path in self._entries():
            if is_tempfile(path) or (orphans and is_band(path)):
                remove(path)

    def _entries(self) -> list[Path]:
        """Return the folder's entries; if it cannot be read, those that this process may have created."""
        try:
            return list(self.folder.iterdir())
        except OSError:  # no file descriptor is left
            bands = [BAND.format(band) for band in range(self.manifest.bands)] if self.manifest else []
            mine = (TEMPFILE, *(f"{name}{NEW}" for name in (MANIFEST, *bands)), *bands)
            return [self.folder / name for name in mine if os.path.lexists(self.folder / name)]

    def release(self) -> None:
        """Release the lock. Tempfiles are removed, unless `keeps_tempfile` is set, and so is a folder without bands."""
        if self._lock is None or not self._lock.held:
            return
        if self.keeps_tempfile:
            self._lock.release()
        elif (self.folder / MANIFEST).exists() and (self.manifest is None or any(map(is_band, self._entries()))):
            self.sweep()
            self._lock.release()
        else:
            self.remove()

    def _require_manifest(self) -> Manifest:
        if self.manifest is None:
            raise RuntimeError("the store has not begun")
        return self.manifest

    def _path(self, band: int) -> Path:
        return self.folder / BAND.format(band)

    def _digest(self, band: int, facts: bytes, table: bytes | memoryview) -> bytes:
        """Return a digest that binds a band's file to its position, to the manifest and to its contents."""
        digest = hashlib.blake2b(f"{band}\n{self._require_manifest().text()}".encode(), digest_size=DIGEST_BYTES)
        for part in (_HEAD.pack(_MAGIC, b"", len(facts)), facts, table):
            digest.update(part)
        return digest.digest()

    def _write(self, name: str, parts: list[bytes], flush: bool) -> None:
        """Write a file atomically: it exists completely or not at all, whenever the process stops.

        With `flush` this also holds if the machine stops.
        """
        tempfile = self.folder / f"{name}{NEW}"
        try:
            with tempfile.open("wb") as file:
                for part in parts:
                    file.write(part)
                if flush:
                    flush_to_disk(file)
            tempfile.replace(self.folder / name)
        except BaseException:
            with suppress(OSError):
                tempfile.unlink()
            raise
