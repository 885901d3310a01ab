"""Files: one writer a suffix, one reader a kind, and never a half-written file.

A writer gets an open binary file, the field and, where it draws, the picture. Adding a format is one function and
one line in `_WRITERS`.
"""

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from mandelcl import archive, png
from mandelcl.errors import FileError, InvalidInputError
from mandelcl.field import Field
from mandelcl.job import Job
from mandelcl.strips import Paint, in_order

JOB_KEY = "mandelcl"
COLOURING_KEY = "mandelcl-colouring"
_PPM_STRIP_PIXELS = 1 << 18


@dataclass(frozen=True, slots=True)
class Picture:
    """Pixels to be, painted strip by strip so that the whole need not be in memory.

    `paint(top, bottom)` returns sRGB uint8 (bottom − top, width, 3); with a `table` (uint8, at most 256 × 3) it
    returns places in the table, uint8 (bottom − top, width). `colouring` is the colours' own description as
    JSON, or empty.
    """

    width: int
    height: int
    paint: Paint
    table: npt.NDArray[np.uint8] | None = None
    colouring: str = ""

    @classmethod
    def from_pixels(cls, pixels: npt.NDArray[np.uint8]) -> "Picture":
        """Return a picture of finished sRGB pixels, uint8 (height, width, 3)."""
        return cls(pixels.shape[1], pixels.shape[0], lambda top, bottom: pixels[top:bottom])


def check_writable(*paths: str | Path) -> None:
    """Raise FileError if any of the paths cannot be written, has an unknown suffix, or is there twice.

    To be called before work starts; it leaves nothing behind.
    """
    seen: dict[str, str | Path] = {}
    for path in paths:
        _writer(path)
        with _one_line(f"cannot write {path}"):
            target = _target(path)
            _require_replaceable(target, path)
            folder = target.parent
            if not folder.is_dir():
                raise FileError(f"cannot write {path}: there is no folder {folder}")
            # Asking for permission bits would be wrong for root and on read-only disks: try.
            with tempfile.TemporaryFile(dir=folder):
                pass
        key = os.path.normcase(target)
        if key in seen:
            raise FileError(f"{seen[key]} and {path} are the same file; give each output its own")
        seen[key] = path


def write(path: str | Path, field: Field | None, picture: Picture | None = None) -> None:
    """Write a field to the path, in the format of its suffix, replacing what was there in one step.

    Picture formats need `picture`; with a field they carry its job, so that it can be rendered again. A drawing
    that is nobody's job, such as a difference, has no field. Raises FileError, and leaves no file behind then.
    """
    writer = _writer(path)
    with _one_line(f"cannot write {path}"), _replacing(_target(path)) as file:
        writer(file, field, picture)


def read_field(path: str | Path) -> Field:
    """Return the field in an `.npz` file; raises FileError if it is not one, is damaged or contradicts its job."""
    with _reading(path) as file:
        return archive.read_archive(file)


def read_job(path: str | Path) -> Job:
    """Return the job that a `.png` or `.npz` file carries; raises FileError if there is none."""
    with _reading(path) as file:
        if archive.is_archive(file):
            return archive.read_job(file)
        texts = png.read_texts(file)
        if JOB_KEY not in texts:
            raise FileError("a picture that carries no mandelcl job")
        return Job.from_json(texts[JOB_KEY])


def read_colouring(path: str | Path) -> str | None:
    """Return the colouring's JSON (for `Colouring.from_json`) that a `.png` carries; None where there is none."""
    with _reading(path) as file:
        return None if archive.is_archive(file) else png.read_texts(file).get(COLOURING_KEY)


def _write_png(file: BinaryIO, field: Field | None, picture: Picture | None) -> None:
    picture = _require_picture(picture)
    texts = {JOB_KEY: field.job.to_json()} if field else {}
    if picture.colouring:
        texts[COLOURING_KEY] = picture.colouring
    png.write_png(file, picture.width, picture.height, picture.paint, picture.table, texts)


def _write_ppm(file: BinaryIO, _field: Field | None, picture: Picture | None) -> None:
    picture = _require_picture(picture)
    file.write(b"P6\n%d %d\n255\n" % (picture.width, picture.height))
    rows = max(1, _PPM_STRIP_PIXELS // picture.width)

    def paint(top: int) -> npt.NDArray[np.uint8]:
        pixels = picture.paint(top, min(top + rows, picture.height))
        return pixels if picture.table is None else np.take(picture.table, pixels, axis=0, mode="clip")

    for pixels in in_order(paint, range(0, picture.height, rows)):
        file.write(np.ascontiguousarray(pixels).data)


def _write_npz(file: BinaryIO, field: Field | None, _picture: Picture | None) -> None:
    if field is None:
        raise InvalidInputError("a field file needs a field; write a drawing as .png or .ppm")
    archive.write_archive(file, field)


_Writer = Callable[[BinaryIO, Field | None, Picture | None], None]
_WRITERS: Mapping[str, _Writer] = {".png": _write_png, ".ppm": _write_ppm, ".npz": _write_npz}
SUFFIXES = tuple(_WRITERS)


def _require_picture(picture: Picture | None) -> Picture:
    if picture is None:
        raise InvalidInputError("a picture file needs colours; write a field as .npz")
    return picture


def _writer(path: str | Path) -> _Writer:
    try:
        return _WRITERS[Path(path).suffix.lower()]
    except KeyError:
        raise FileError(f"cannot write {path}: the suffix must be one of {', '.join(SUFFIXES)}") from None


def _target(path: str | Path) -> Path:
    """Return the file that a path names: a link stays, and what it points to is replaced."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL byte
        raise FileError(f"{str(path)!r} is not a path") from error


def _require_replaceable(target: Path, path: str | Path) -> None:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise FileError(f"cannot write {path}: it is a folder")
    if not stat.S_ISREG(mode):
        raise FileError(f"cannot write {path}: it is a device or a pipe, not a file")


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """Give a new file beside the target; at the end put it in the target's place, or on any error remove it."""
    _require_replaceable(target, target)
    draft = target.with_name(f".mandelcl-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


@contextmanager
def _reading(path: str | Path) -> Iterator[BinaryIO]:
    with _one_line(f"cannot read {path}"), _target(path).open("rb") as file:
        yield file


@contextmanager
def _one_line(what: str) -> Iterator[None]:
    """Turn whatever goes wrong with a file into one line that begins with `what`."""
    try:
        yield
    except FileError as error:
        message = str(error)
        raise (error if message.startswith(what) else FileError(f"{what}: {message}")) from error.__cause__
    except InvalidInputError as error:
        raise FileError(f"{what}: {error}") from error
    except OSError as error:
        raise FileError(f"{what}: {error.strerror or error}") from error
    except MemoryError as error:
        raise FileError(f"{what}: not enough memory for it") from error
