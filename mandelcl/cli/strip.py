"""`mandelcl zoom --strip`: exponential maps for zoomasm."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mandelcl.base.errors import CancelledError, remark
from mandelcl.base.exact import parse_size
from mandelcl.base.extras import load
from mandelcl.base.text import in_bytes
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.job_options import DEFAULT_ITERATIONS, JobOptions
from mandelcl.cli.progress import frames_bar, print_line, progress_bar
from mandelcl.cli.stops import StopOptions

if TYPE_CHECKING:
    from mandelcl.core.job import Job
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.film.strip import Strip, StripFolder
    from mandelcl.rendering.session import Session

DEFAULT_FOLDER = "zoom-strip"
# Options of `zoom` that a strip has no use for.
_OF_FILMS = {
    *("fps", "speed", "seconds", "ease", "hold", "reverse", "codec", "quality", "audio", "caption", "keys", "samples"),
    *("palette", "colour_by", "cycle", "transfer", "equalise", "offset", "inside", "light", "boundary", "stripes"),
    *("decomposition", "via", "turn", "rotate", "planes", "json_wanted"),
}
_SURVEYED = 640, 360


def require_no_film(context: click.Context) -> None:
    """Raise UsageError if options of films are given beside --strip."""
    options = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    given = [
        options[name]
        for name in context.params
        if name in _OF_FILMS and context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"--strip makes no film and no colours; leave {', '.join(sorted(given))} out")


def folder_of(context: click.Context, output: str) -> str:
    """Return the folder for a strip. Raises UsageError for the name of a film."""
    if context.get_parameter_source("output") != ParameterSource.COMMANDLINE:
        return DEFAULT_FOLDER
    name = output.rstrip("/").replace("\\", "/").rpartition("/")[2]
    if "." in name:
        raise click.UsageError(f"--strip writes a folder; give -o a name without a suffix, not {output}")
    return output


def write_strip(
    folder: str,
    stops: StopOptions,
    iterated: JobOptions,
    size: str | None,
    session: "Session",
    settings: "Settings",
    quiet: bool,
) -> None:
    """Compute a strip's missing keyframes. A signal stops this; finished ones are kept."""
    from mandelcl.film.strip import PLANES, USUAL, Strip, held

    load("OpenEXR", "--strip needs OpenEXR", "exr")
    width, height = USUAL if size is None else parse_size(size)
    first, *_, last = stops.stops(iterated.chosen_formula())
    job = iterated.job(PLANES)
    if iterated.iterations is None:
        iterations, more = stops.limit(DEFAULT_ITERATIONS)
        job = replace(job, iterations=iterations, auto_iterations=more)
    strip = Strip(last, min(first.zoom, last.zoom), width, height, job)
    if job.auto_iterations:
        strip = replace(strip, job=_limited(strip, session, settings, quiet))
    with held(folder, strip) as opened:
        left = len(opened.missing())
        size_left = opened.bytes_of(left)
        if left and not quiet:
            print_line(f"{folder}: {left} keyframes take up to {in_bytes(size_left)} on disk")
        made = _compute(opened, left, session, settings, quiet)
    if not quiet:
        print_line(
            f"{folder}: {strip.keyframes} exponential maps of {width}x{height}, {made} of them new; zoomasm opens the "
            "folder"
        )


def _limited(strip: "Strip", session: "Session", settings: "Settings", quiet: bool) -> "Job":
    """Return the job with its iteration limit resolved: that of a film along the same way."""
    from mandelcl.colour.colour import Colouring
    from mandelcl.colour.palettes import find_palette
    from mandelcl.film.limit import limited
    from mandelcl.film.path import Stop
    from mandelcl.film.plan import FilmPlan

    end, (width, height) = strip.end, _SURVEYED
    way = Stop(end.re, end.im, min(strip.widest, end.zoom / 2)), end
    plan = FilmPlan(way, width, height, strip.job.at(end.view(width, height)), Colouring(find_palette("classic")))
    lines: list[str] = []
    with frames_bar("keyframes surveyed", quiet) as show:
        plan = interruptible(lambda cancel: limited(plan, session, settings, show, lines.append, cancel))
    if not quiet:
        for line in dict.fromkeys(lines):
            print_line(f"mandelcl: {line}")
    return replace(strip.job, iterations=plan.job.iterations, auto_iterations=False)


def _compute(folder: "StripFolder", left: int, session: "Session", settings: "Settings", quiet: bool) -> int:
    from mandelcl.film.strip import compute

    strip = folder.strip
    with progress_bar(left * strip.width * strip.height, quiet) as (show, on_message):
        try:
            return interruptible(
                lambda cancel: compute(
                    folder, session, settings, show, lambda line: on_message(f"mandelcl: {line}"), cancel
                )
            )
        except CancelledError as error:
            there = strip.keyframes - len(folder.missing())
            remark(error, f"{there} of {strip.keyframes} keyframes are kept in {folder.path}; run the same command to "
                          "continue")  # fmt: skip
            raise
