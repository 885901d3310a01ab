"""JPEG and WebP pictures, packed by Pillow. It packs a picture as a whole, so all pixels are in memory at once.

A JPEG has quality 95 without chroma subsampling; a WebP is lossless. Both store texts as JSON in the image description
of their Exif data, unless the texts are longer than a JPEG can hold.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mandelcl.base.errors import FileError
from mandelcl.base.machine import available_bytes
from mandelcl.files import deflate
from mandelcl.files.strips import Picture, in_order, strip_rows

JPEG, WEBP = "JPEG", "WEBP"
JPEG_SIDE, WEBP_SIDE = 65500, 16383
_OPTIONS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    (JPEG, deflate.FAST): {"quality": 95, "subsampling": 0},
    (JPEG, deflate.SMALL): {"quality": 95, "subsampling": 0, "optimize": True, "progressive": True},
    (WEBP, deflate.FAST): {"lossless": True, "quality": 25, "method": 1, "exact": True},
    (WEBP, deflate.SMALL): {"lossless": True, "quality": 100, "method": 6, "exact": True},
}
_DESCRIPTION = 0x010E  # the Exif tag
_LONGEST = 60_000
_LONGEST_EXIF = 1 << 20
_MOST_SEGMENTS = 1000


def write_picture(path: Path, picture: Picture, texts: Mapping[str, str], kind: str, compression: str) -> None:
    """Write a picture with 8 bits per channel as `JPEG` or `WEBP`. Raises FileError if it does not fit into memory."""
    from PIL import Image

    channels = 3 if picture.table is not None else picture.channels
    if 2 * picture.width * picture.height * channels > available_bytes():
        raise FileError(f"a {kind} picture of this size does not fit into memory; choose .png or .tif")
    pixels = np.empty((picture.height, picture.width, channels), np.uint8)
    rows = strip_rows(picture.width)

    def paint(top: int) -> None:
        bottom = min(top + rows, picture.height)
        strip = picture.paint(top, bottom)
        pixels[top:bottom] = strip if picture.table is None else picture.table[strip]

    for _ in in_order(paint, range(0, picture.height, rows)):
        pass
    description = json.dumps(texts)
    exif = Image.Exif()
    if texts and len(description) <= _LONGEST:
        exif[_DESCRIPTION] = description
    with picture.watch.of("encode"), path.open("xb") as file:
        image = Image.fromarray(pixels[..., 0] if channels == 1 else pixels)
        image.save(file, kind, exif=exif, **_OPTIONS[kind, compression])


def is_jpeg_or_webp(file: BinaryIO) -> bool:
    """Return whether the file starts like a JPEG or a WebP. The file's position is its start, before and after."""
    magic = file.read(12)
    file.seek(0)
    return magic[:3] == b"\xff\xd8\xff" or (magic[:4] == b"RIFF" and magic[8:] == b"WEBP")


def read_texts(file: BinaryIO) -> dict[str, str]:
    """Return the texts of a picture that `write_picture` wrote, without decoding pixels. Raises FileError for none."""
    try:
        data = _jpeg_exif(file) if file.read(2) == b"\xff\xd8" else _webp_exif(file)
        if data is None:
            raise FileError("a picture without a mandelcl job")
        from PIL import Image

        exif = Image.Exif()
        exif.load(data)
        texts = json.loads(exif[_DESCRIPTION])
        return {str(key): str(text) for key, text in texts.items()}
    except FileError:
        raise
    except Exception as error:  # damaged Exif data may raise anything
        raise FileError("a picture without a mandelcl job") from error


def _jpeg_exif(file: BinaryIO) -> bytes | None:
    """Return the Exif data of a JPEG, from behind its first two bytes."""
    for _ in range(_MOST_SEGMENTS):
        marker, kind, size = struct.unpack(">BBH", file.read(4))
        if marker != 0xFF or kind == 0xDA or size < 2:
            return None
        if kind == 0xE1:
            data = file.read(size - 2)
            if data.startswith(b"Exif\0\0"):
                return data
        else:
            file.seek(size - 2, 1)
    return None


def _webp_exif(file: BinaryIO) -> bytes | None:
    """Return the Exif data of a WebP."""
    file.seek(12)
    for _ in range(_MOST_SEGMENTS):
        kind, size = struct.unpack("<4sI", file.read(8))
        if kind == b"EXIF":
            return file.read(min(size, _LONGEST_EXIF))
        file.seek(size + size % 2, 1)
    return None
