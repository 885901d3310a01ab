"""Deep Zoom pictures: `NAME.dzi`, and a folder `NAME_files` with a pyramid of tiles and an HTML viewer.

Needs pyvips, from the extra `large`.
"""

import os
import threading
from pathlib import Path

from mandelcl.base.errors import FileError
from mandelcl.files import deflate, png
from mandelcl.files.paths import in_utf8
from mandelcl.files.strips import Picture

TILE = 256
PAGE = "index.html"  # the viewer, among the tiles
_NAME = "picture"
_OLD = "old"
_DESCRIPTION = "vips-properties.xml"  # libvips's own, removed because its date would make equal pictures differ
_LEVELS = {deflate.FAST: 1, deflate.SMALL: 8}


def write_deep_zoom(tempfile: Path, picture: Picture, compression: str) -> None:
    """Write a picture's tiles (PNG, TILE × TILE), an HTML viewer and a description into the folder `tempfile`.

    The pixels reach libvips through a pipe, as the rows of an unpacked PNG, so only the pixels of a few tiles are in
    memory.
    """
    import pyvips

    tempfile.mkdir()
    reading, writing = os.pipe()
    failures: list[BaseException] = []

    def feed() -> None:
        try:
            with os.fdopen(writing, "wb") as file:
                png.write_png(file, picture, {}, deflate.STORED)
        except BrokenPipeError:
            pass  # libvips has failed and reports why
        except BaseException as error:
            failures.append(error)

    feeder = threading.Thread(target=feed, name="deep zoom rows", daemon=True)
    feeder.start()
    try:
        with os.fdopen(reading, "rb", buffering=0) as pipe, in_utf8(tempfile / _NAME) as name:
            source = pyvips.SourceCustom()
            source.on_read(pipe.read)
            image = pyvips.Image.pngload_source(source, access="sequential", unlimited=True)
            image.dzsave(name, tile_size=TILE, overlap=0, suffix=f".png[compression={_LEVELS[compression]}]")
    except pyvips.Error as error:
        if not failures:
            raise FileError(" ".join(str(error).split())[:300]) from error
    finally:
        feeder.join()
    if failures:
        raise failures[0]
    tiles = tempfile / f"{_NAME}_files"
    (tiles / _DESCRIPTION).unlink(missing_ok=True)
    (tiles / PAGE).write_text(viewer(picture.width, picture.height), encoding="utf-8", newline="")


def viewer(width: int, height: int) -> str:
    """Return the HTML viewer for the tiles beside it. It works in any browser and needs no network."""
    page = Path(__file__).with_name("deep_zoom.html").read_text(encoding="utf-8")
    sizes = f"WIDTH = {width}, HEIGHT = {height}, TILE = {TILE}"
    return page.replace("TITLE", f"{width} × {height}").replace("WIDTH = 1, HEIGHT = 2, TILE = 256", sizes)


def tiles_of(path: Path) -> Path:
    """Return the folder with the tiles of a `.dzi` file."""
    return path.with_name(f"{path.stem}_files")


def is_tempfile(folder: Path) -> bool:
    """Return whether a folder holds only what `write_deep_zoom` and `put_in_place` write."""
    return {path.name for path in folder.iterdir()} <= {f"{_NAME}.dzi", f"{_NAME}_files", _OLD}


def require_replaceable(path: Path) -> None:
    """Raise FileError if the folder of tiles exists without a `.dzi`: then it is not a picture of ours."""
    if tiles_of(path).exists() and not path.exists():
        raise FileError(
            f"{tiles_of(path)} already exists and is not a Deep Zoom picture; move it, or choose another name"
        )


def put_in_place(tempfile: Path, path: Path) -> None:
    """Replace a Deep Zoom picture by the one in `tempfile`.

    The description comes first. If the process stops before the end, it shows that the tiles may be replaced.
    """
    require_replaceable(path)
    (tempfile / f"{_NAME}.dzi").replace(path)
    if tiles_of(path).exists():
        tiles_of(path).rename(tempfile / _OLD)
    (tempfile / f"{_NAME}_files").rename(tiles_of(path))
