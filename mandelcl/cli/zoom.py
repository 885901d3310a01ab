"""`mandelcl zoom`."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.errors import CancelledError, remark
from mandelcl.cli import completion, options
from mandelcl.cli.auto_skew import auto_skew_option, matrix_for
from mandelcl.cli.colour_options import ColourOptions, film_colour_options
from mandelcl.cli.film_options import OUTPUT_HELP, FilmOptions, as_json, film_options, size_of, summary
from mandelcl.cli.help_groups import Grouped
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.job_options import DEFAULT_ITERATIONS, JobOptions, iteration_options
from mandelcl.cli.options import recorded
from mandelcl.cli.progress import frames_bar, print_line, progress_bar
from mandelcl.cli.stops import StopOptions, stop_options
from mandelcl.cli.strip import folder_of, require_no_film, write_strip

if TYPE_CHECKING:
    from collections.abc import Callable

    from mandelcl.base.errors import Token
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.film.folder import Folder
    from mandelcl.film.keyframes import Computed
    from mandelcl.film.plan import FilmPlan
    from mandelcl.rendering.session import Session

DEFAULT_OUTPUT = "zoom.mp4"
_DEFAULT_SIZE = 1920, 1080


@click.command(
    "zoom",
    cls=Grouped,
    epilog="""\b
Examples:
  mandelcl zoom --at seahorse-valley --to-zoom 1e6 --size 640x360 -o valley.mp4
  mandelcl zoom --at galaxy --size 1280x720 --fps 60 --palette ice -o galaxy.webm
  mandelcl zoom --center -0.743643887037151 0.131825904205330 --to-zoom 1e9 -o deep.mp4
  mandelcl zoom --at lightning --turn 90 --seconds 20 -o turning.mp4
  mandelcl zoom --formula tricorn --center -1.754877666246693 0 --to-zoom 65 --auto-skew -o tricorn.mp4
  mandelcl zoom --from seahorse-valley --via whole-set --to elephant-valley -o both.mp4
  mandelcl zoom --from 0,1,1 --to 0,1,1e40 --size 320x180 --speed 4 -o dendrite.mp4
  mandelcl zoom --at galaxy --size 1280x720 --codec hevc --caption --audio song.flac -o song.mp4
  mandelcl zoom --strip --at seahorse-valley --to-zoom 1e6 -o valley-strip
""",
)
@click.option("-o", "--output", default=DEFAULT_OUTPUT, show_default=True, type=completion.FILE, metavar="FILE",
              help=OUTPUT_HELP)  # fmt: skip
@stop_options
@auto_skew_option
@click.option("--size", metavar="WxH", help="Width and height of the frames. [default: 1920x1080]")
@iteration_options
@options.planes_option
@options.device_option
@options.cluster_option
@options.cluster_wait_option
@options.self_test_option
@click.option(
    "--samples",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Samples per pixel, at least; four times as many at the start of each keyframe.",
)
@film_options
@film_colour_options
@click.option(
    "--keys",
    type=completion.FILE,
    metavar="FOLDER",
    help="The folder for keyframes. [default: FILE with the suffix .keys]",
)
@click.option(
    "--strip",
    is_flag=True,
    help="Write exponential maps about the end as OpenEXR keyframes, for zoomasm, to the folder FILE.",
)
@options.trace_option
@click.option("--json", "json_wanted", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    output: str,
    auto_skew: bool,
    size: str | None,
    planes: tuple[str, ...],
    devices: tuple[str, ...],
    cluster: str | None,
    cluster_wait: float,
    no_self_test: bool,
    samples: int,
    keys: str | None,
    strip: bool,
    trace: str | None,
    json_wanted: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Make a film that zooms in.

    The film moves at a constant speed from the whole set, or from --from, to a location. Keyframes, each twice as deep
    as the one before, are kept in a folder beside the film. From them, `mandelcl film` makes films with other colours
    or at another speed without computing anything again. After an interrupt, run the same command to continue. A VIEW
    is the name of a location, or RE,IM,ZOOM, or RE,IM,ZOOM,DEGREES.
    """
    if json_wanted and quiet:
        raise click.UsageError("give --json or --quiet, not both")
    colours, film = ColourOptions.taken_from(given), FilmOptions.taken_from(given)
    stops = StopOptions.taken_from(given)
    location = stops.location()
    if given["formula"] is None and location is not None:
        given["formula"] = location.formula
    if strip and auto_skew:
        raise click.UsageError("a strip is not stretched; leave --auto-skew or --strip out")
    if strip:
        from mandelcl.engine.computing.settings import Settings
        from mandelcl.rendering.session import Session

        context = click.get_current_context()
        require_no_film(context)
        place, iterated = folder_of(context, output), JobOptions(**_no_view(), **given)
        with recorded(trace, "zoom"), Session(devices, cluster=cluster, cluster_wait=cluster_wait) as session:
            write_strip(place, stops, iterated, size, session, Settings(self_test=not no_self_test), quiet)
        return
    width, height = size_of(size, _DEFAULT_SIZE)
    codec = film.require_output(output, width, height)
    iterated = JobOptions(**_no_view(), **given)

    from mandelcl.core.planes import SMOOTH, ordered
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.film.folder import held
    from mandelcl.film.limit import kept_limit
    from mandelcl.film.making import make_film, require_colouring
    from mandelcl.film.on_device import assembler_for
    from mandelcl.film.plan import FilmPlan
    from mandelcl.rendering.session import Session

    colouring = colours.colouring(stops.location())
    require_colouring(colouring)
    way = stops.stops(iterated.chosen_formula())
    base = iterated.job(ordered([SMOOTH.name, *colouring.planes, *planes]))
    if iterated.iterations is None:
        iterations, more = stops.limit(DEFAULT_ITERATIONS)
        base = replace(base, iterations=iterations, auto_iterations=more)
    end, skew = way[-1].view(width, height), None
    if auto_skew:
        skew = matrix_for(end, base.formula, quiet, _nothing if quiet else print_line)
        if skew is not None and stops.begin is None:  # seen straight, the whole set may lie beside the end
            way[0] = replace(way[0], re=way[-1].re, im=way[-1].im)
    plan = FilmPlan(tuple(way), width, height, base.at(end), colouring, samples, skew)
    timing = film.timing()
    frames = timing.frame_count(plan.doublings)
    folder_path = keys or f"{Path(output).with_suffix('')}.keys"
    settings = Settings(self_test=not no_self_test)
    with (
        recorded(trace, "zoom"),
        _OneSession(partial(Session, devices, cluster=cluster, cluster_wait=cluster_wait)) as opened,
        held(folder_path, plan := _limited(kept_limit(plan, folder_path), opened, settings, quiet)) as folder,
    ):
        computed = _compute(folder, opened, settings, quiet)
        # The devices of a cluster belong to other machines.
        own = () if cluster else devices
        assembler = assembler_for(folder.job(0), own, (width, height), frames, not no_self_test)
        with frames_bar("frames", quiet) as show:
            made = interruptible(
                lambda cancel: make_film(
                    folder,
                    output,
                    colouring,
                    timing,
                    codec=codec,
                    quality=film.quality,
                    sound=film.audio,
                    caption=film.caption,
                    assembler=assembler,
                    progress=show,
                    cancel=cancel,
                )
            )
    if json_wanted:
        click.echo(json.dumps(as_json(plan, (width, height), timing, codec, made, computed)))
    elif not quiet:
        print_line(_computed_text(computed, folder_path))
        print_line(summary(output, plan, (width, height), timing, made))


