"""Output files: one writer per suffix, and never a half-written file.

A writer gets the path of a tempfile, the rows of a field, the picture if the format draws one, and the compression.
Adding a format is one function and one line in `FORMATS`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.extras import load
from mandelcl.core.field import RowSource
from mandelcl.core.planes import SMOOTH
from mandelcl.core.report import Stopwatch
from mandelcl.files import archive, bigtiff, deepzoom, deflate, pillow, png
from mandelcl.files.paths import (
    Move,
    PathCheck,
    flush_to_disk,
    move,
    one_line,
    replacing,
    require_replaceable,
    require_writable,
    target,
    unchecked,
)
from mandelcl.files.strips import Picture, in_order, strip_rows

JOB_KEY = "mandelcl"
COLOURING_KEY = "mandelcl-colouring"
CERTIFIED_KEY = "mandelcl-certified"


def check_coloured(*paths: str | Path) -> None:
    """Raise InvalidInputError for the path of a picture, for calls without a colouring."""
    for path in paths:
        if format_of(path).is_picture:
            raise InvalidInputError(
                f"{path} is a picture, which needs a colouring, such as Colouring(find_palette('classic')); "
                "without a colouring, choose a field (.npz)"
            )


def check_drawable(*paths: str | Path, width: int, height: int, depth: int = 8, clear: bool = False) -> None:
    """Raise InvalidInputError for a picture that a path's format cannot hold. `clear`: it has transparent pixels."""
    for path in paths:
        kind = format_of(path)
        if not kind.is_picture:
            continue
        if max(width, height) > kind.most_side:
            raise InvalidInputError(
                f"{path} can have at most {kind.most_side} pixels per side, not {max(width, height)}; choose another "
                "format"
            )
        if depth > 8 and not kind.deep:
            raise InvalidInputError(
                f"{path} can only have 8 bits per channel; choose another format, such as .png or .tif"
            )
        if clear and not kind.clear:
            raise InvalidInputError(
                f"{path} cannot have transparent pixels; choose another format, such as .png or .webp"
            )


def planes_for(*paths: str | Path) -> tuple[str, ...]:
    """Return the planes besides counts that files with these suffixes need."""
    return tuple(dict.fromkeys(plane for path in paths for plane in format_of(path).planes))


def are_pictures(paths: Iterable[str | Path]) -> bool:
    """Return whether the suffixes of all paths are those of pictures."""
    return all(format_of(path).is_picture for path in paths)


def require_picture(path: str | Path) -> None:
    """Raise InvalidInputError for a path without the suffix of a picture."""
    if not format_of(path).is_picture:
        raise InvalidInputError(f"{path} has the suffix of a field; choose that of a picture, such as .png")


def check_writable(*paths: str | Path, beside: Sequence[str | Path] = ()) -> None:
    """Raise FileError if any of the paths cannot be written, has an unknown suffix, or is part of another.

    `beside` are files of other kinds that are written at the same time. Call this before work starts; it leaves no file
    behind.
    """
    require_writable(*paths, *beside, check_of=lambda path: format_of(path).check if path in paths else unchecked)
    for path in paths:
        if format_of(path).put_in_place is deepzoom.put_in_place:
            tiles = deepzoom.tiles_of(target(path))
            for nested in (*paths, *beside):
                if tiles.is_dir() and any(map(tiles.samefile, target(nested).parents)):
                    raise FileError(f"{nested} would lie among the tiles of {path}; choose another folder", nested)


def write(
    path: str | Path, source: RowSource | None, picture: Picture | None = None, compression: str = deflate.FAST
) -> None:
    """Write a field to the path, in the format of its suffix. Replace an existing file atomically.

    Picture formats need `picture`. With a field they store its job, so that it can be rendered again. A drawing without
    a job, such as a difference, has no field. `compression` is one of `deflate.COMPRESSIONS`. Raises FileError, or
    InvalidInputError for a picture that the format cannot hold; then no file is left behind.
    """
    if picture is not None:
        size = {"width": picture.width, "height": picture.height}
        check_drawable(path, **size, depth=picture.depth, clear=picture.channels % 2 == 0)
    with replacing(path, format_of(path).put_in_place) as tempfile:
        write_tempfile(path, tempfile, source, picture, compression)


def write_tempfile(
    path: str | Path, tempfile: Path, source: RowSource | None, picture: Picture | None, compression: str
) -> None:
    """Write the output for `path` to `tempfile`, which must not exist. Raises FileError that names `path`."""
    with one_line("cannot write", path):
        format_of(path).write(tempfile, source, picture, compression)
        if tempfile.is_file():
            with tempfile.open("rb+") as file:
                flush_to_disk(file)


def note(path: str | Path, tempfile: Path, texts: Mapping[str, str]) -> None:
    """Add texts to the finished tempfile of `path`, if its format can store them. Raises FileError."""
    add = format_of(path).add_texts
    if add is not None:
        with one_line("cannot write", path), tempfile.open("rb+") as file:
            add(file, texts)
            flush_to_disk(file)


def check_replaceable(path: str | Path) -> None:
    """Raise FileError if the path exists and must not be replaced."""
    with one_line("cannot write", path):
        place = target(path)
        require_replaceable(place, path)
        format_of(path).check(place)


def put_in_place(path: str | Path, tempfile: Path) -> None:
    """Replace `path` by its finished tempfile."""
    with one_line("cannot write", path):
        place = target(path)
        require_replaceable(place, path)
        format_of(path).put_in_place(tempfile, place)


