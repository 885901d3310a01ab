"""Files: one writer a suffix, and never a half-written file.

A writer gets the path of a draft, the rows of a field, the picture where it draws, and how to compress. Adding a format
is one function and one line in `FORMATS`.
"""

from collections.abc import Callable, Mapping, Sequence
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
    """Raise InvalidInputError for a path that is to be a picture: without a colouring it cannot be drawn."""
    for path in paths:
        if format_of(path).is_picture:
            raise InvalidInputError(
                f"{path} is a picture, which needs a colouring, such as Colouring(find_palette('classic')); "
                "without one a field is written (.npz)"
            )


def check_drawable(*paths: str | Path, width: int, height: int, depth: int = 8, clear: bool = False) -> None:
    """Raise InvalidInputError for a picture that a path's format cannot hold; `clear`: with transparent pixels."""
    for path in paths:
        kind = format_of(path)
        if not kind.is_picture:
            continue
        if max(width, height) > kind.most_side:
            raise InvalidInputError(
                f"{path} may have {kind.most_side} pixels a side, not {max(width, height)}; choose another format"
            )
        if depth > 8 and not kind.deep:
            raise InvalidInputError(f"{path} has 8 bits a channel; choose another format, such as .png or .tif")
        if clear and not kind.clear:
            raise InvalidInputError(f"{path} has no transparent pixels; choose another format, such as .png or .webp")


def planes_for(*paths: str | Path) -> tuple[str, ...]:
    """Return the planes that files with the paths' suffixes are to have beside the counts."""
    return tuple(dict.fromkeys(plane for path in paths for plane in format_of(path).planes))


def require_picture(path: str | Path) -> None:
    """Raise InvalidInputError for a path whose suffix is not that of a picture."""
    if not format_of(path).is_picture:
        raise InvalidInputError(f"{path} would be a field; a drawing is written as .png, for example")


def check_writable(*paths: str | Path, beside: Sequence[str | Path] = ()) -> None:
    """Raise FileError if any of the paths cannot be written, has an unknown suffix, or is part of another.

    `beside` are files of other kinds, which are written at the same time. To be called before work starts; it leaves
    nothing behind.
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
    """Write a field to the path, in the format of its suffix, replacing what was there in one step.

    Picture formats need `picture`; with a field they carry its job, so that it can be rendered again. A drawing
    that is nobody's job, such as a difference, has no field. `compression` is one of `deflate.COMPRESSIONS`. Raises
    FileError, and InvalidInputError for a picture that the format cannot hold, and leaves no file behind then.
    """
    if picture is not None:
        size = {"width": picture.width, "height": picture.height}
        check_drawable(path, **size, depth=picture.depth, clear=picture.channels % 2 == 0)
    with replacing(path, format_of(path).put_in_place) as draft:
        write_draft(path, draft, source, picture, compression)


def write_draft(
    path: str | Path, draft: Path, source: RowSource | None, picture: Picture | None, compression: str
) -> None:
    """Write what is to become `path` to `draft`, which does not exist yet; raises FileError that names `path`."""
    with one_line("cannot write", path):
        format_of(path).write(draft, source, picture, compression)
        if draft.is_file():
            with draft.open("rb+") as file:
                flush_to_disk(file)


def note(path: str | Path, draft: Path, texts: Mapping[str, str]) -> None:
    """Add texts to the finished draft of `path`, where its format has a place for them; raises FileError."""
    add = format_of(path).add_texts
    if add is not None:
        with one_line("cannot write", path), draft.open("rb+") as file:
            add(file, texts)
            flush_to_disk(file)


def check_replaceable(path: str | Path) -> None:
    """Raise FileError if what exists at the path may not be replaced."""
    with one_line("cannot write", path):
        place = target(path)
        require_replaceable(place, path)
        format_of(path).check(place)


def put_in_place(path: str | Path, draft: Path) -> None:
    """Replace `path` by its finished draft."""
    with one_line("cannot write", path):
        place = target(path)
        require_replaceable(place, path)
        format_of(path).put_in_place(draft, place)


def _write_png(draft: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    with draft.open("xb") as file:
        png.write_png(file, picture, _texts(source, picture), compression)


def _write_tiff(draft: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    bigtiff.write_tiff(draft, picture, _texts(source, picture), compression)


def _write_deep_zoom(draft: Path, _source: RowSource | None, picture: Picture | None, compression: str) -> None:
    deepzoom.write_deep_zoom(draft, _require_picture(picture), compression)


def _write_ppm(draft: Path, _source: RowSource | None, picture: Picture | None, _compression: str) -> None:
    picture = _require_picture(picture)
    rows = strip_rows(picture.width)

    def paint(top: int) -> npt.NDArray[Any]:
        pixels = picture.paint(top, min(top + rows, picture.height))
        if picture.depth == 16:
            return pixels.astype(">u2")
        return pixels if picture.table is None else np.take(picture.table, pixels, axis=0, mode="clip")

    with draft.open("xb") as file:
        magic, most = (5 if picture.channels == 1 else 6), (1 << picture.depth) - 1
        file.write(b"P%d\n%d %d\n%d\n" % (magic, picture.width, picture.height, most))
        for pixels in in_order(paint, range(0, picture.height, rows)):
            with picture.watch.of("encode"):
                file.write(np.ascontiguousarray(pixels).data)


def _write_jpeg(draft: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    pillow.write_picture(draft, picture, _texts(source, picture), pillow.JPEG, compression)


def _write_webp(draft: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    picture = _require_picture(picture)
    pillow.write_picture(draft, picture, _texts(source, picture), pillow.WEBP, compression)


def _write_npz(draft: Path, source: RowSource | None, picture: Picture | None, compression: str) -> None:
    if source is None:
        raise InvalidInputError("a field file needs a field; write a drawing as .png or .ppm")
    with draft.open("xb") as file:
        archive.write_archive(file, source, picture.watch if picture else Stopwatch(), compression)


def _write_exr(draft: Path, source: RowSource | None, picture: Picture | None, _compression: str) -> None:
    if source is None:
        raise InvalidInputError("an OpenEXR file needs a field and its job; write a drawing as .png or .ppm")
    from mandelcl.files.exr.writing import write_exr  # few need what it takes

    write_exr(draft, source, picture, _texts(source, picture))


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
    """How files of a suffix are written, and about how many bytes a pixel of them takes.

    `bytes_rgb` and `bytes_indexed` are for a picture in RGB and one with a table, `bytes_plane` is what each plane but
    the counts adds: twice what detailed views were measured to take. `add_texts` adds texts to a finished file. Not all
    can hold 16 bits a channel (`deep`), or transparent pixels (`clear`), and some have a longest side. What is no
    picture holds the planes of a field; `planes` are those that it is not of use without, beside the counts.
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
    ".npz": FileFormat(_write_npz, 1.0, 1.0, bytes_plane=8.0, is_picture=False),  # once packed, and once waiting
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


def format_of(path: str | Path) -> FileFormat:
    """Return the format of a path's suffix; raises FileError where there is none."""
    try:
        return FORMATS[Path(path).suffix.lower()]
    except KeyError:
        raise FileError(f"cannot write {path}: the suffix must be one of {', '.join(SUFFIXES)}", path) from None


def _require_picture(picture: Picture | None) -> Picture:
    if picture is None:
        raise InvalidInputError("a picture file needs colours; write a field as .npz")
    return picture