class _OneSession:
    """A context manager that opens a session on first use, returns the same one later, and closes it at the end."""

    def __init__(self, make: "Callable[[], Session]") -> None:
        self._make = make
        self._session: Session | None = None

    def __enter__(self) -> "_OneSession":
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._session is not None:
            self._session.close()

    def __call__(self) -> "Session":
        """Return the session."""
        if self._session is None:
            self._session = self._make()
        return self._session


def _limited(plan: "FilmPlan", opened: _OneSession, settings: "Settings", quiet: bool) -> "FilmPlan":
    """Return a plan with its iteration limit resolved."""
    from mandelcl.film.limit import limited

    if not plan.job.auto_iterations:
        return plan
    lines: list[str] = []
    with frames_bar("keyframes surveyed", quiet) as show:
        plan = interruptible(lambda cancel: limited(plan, opened(), settings, show, lines.append, cancel))
    if not quiet:
        for line in dict.fromkeys(lines):
            print_line(f"mandelcl: {line}")
    return plan


def _nothing(_line: str) -> None:
    """Print nothing."""


def _no_view() -> dict[str, Any]:
    """Return the options of a view, all None: a film's view is defined by its stops."""
    names = ("at", "center", "zoom", "region", "rotate", "anchor", "like", "size", "reference", "algorithm", "strict")
    return dict.fromkeys(names)


def _compute(folder: "Folder", opened: _OneSession, settings: "Settings", quiet: bool) -> "Computed":
    """Compute the missing keyframes. A signal stops this; finished keyframes are kept."""
    from mandelcl.film.keyframes import Computed, compute

    missing = folder.missing()
    if not missing:
        return Computed()
    pixels = sum(folder.expected(number).view.pixels for number in missing)
    with progress_bar(pixels, quiet) as (show, on_message):

        def work(cancel: "Token") -> Computed:
            return compute(folder, opened(), settings, show, lambda line: on_message(f"mandelcl: {line}"), cancel)

        try:
            return interruptible(work)
        except CancelledError as error:
            there = folder.plan.keyframes - len(folder.missing())
            remark(error, f"{there} of {folder.plan.keyframes} keyframes are kept in {folder.path}; run the same "
                          "command to continue")  # fmt: skip
            raise


def _computed_text(computed: "Computed", keys: str) -> str:
    if not computed.keyframes:
        return f"{keys}: all keyframes already existed"
    speed = computed.iterations / computed.kernel_seconds / 1e6 if computed.kernel_seconds else 0.0
    numbers, devices = ", ".join(computed.numbers), " and ".join(computed.device)
    return (
        f"{keys}: {computed.keyframes} keyframes in {numbers} on {devices} in "
        f"{computed.seconds:.1f} s, {computed.kernel_seconds:.1f} s of them in kernels ({speed:,.0f} Miter/s)"
    )
