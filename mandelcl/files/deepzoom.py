"""Deep Zoom pictures: `NAME.dzi`, and in `NAME_files` a pyramid of tiles with a page that shows it.

Needs pyvips, of the extra `large`.
"""

import os
import threading
from pathlib import Path

from mandelcl.base.errors import FileError
from mandelcl.files import deflate, png
from mandelcl.files.paths import in_utf8
from mandelcl.files.strips import Picture

TILE = 256
PAGE = "index.html"  # among the tiles, which it shows
_NAME = "picture"
_OLD = "old"
_DESCRIPTION = "vips-properties.xml"  # of libvips's own, with a date: equal pictures have equal files
_LEVELS = {deflate.FAST: 1, deflate.SMALL: 8}


def write_deep_zoom(draft: Path, picture: Picture, compression: str) -> None:
    """Write a picture's tiles (PNG, TILE × TILE), a page that shows them, and a description into the folder `draft`.

    The pixels reach libvips as the rows of an unpacked PNG, through a pipe, so that none but those of a few tiles are
    in memory.
    """
    import pyvips

    draft.mkdir()
    reading, writing = os.pipe()
    failures: list[BaseException] = []

    def feed() -> None:
        try:
            with os.fdopen(writing, "wb") as file:
                png.write_png(file, picture, {}, deflate.STORED)
        except BrokenPipeError:
            pass  # libvips has failed, and says why
        except BaseException as error:
            failures.append(error)

    feeder = threading.Thread(target=feed, name="deep zoom rows", daemon=True)
    feeder.start()
    try:
        with os.fdopen(reading, "rb", buffering=0) as pipe, in_utf8(draft / _NAME) as name:
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
    tiles = draft / f"{_NAME}_files"
    (tiles / _DESCRIPTION).unlink(missing_ok=True)
    (tiles / PAGE).write_text(viewer(picture.width, picture.height), encoding="utf-8")


def viewer(width: int, height: int) -> str:
    """Return a page that shows the tiles beside it, in any browser and without a network."""
    page = Path(__file__).with_name("deep_zoom.html").read_text(encoding="utf-8")
    sizes = f"WIDTH = {width}, HEIGHT = {height}, TILE = {TILE}"
    return page.replace("TITLE", f"{width} × {height}").replace("WIDTH = 1, HEIGHT = 2, TILE = 256", sizes)


def tiles_of(path: Path) -> Path:
    """Return the folder in which the tiles of a `.dzi` file lie."""
    return path.with_name(f"{path.stem}_files")


def is_draft(folder: Path) -> bool:
    """Whether a folder holds nothing but what `write_deep_zoom` and `put_in_place` put into a draft."""
    return {path.name for path in folder.iterdir()} <= {f"{_NAME}.dzi", f"{_NAME}_files", _OLD}


def require_replaceable(path: Path) -> None:
    """Raise FileError where the folder of tiles is there but no `.dzi`: it is somebody else's."""
    if tiles_of(path).exists() and not path.exists():
        raise FileError(f"{tiles_of(path)} is in the way; move it or choose another name")


def put_in_place(draft: Path, path: Path) -> None:
    """Replace a Deep Zoom picture by the one in `draft`.

    The description comes first: wherever this is cut off, it shows that the tiles are mandelcl's to replace.
    """
    require_replaceable(path)
    (draft / f"{_NAME}.dzi").replace(path)
    if tiles_of(path).exists():
        tiles_of(path).rename(draft / _OLD)
    (draft / f"{_NAME}_files").rename(tiles_of(path))
