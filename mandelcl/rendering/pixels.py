"""Choose what the bands of a render hold: finished pixels, counts of 16 bits, or words. Nothing else is copied."""

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from mandelcl.base.errors import FileError
from mandelcl.base.words import Words
from mandelcl.colour.colour import Colouring, paint
from mandelcl.core.job import Job
from mandelcl.core.planes import values_of
from mandelcl.core.report import Stopwatch
from mandelcl.engine.computing.work import Work
from mandelcl.engine.narrowing import counts_16
from mandelcl.files import output
from mandelcl.files.strips import Picture
from mandelcl.rendering.band_layout import COUNTS_16, PIXELS, BandLayout, Values
from mandelcl.rendering.bands import BandReader

Convert: TypeAlias = Callable[[Values], Values]


def form_for(work: Work, paths: Sequence[str | Path], colouring: Colouring | None, counts: bool) -> BandLayout:
    """Return the band layout of a new render, and set the work's output to match.

    The layout is pixels if the device can make them and nothing needs counts; `counts` says that something does.
    Otherwise it is counts of 16 bits if only counts are kept and the device can narrow them, else words.
    """
    if colouring is not None and colouring.samples != 1:
        return pixels_of(colouring)  # the work yields them
    pictures = not counts and output.are_pictures(paths)
    if colouring is not None and pictures and _delivers_pixels(work, colouring):
        return pixels_of(colouring)
    return BandLayout.counts_16() if work.set_output(counts_16) else BandLayout.words(work.job)


def converter(work: Work, form: BandLayout, colouring: Colouring | None, watch: Stopwatch) -> Convert | None:
    """Return a function from a block's results to the bands' layout; None if the work already yields that."""
    if form.kind == PIXELS and colouring is not None:
        made = colouring.samples != 1 or _delivers_pixels(work, colouring)
        return None if made else lambda results: painted(work.job, results, colouring, watch)
    if form.kind == COUNTS_16 and not work.set_output(counts_16):
        return lambda results: results.astype(form.dtype)
    return None


def _delivers_pixels(work: Work, colouring: Colouring) -> bool:
    from mandelcl.engine.shading import shaded  # a device colours only pictures whose counts nothing else needs

    return work.set_output(shaded(colouring))


def pixels_of(colouring: Colouring) -> BandLayout:
    """Return the layout of a colouring's pixels. It names the colour table, as the palette may be the caller's."""
    table = blake2b(colouring.palette.table().tobytes(), digest_size=8).hexdigest()
    return BandLayout.pixels(json.dumps(json.loads(colouring.to_json()) | {"table": table}), colouring.indexed)


def kept_samples(form: BandLayout) -> int | str:
    """Return how many samples the pixels have that a store holds in a form."""
    samples: int | str = json.loads(form.colouring).get("samples", 1) if form.kind == PIXELS else 1
    return samples


def require_form(
    form: BandLayout, folder: Path, paths: Sequence[str | Path], colouring: Colouring | None, counts: bool
) -> None:
    """Raise FileError if the stored bands' layout lacks something that the render needs."""
    if form.kind != PIXELS:
        return
    fields = [str(path) for path in paths if not output.format_of(path).is_picture]
    if fields or counts or colouring is None:
        needs = f"{fields[0]} needs" if fields else "--json, --confirm and the digest need"
        why = f"{folder} holds finished pixels but not the counts that {needs}; leave that out, or delete the folder"
        raise FileError(why, folder)
    if pixels_of(colouring) != form:
        given = json.loads(form.colouring)
        shown = ", ".join(f"{name} {value}" for name, value in given.items() if name != "table" and value is not None)
        why = f"{folder} holds pixels in other colours ({shown}); give the same ones, or delete the folder"
        raise FileError(why, folder)


def picture_of(reader: BandReader, colouring: Colouring) -> Picture:
    """Return the picture of some bands, which hold either its pixels or the results to colour."""
    if reader.form.kind != PIXELS:
        return colouring.picture(reader)
    view, table = reader.job.view, colouring.palette.table() if colouring.indexed else None
    text, channels = colouring.to_json(), colouring.channels
    return Picture(view.width, view.height, reader.results, table, text, channels=channels, depth=colouring.depth)


def painted(job: Job, results: Words, colouring: Colouring, watch: Stopwatch) -> Values:
    """Return the pixels of a block's results, coloured on the host."""
    with watch.of("colour"):
        return paint(job, values_of(job.planes, results, job.facts), colouring)
