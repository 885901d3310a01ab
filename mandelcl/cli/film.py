"""`mandelcl film`."""

import json
from typing import Any

import click

from mandelcl.cli import completion, options
from mandelcl.cli.colour_options import ColourOptions, film_colour_options
from mandelcl.cli.film_options import OUTPUT_HELP, FilmOptions, as_json, film_options, size_of, summary
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.options import recorded
from mandelcl.cli.progress import frames_bar, print_line


@click.command(
    "film",
    epilog="""\b
Examples:
  mandelcl zoom --at seahorse-valley --to-zoom 1e5 --size 640x360 -o valley.mp4
  mandelcl film valley.keys -o ember.mp4 --palette ember --speed 2
  mandelcl film valley.keys -o back.webm --reverse --fps 60
  mandelcl film valley.keys -o small.gif --size 160x90 --fps 20 --speed 4
  mandelcl film valley.keys -o small.mp4 --codec hevc --caption
  mandelcl film valley.keys -o song.mp4 --audio song.flac --caption '{zoom} x'
""",
)
@click.argument("keys", type=completion.FILE, metavar="KEYS")
@click.option("-o", "--output", required=True, type=completion.FILE, metavar="FILE", help=OUTPUT_HELP)
@click.option("--size", metavar="WxH", help="Width and height of a frame. [default: as given to `zoom`]")
@film_options
@film_colour_options
@options.device_option
@options.trace_option
@click.option("--json", "json_wanted", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    keys: str,
    output: str,
    size: str | None,
    devices: tuple[str, ...],
    trace: str | None,
    json_wanted: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Make a film from existing keyframes.

    KEYS is a folder that `mandelcl zoom` has filled. You can change the colours, the speed, the frame size and the
    codec; no keyframe is computed again. By default the film has the colours that were given to `zoom`.
    """
    if json_wanted and quiet:
        raise click.UsageError("give --json or --quiet, not both")
    colours, film = ColourOptions.taken_from(given), FilmOptions.taken_from(given)

    from mandelcl.film.folder import Folder
    from mandelcl.film.making import make_film, require_colouring, require_smaller
    from mandelcl.film.on_device import assembler_for

    folder = Folder.opened(keys)
    plan = folder.plan
    width, height = size_of(size, (plan.width, plan.height))
    require_smaller(plan.width, plan.height, width, height)
    codec = film.require_output(output, width, height)
    colouring = colours.colouring(base=plan.colouring)
    require_colouring(colouring)
    colouring.check_planes(plan.job.planes)
    timing = film.timing()
    frames = timing.frame_count(plan.doublings)
    folder.require_whole()
    assembler = assembler_for(folder.job(0), devices, (width, height), frames)
    with recorded(trace, "film"), frames_bar("frames", quiet) as show:
        made = interruptible(
            lambda cancel: make_film(
                folder,
                output,
                colouring,
                timing,
                size=(width, height),
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
        click.echo(json.dumps(as_json(plan, (width, height), timing, codec, made)))
    elif not quiet:
        print_line(summary(output, plan, (width, height), timing, made))
