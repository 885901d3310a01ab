"""Read files that mandelcl wrote: one function per kind of content."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mandelcl.base.errors import FileError
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.numbers import require_known
from mandelcl.files import archive, bigtiff, kfb, pillow, places, png
from mandelcl.files.exr import reading
from mandelcl.files.exr.header import is_exr, read_header
from mandelcl.files.foreign import Foreign
from mandelcl.files.output import COLOURING_KEY, JOB_KEY
from mandelcl.files.paths import one_line, require_readable, target


def read_field(path: str | Path) -> Field:
    """Return the field in an `.npz` file. Raises FileError if it is not a field, is damaged or contradicts its job."""
    with _reading(path) as file:
        return archive.read_archive(file)


def read_foreign(path: str | Path) -> Foreign:
    """Return the field in an `.npz` file or in another program's (`.exr`, `.kfb`), which may have no location.

    The location of a `.kfb` is in the `.kfr` beside it. Raises FileError if there is no field, or the file is damaged.
    """
    with _reading(path) as file:
        if is_exr(file):
            return reading.read_field(file)
        if kfb.is_kfb(file):
            return kfb.read_field(file, kfb.text_beside(target(path)))
        return Foreign(archive.read_archive(file), placed=True)


def read_job(path: str | Path) -> Job:
    """Return the job stored in a picture (`.png`, `.tif`, `.exr`, `.jpg`, `.webp`) or an `.npz` file.

    Raises FileError if there is none.
    """
    with _reading(path) as file:
        if archive.is_archive(file):
            job = archive.read_job(file)
        else:
            texts = _texts(file)
            if JOB_KEY not in texts:
                raise FileError("a picture without a mandelcl job")
            job = Job.from_json(texts[JOB_KEY])
        require_known(job.number)  # a job does not know which numbers there are
        return job


def read_job_or_place(path: str | Path) -> Job | places.ForeignPlace:
    """Return the job in a file of mandelcl, or the location in a file of another program.

    Raises FileError if the file has neither, and InvalidInputError or FileError for a location that cannot be drawn.
    """
    if places.is_place_file(path):
        return places.read_place(path)
    try:
        return read_job(path)
    except FileError as error:
        with suppress(FileError), _reading(path) as file:
            text = places.text_in(file)
            if text is not None:
                return places.read_place(path)
        raise error from None


def read_colouring(path: str | Path) -> str | None:
    """Return the colouring's JSON (for `Colouring.from_json`) stored in a picture, or None if there is none.

    Files of other programs have none. Raises FileError for a file that cannot be read at all.
    """
    with _reading(path) as file:
        if places.is_place_file(path) or archive.is_archive(file):
            return None
        with suppress(FileError):
            return _texts(file).get(COLOURING_KEY)
        return None


def _texts(file: BinaryIO) -> dict[str, str]:
    if is_exr(file):
        header = read_header(file)
        found = {key: header.text(key) for key in (JOB_KEY, COLOURING_KEY)}
        return {key: text for key, text in found.items() if text is not None}
    if bigtiff.is_tiff(file):
        return bigtiff.read_texts(file)
    if pillow.is_jpeg_or_webp(file):
        return pillow.read_texts(file)
    return png.read_texts(file, (JOB_KEY, COLOURING_KEY))


@contextmanager
def _reading(path: str | Path) -> Iterator[BinaryIO]:
    with one_line("cannot read", path):
        place = target(path)
        require_readable(place)
        with place.open("rb") as file:
            yield file
