"""What a file from a page contains: a job, a location of another program, or palettes, in the form of messages.

The files are untrusted. They are only read, up to a maximum size, by the readers of the command line. No path in a
file is followed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from mandelcl.base.errors import FileError
from mandelcl.base.text import printable
from mandelcl.base.view import View
from mandelcl.colour import foreign, palette_files
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import Palette
from mandelcl.core.job import Job
from mandelcl.explore import places
from mandelcl.files import png
from mandelcl.files.foreign import job_of
from mandelcl.files.loading import read_job_or_place
from mandelcl.files.places import SUFFIXES, ForeignPlace

MOST_TEXT = 1 << 20  # bytes of a file of text
_MOST_PNG_TEXT = 1 << 16  # bytes of a text in a PNG
_MOST_PALETTES = 64
_MOST_COLOURS = 1 << 12  # of all palettes together
_MOST_NAME = 60
_SIZE = 1280, 720  # of a location whose file has no size
_LEAST_ITERATIONS = 1000


def suffix_of(name: str) -> str:
    """Return the suffix of a file's name if its reader is chosen by it, otherwise an empty text."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if suffix in (*SUFFIXES, *palette_files.READERS) else ""


def described(path: Path, name: str) -> dict[str, Any]:
    """Return what a file contains: `palettes`, or a job with its colouring. `name` is that on the user's machine.

    Raises FileError or InvalidInputError for a file with neither, or with one that the explorer cannot show.
    """
    if path.suffix in palette_files.READERS:
        stem = printable(PurePosixPath(name).stem, _MOST_NAME)
        found = [replace(one, name=stem) if one.name == path.stem else one for one in _palettes(path)]
        return {"palettes": [one.to_json() for one in found]}
    with path.open("rb") as file:
        png.require_short_texts(file, _MOST_PNG_TEXT)
    job, notes = _job(path)
    colouring, others = foreign.read_colouring(path)
    shown: Mapping[str, Any] | None = None if colouring is None else places.colouring_json(colouring)
    facts = {"job": job.to_json(), "colouring": shown, "notes": [*notes, *others]}
    return {**places.described(job), "auto_iterations": job.auto_iterations, **facts}


def _palettes(path: Path) -> Iterator[Palette]:
    """Yield the first palettes of a file."""
    colours = 0
    for palette in palette_files.palettes_in(str(path))[:_MOST_PALETTES]:
        colours += len(palette.colours)
        if colours > _MOST_COLOURS:
            raise FileError(f"its palettes have more than {_MOST_COLOURS} colours")
        Colouring(palette)
        yield palette


def _job(path: Path) -> tuple[Job, tuple[str, ...]]:
    """Return the job in a file, and sentences on what was not converted."""
    found = read_job_or_place(path)
    if not isinstance(found, ForeignPlace):
        return found, ()
    limit, open_limit = found.iterations or _LEAST_ITERATIONS, found.iterations is None
    job = job_of(found, *(found.size or _SIZE), limit)
    return replace(job, view=_unmirrored(job), auto_iterations=open_limit), found.notes


def _unmirrored(job: Job) -> View:
    """Return the view of the conjugate points, with the imaginary axis up, if that is the same picture.

    Kalles Fraktaler draws the imaginary axis downward. A polynomial with real coefficients takes conjugate points to
    conjugate orbits.
    """
    a, b, c, d = job.view.lattice.matrix
    if a * d - b * c < 0 or not job.formula.analytic or job.formula.constant is not None:
        return job.view
    lattice = job.view.lattice
    return replace(job.view, lattice=replace(lattice, im=-lattice.im, matrix=(a, b, -c, -d)))
