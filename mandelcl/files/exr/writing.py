"""OpenEXR files, written row by row with the library OpenEXR, from the extra `exr`. Each row is read once."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.srgb import decode
from mandelcl.core.field import Rows, RowSource
from mandelcl.core.job import Job
from mandelcl.core.report import Stopwatch
from mandelcl.files.exr.channels import BIAS, RADIUS, channels_of, names_of
from mandelcl.files.paths import in_utf8
from mandelcl.files.places import fraktaler_3, kalles_fraktaler
from mandelcl.files.places.of_job import place_of
from mandelcl.files.strips import Picture, in_order, strip_rows

_PACKED_ROWS = 16  # ZIP packs this many rows together
_LARGEST_INT = (1 << 31) - 1
_UINTS = ("N", "N0", "N1")


def write_exr(path: Path, source: RowSource, picture: Picture | None, texts: Mapping[str, str]) -> None:
    """Write the field's planes, and its colours if there is a picture of them. `texts` are stored in the header.

    Raises OSError if the disk fails.
    """
    import OpenEXR

    job, watch = source.job, picture.watch if picture is not None else Stopwatch()
    colours = () if picture is None or picture.colour is None else _COLOURS[: 3 + (picture.channels % 2 == 0)]
    width, height = job.view.width, job.view.height
    rows = strip_rows(width)
    rows -= rows % _PACKED_ROWS if rows > _PACKED_ROWS else 0

    def pack(top: int) -> tuple[dict[str, bytes], int]:
        bottom = min(top + rows, height)
        planes = source.rows(top, bottom)
        pixels = picture.colour(planes, top) if picture is not None and picture.colour is not None else None
        with watch.of("encode"):
            packed = {name: values.tobytes() for name, values in channels_of(job, planes).items()}
            if pixels is not None and picture is not None:
                light = _light(picture, pixels)
                packed |= {name: light[..., k].tobytes() for k, name in enumerate(colours)}
        return packed, bottom - top

    with in_utf8(path) as name:
        file = OpenEXR.OutputFile(name, _header(job, colours, texts))
        try:
            for packed, count in in_order(pack, range(0, height, rows)):
                with watch.of("encode"):
                    file.writePixels(packed, count)
        except OSError as error:  # its text is the tempfile's path, followed by the reason
            raise OSError(str(error).rpartition('". ')[2]) from error
        finally:
            file.close()


def write_unrolled(path: Path, job: Job, rows: Rows, texts: Mapping[str, str]) -> None:
    """Write a picture of a job's size whose planes are those of other points. Raises OSError if the disk fails."""
    import OpenEXR

    packed = {name: values.tobytes() for name, values in channels_of(job, rows).items()}
    with in_utf8(path) as name:
        file = OpenEXR.OutputFile(name, _header(job, (), texts))
        try:
            file.writePixels(packed, job.view.height)
        except OSError as error:
            raise OSError(str(error).rpartition('". ')[2]) from error
        finally:
            file.close()


_COLOURS = ("R", "G", "B", "A")


def _header(job: Job, colours: tuple[str, ...], texts: Mapping[str, str]) -> dict[str, Any]:
    import Imath
    import OpenEXR

    uint, real = (Imath.Channel(Imath.PixelType(kind)) for kind in (Imath.PixelType.UINT, Imath.PixelType.FLOAT))
    header: dict[str, Any] = OpenEXR.Header(job.view.width, job.view.height)
    header["compression"] = Imath.Compression(Imath.Compression.ZIP_COMPRESSION)
    header["channels"] = {name: uint if name in _UINTS else real for name in (*names_of(job), *colours)}
    few = job.iterations + BIAS < _LARGEST_INT - 1
    header["Iterations"] = job.iterations if few else str(job.iterations).encode()
    header["IterationsBias"] = BIAS
    place = replace(place_of(job), radius=Fraction(RADIUS))
    for name, write in (("KallesFraktaler2+", kalles_fraktaler.write), ("Fraktaler3", fraktaler_3.write)):
        with suppress(FileError, InvalidInputError):  # the other program lacks the formula
            header[name] = write(place).encode()
    return header | {name: text.encode() for name, text in texts.items()}


def _light(picture: Picture, pixels: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return pixels as linear light, rows × columns × channels. Grey gets three channels; opacity scales the light."""
    if picture.table is not None:
        pixels = np.take(picture.table, pixels, axis=0, mode="clip")
    clear = picture.channels % 2 == 0
    light = np.take(_table(picture.depth), pixels[..., : picture.channels - clear], mode="clip")
    if light.shape[-1] == 1:
        light = np.repeat(light, 3, axis=-1)
    if not clear:
        return light
    opaque = pixels[..., -1:].astype(np.float32) / np.float32((1 << picture.depth) - 1)
    return np.concatenate([light * opaque, opaque], axis=-1)


@lru_cache(maxsize=2)
def _table(depth: int) -> npt.NDArray[np.float32]:
    """Return the linear light for each value of a channel."""
    steps = 1 << depth
    return decode(np.arange(steps) / (steps - 1)).astype(np.float32)