def _write_png(tempfile: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    with tempfile.open("xb") as file:
        png.write_png(file, picture, _texts(source, picture), compression)


def _write_tiff(tempfile: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    bigtiff.write_tiff(tempfile, picture, _texts(source, picture), compression)


def _write_deep_zoom(tempfile: Path, _source: RowSource | None, picture: Picture | None, compression: str) -> None:
    deepzoom.write_deep_zoom(tempfile, _require_picture(picture), compression)


def _write_ppm(tempfile: Path, _source: RowSource | None, picture: Picture | None, _compression: str) -> None:
    picture = _require_picture(picture)
    rows = strip_rows(picture.width)

    def paint(top: int) -> npt.NDArray[Any]:
        pixels = picture.paint(top, min(top + rows, picture.height))
        if picture.depth == 16:
            return pixels.astype(">u2")
        return pixels if picture.table is None else np.take(picture.table, pixels, axis=0, mode="clip")

    with tempfile.open("xb") as file:
        magic, most = (5 if picture.channels == 1 else 6), (1 << picture.depth) - 1
        file.write(b"P%d\n%d %d\n%d\n" % (magic, picture.width, picture.height, most))
        for pixels in in_order(paint, range(0, picture.height, rows)):
            with picture.watch.of("encode"):
                file.write(np.ascontiguousarray(pixels).data)


def _write_jpeg(tempfile: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    pillow.write_picture(tempfile, picture, _texts(source, picture), pillow.JPEG, compression)


def _write_webp(tempfile: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    pillow.write_picture(tempfile, picture, _texts(source, picture), pillow.WEBP, compression)


def _write_npz(tempfile: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    if source is None:
        raise InvalidInputError("a field file needs a field; write a drawing as .png or .ppm")
    with tempfile.open("xb") as file:
        archive.write_archive(file, source, picture.watch if picture else Stopwatch(), compression)


def _write_exr(tempfile: Path, source: RowSource | None, picture: Picture | None, _compression: str) -> None:
    if source is None:
        raise InvalidInputError("an OpenEXR file needs a field and its job; write a drawing as .png or .ppm")
    from mandelcl.files.exr.writing import write_exr  # imported here because few renders need it

    write_exr(tempfile, source, picture, _texts(source, picture))


def _texts(source: RowSource | None, picture: Picture | None) -> dict[str, str]:
    texts = {JOB_KEY: source.job.to_json()} if source else {}
    return texts | ({COLOURING_KEY: picture.colouring} if picture is not None and picture.colouring else {})


def _needs(module: str, extra: str = "large") -> PathCheck:
    def check(place: Path) -> None:
        load(module, f"{place.suffix} needs {module}", extra, FileError)

    return check


def _check_deep_zoom(place: Path) -> None:
    _needs("pyvips")(place)
    deepzoom.require_replaceable(place)


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How files of a suffix are written, and roughly how many bytes they take per pixel.

    `bytes_rgb` and `bytes_indexed` are for a picture in RGB and for one with a colour table. `bytes_plane` is for each
    plane besides counts: twice the measured size for detailed views. `add_texts` adds texts to a finished file. `deep`
    says whether the format has 16 bits per channel, and `clear` whether it has transparency. Some formats have a
    longest side. Formats that are not pictures hold the planes of a field; `planes` are those that they need besides
    counts.
    """

    write: Callable[[Path, RowSource | None, Picture | None, str], None]
    bytes_rgb: float
    bytes_indexed: float
    bytes_plane: float = 0.0
    check: PathCheck = unchecked
    put_in_place: Move = move
    is_picture: bool = True
    add_texts: Callable[[BinaryIO, Mapping[str, str]], None] | None = None
    deep: bool = True
    clear: bool = True
    most_side: int = 1 << 31
    planes: tuple[str, ...] = ()


_JPEG = FileFormat(_write_jpeg, 2.0, 2.0, deep=False, clear=False, most_side=pillow.JPEG_SIDE)
FORMATS: Mapping[str, FileFormat] = {
    ".png": FileFormat(_write_png, 2.0, 0.5, add_texts=png.append_texts),
    ".ppm": FileFormat(_write_ppm, 3.0, 3.0, clear=False),
    ".npz": FileFormat(
        _write_npz, 1.0, 1.0, bytes_plane=8.0, is_picture=False
    ),  # packed once in the file, and once in a buffer
    ".exr": FileFormat(
        _write_exr, 20.0, 20.0, bytes_plane=8.0, check=_needs("OpenEXR", "exr"), is_picture=False, planes=(SMOOTH.name,)
    ),
    ".tif": FileFormat(_write_tiff, 2.0, 0.5, check=_needs("tifffile")),
    ".tiff": FileFormat(_write_tiff, 2.0, 0.5, check=_needs("tifffile")),
    ".dzi": FileFormat(_write_deep_zoom, 2.7, 1.5, check=_check_deep_zoom, put_in_place=deepzoom.put_in_place),
    **dict.fromkeys((".jpg", ".jpeg"), _JPEG),
    ".webp": FileFormat(_write_webp, 2.0, 1.0, deep=False, most_side=pillow.WEBP_SIDE),
}
SUFFIXES = tuple(FORMATS)
_FILMS = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".gif")


class NoFormatError(FileError, InvalidInputError):
    """A path whose suffix names no format."""


def format_of(path: str | Path) -> FileFormat:
    """Return the format for a path's suffix. Raises NoFormatError if there is none."""
    try:
        return FORMATS[Path(path).suffix.lower()]
    except KeyError:
        meant = f"did you mean {path}.png? " if Path(path).name and not Path(path).suffix else ""
        film = "; `mandelcl zoom` makes films" if Path(path).suffix.lower() in _FILMS else ""
        line = f"cannot write {path}: {meant}the suffix must be one of {', '.join(SUFFIXES)}{film}"
        raise NoFormatError(line, path) from None


def _require_picture(picture: Picture | None) -> Picture:
    if picture is None:
        raise InvalidInputError("a picture file needs colours; write a field as .npz")
    return picture
