"""Locations that other programs store in their pictures, as text.

Kalles Fraktaler stores it in a comment of PNG and JPEG, in a TIFF's description, and in an attribute of EXR.
Fraktaler-3 does the same.
"""

import warnings
from typing import BinaryIO

from mandelcl.base.errors import FileError
from mandelcl.files import png
from mandelcl.files.exr import header

_PNG = b"\x89PNG"
_JPEG = b"\xff\xd8\xff"
_TIFF = (b"II*\0", b"MM\0*")
_PNG_KEYWORDS = ("Comment", "comment")
_DESCRIPTION = 270  # TIFF 6.0: ImageDescription
_LONGEST = 1 << 20


def text_in(file: BinaryIO) -> str | None:
    """Return the text in a picture, or None. Raises FileError for other or damaged files."""
    magic = file.read(4)
    file.seek(0)
    if magic == _PNG:
        texts = png.read_texts(file, _PNG_KEYWORDS)
        return next(iter(texts.values()), None)
    if magic == header.MAGIC:
        return header.read_header(file).place()
    if magic.startswith(_JPEG):
        return _pillow(file, "JPEG")
    if magic in _TIFF:
        return _pillow(file, "TIFF")
    raise FileError("neither a location nor a picture with one")


def _pillow(file: BinaryIO, kind: str) -> str | None:
    """Return the comment of a JPEG or the description of a TIFF, without decoding pixels."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about sizes and tags do not matter here
            with Image.open(file, formats=[kind]) as image:
                comment = image.info.get("comment") if kind == "JPEG" else image.getexif().get(_DESCRIPTION)
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise FileError(f"a {kind} picture that cannot be read") from error
    if isinstance(comment, bytes):
        comment = comment[:_LONGEST].decode("utf-8", errors="replace")
    return comment[:_LONGEST] if isinstance(comment, str) and comment.strip() else None
