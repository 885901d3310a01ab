"""Tiled BigTIFF pictures of any size, written tile by tile. Needs tifffile, from the extra `large`."""

import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.base.extras import load
from mandelcl.files import deflate
from mandelcl.files.strips import Picture, in_order, strip_rows

TILE = 256
_LEVELS = {deflate.FAST: 2, deflate.SMALL: 8}
_MAGICS = (b"II\x2a\0", b"MM\0\x2a", b"II\x2b\0", b"MM\0\x2b")


def write_tiff(path: Path, picture: Picture, texts: Mapping[str, str], compression: str) -> None:
    """Write a picture as Deflate tiles of TILE × TILE: RGB or grey, or indices if it has a colour table.

    `texts` become the image description, as JSON.
    """
    import tifffile

    height, width, table = picture.height, picture.width, picture.table
    colours: dict[str, Any] = {"photometric": "rgb" if picture.channels > 2 else "minisblack"}
    if picture.channels % 2 == 0:
        colours["extrasamples"] = ["unassalpha"]
    if table is not None:
        shades = np.zeros((3, 256), np.uint16)
        shades[:, : len(table)] = table.T.astype(np.uint16) * 257  # 0 … 65535 for 0 … 255
        colours = {"photometric": "palette", "colormap": shades}
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        file.write(
            _tiles(picture),
            shape=_shape(picture, height, width),
            dtype=_type(picture),
            tile=(TILE, TILE),
            compression="zlib",
            compressionargs={"level": _LEVELS[compression]},
            description=json.dumps(texts),
            metadata=None,
            software=False,
            **colours,
        )


def is_tiff(file: BinaryIO) -> bool:
    """Return whether the file starts like a TIFF file. The file's position is its start, before and after."""
    magic = file.read(4)
    file.seek(0)
    return magic in _MAGICS


def read_texts(file: BinaryIO) -> dict[str, str]:
    """Return the texts of a TIFF file that mandelcl wrote. Raises FileError if it has none."""
    tifffile = load("tifffile", "reading a TIFF picture needs tifffile", "large", FileError)
    # tifffile logs what it finds odd, and Python prints such logs if no handler is installed.
    logging.getLogger("tifffile").addHandler(logging.NullHandler())
    try:
        with tifffile.TiffFile(file) as tiff:
            texts = json.loads(tiff.pages.first.description)
        return {str(key): str(text) for key, text in texts.items()}
    except Exception as error:  # tifffile may raise anything for a damaged file
        raise FileError("a TIFF picture without a mandelcl job") from error


def _shape(picture: Picture, rows: int, columns: int) -> tuple[int, ...]:
    flat = picture.table is not None or picture.channels == 1
    return (rows, columns) if flat else (rows, columns, picture.channels)


def _type(picture: Picture) -> type[np.uint8] | type[np.uint16]:
    return np.uint8 if picture.depth == 8 else np.uint16


def _tiles(picture: Picture) -> Iterator[npt.NDArray[Any]]:
    """Yield the tiles, row by row. Tiles at the edges are padded with zeros."""
    columns = -(-picture.width // TILE) * TILE
    rows = strip_rows(picture.width)

    def paint(top: int) -> npt.NDArray[Any]:
        """Return a row of tiles. It may be large, so it is painted in strips that are dropped at once."""
        bottom = min(top + TILE, picture.height)
        tiles = np.zeros(_shape(picture, TILE, columns), _type(picture))
        for strip in range(top, bottom, rows):
            end = min(strip + rows, bottom)
            tiles[strip - top : end - top, : picture.width] = picture.paint(strip, end).reshape(
                _shape(picture, end - strip, picture.width)
            )
        return tiles

    # While one row of tiles is packed, the next is painted.
    for tiles in in_order(paint, range(0, picture.height, TILE), workers=1, prefetched=1):
        for left in range(0, columns, TILE):
            yield np.ascontiguousarray(tiles[:, left : left + TILE])
