"""`mandelcl render`."""

import json
import math
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.exact import parse_size
from mandelcl.base.text import command_line
from mandelcl.cli import completion, options
from mandelcl.cli.auto_skew import auto_skew_option, matrix_for
from mandelcl.cli.colour_options import ColourOptions, colour_options, samples_option
from mandelcl.cli.confirming import confirmed, sample_of
from mandelcl.cli.help_groups import Grouped
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.job_options import JobOptions, job_options
from mandelcl.cli.options import recorded
from mandelcl.cli.progress import PrintLine, print_line, progress_bar
from mandelcl.colour.samples import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mandelcl.base.view import View
    from mandelcl.colour.tracing_picture import TracingPicture
    from mandelcl.core.job import Job
    from mandelcl.core.report import Report
    from mandelcl.rendering.session import Session

DEFAULT_OUTPUT = "mandelbrot.png"


@click.command(
    "render",
    cls=Grouped,
    epilog="""\b
Examples:
  mandelcl render -o set.png
  mandelcl render --at seahorse-valley --size 3840x2160 -o valley.png -o valley.npz
  mandelcl render --at elephant-valley --zoom 60 -o around.png
  mandelcl render --at seahorse-valley --light 135 --boundary 1 -o relief.png
  mandelcl render --at seahorse-valley --planes distance,last -o valley.npz
  mandelcl render --center -0.743643887037151 0.131825904205330 --zoom 1e9 -o deep.png
  mandelcl render --center -0.743643887037151 0.131825904205330 --zoom 1e9 --iterations 1e5
  mandelcl render --region -2 1 -1 1 --size 1500x1000 --palette ember
  mandelcl render --at lightning --rotate 30 -o turned.png
  mandelcl render --formula multibrot-3 --palette ember -o cubic.png
  mandelcl render --formula "sqr absx add / sqr add" --julia -0.4 0.6 -o hybrid.png
  mandelcl render --formula burning-ship --center -1.768025966302944 -0.034725856392698 --zoom 1e5 --auto-skew
  mandelcl render --like set.png --device cpu --json
  mandelcl render --like place.kfr --size 1280x720 -o place.png
  mandelcl render --algorithm border --iterations 20000 --palette classic -o deep.png --rectangles how.png
  mandelcl render --size 40000x25000 --palette coursework -o wall.png
  mandelcl render --size 40000x25000 --palette coursework -o wall.png --resume
  mandelcl render --at galaxy --cluster local:2
  mandelcl render --at galaxy --trace trace.json
  mandelcl render --at thorn-star --confirm 20
  mandelcl render --center 0 1 --zoom 1e40 --size 160x90 --certify -o dendrite.png
""",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=completion.FILE,
    metavar="FILE",
    help=".png, .jpg, .webp, .ppm, .npz, .exr, .tif or .dzi; may be repeated.",
)
@job_options
@auto_skew_option
@options.device_option
@options.cluster_option
@options.cluster_wait_option
@options.self_test_option
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="MS",
    help="The target time of a kernel launch. [default: 100; 20 on a GPU whose driver kills long launches]",
)
@click.option("--blocks", metavar="CxR", help="Split the picture into C×R blocks, one launch each.")
@click.option(
    "--rectangles",
    type=completion.FILE,
    metavar="FILE.png",
    help="Also draw which pixels border tracing filled and computed.",
)
@options.planes_option
@click.option("--resume", is_flag=True, help="Continue a stopped render, if there is one.")
@click.option("--no-shortcuts", is_flag=True, help="Iterate every pixel, even if its count is known in advance.")
@click.option(
    "--confirm",
    type=click.IntRange(min=1),
    metavar="N",
    help="Recompute N counts in exact arithmetic, for at most ten minutes, and print how many agree.",
)
@click.option("--certify", is_flag=True, help="Prove every count; recompute those that cannot be proved.")
@click.option(
    "--certify-for",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="The time limit for the exact arithmetic at the end of --certify.",
)
@colour_options
@samples_option
@options.compress_option
@options.trace_option
@click.option("--digest", is_flag=True, help="Print the SHA-256 of the counts, as little-endian 32-bit words.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    outputs: tuple[str, ...],
    auto_skew: bool,
    devices: tuple[str, ...],
    cluster: str | None,
    cluster_wait: float,
    no_self_test: bool,
    budget: float | None,
    blocks: str | None,
    rectangles: str | None,
    planes: tuple[str, ...],
    no_shortcuts: bool,
    resume: bool,
    confirm: int | None,
    certify: bool,
    certify_for: float | None,
    compress: str,
    trace: str | None,
    digest: bool,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Draw a picture.

    Without a view, this draws the whole set. The suffix of FILE chooses the format: .png, .jpg and .webp (which store
    their job, see --like), .ppm, .npz (the counts themselves, see `recolour` and `compare`), .exr (OpenEXR, for other
    programs), .tif (tiled BigTIFF) or .dzi (Deep Zoom). Without -o the picture is written to mandelbrot.png. Numbers
    are decimals of any length, with or without an exponent, or ratios p/q. They are never rounded on input.

    A picture may be larger than memory. The finished rows of a long render are kept in FILE.part until it ends. After
    an interrupt, run the same command with --resume to continue. Several devices (--device) can share a picture, and so
    can several machines (--cluster): the workers of a Dask cluster, started by `mandelcl cluster-worker`, or workers on
    this machine. --trace records what the devices and the host did over time.

    Deep views are computed relative to a reference orbit, in rounded numbers. --certify proves that each count equals
    that of exact arithmetic, and recomputes a count until it can be proved. --confirm recomputes a sample of pixels,
    chosen by a fixed rule.
    """
    from mandelcl.opencl import preopen

    if as_json and quiet:
        raise click.UsageError("give --json or --quiet, not both")
    colours = ColourOptions.taken_from(given)
    options_given = JobOptions(**given)
    options_given.check()
    if auto_skew and options_given.like is not None:
        raise click.UsageError("--like takes the view from its file; leave --auto-skew out")
    if cluster is None:
        preopen.begin("render", *devices, *options_given.kind())  # before the slow imports

    from mandelcl.core.planes import CERTIFIED
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.files import output
    from mandelcl.rendering.sampling import finest
    from mandelcl.rendering.streaming import render_to

    paths = outputs or (DEFAULT_OUTPUT,)
    pictures = (*paths, *((rectangles,) if rectangles is not None else ()))
    output.check_writable(*pictures, beside=[trace] if trace is not None else [])
    printer: PrintLine = (lambda _: None) if quiet else print_line
    colouring = colours.colouring(options_given.location(), options_given.like, printer)
    cut = parse_size(blocks, "blocks", "COLUMNSxROWS; write it like 16x16") if blocks is not None else None
    if cut is not None and budget is not None:
        raise click.UsageError("--blocks makes each block one launch, so --budget has no effect; give one of them")
    job = options_given.job(
        (*colouring.planes, *planes, *output.planes_for(*paths)), certify or certify_for is not None, printer
    )
    remarks: list[str] = []  # an error further on is the one line that is printed
    if auto_skew and (matrix := matrix_for(job.view, job.formula, quiet, remarks.append)) is not None:
        job = replace(job, view=job.view.stretched(matrix))
    colouring = colours.dithered(colouring, options_given.like, job.view.pixels)
    needs_counts = digest or as_json or confirm is not None or CERTIFIED.name in job.planes
    single = needs_counts or rectangles is not None or cut is not None or not output.are_pictures(paths)
    auto_samples = not single and colours.leaves_samples(options_given.like, colouring)
    tracing = _tracing_picture(rectangles, job.view) if rectangles is not None else None
    if tracing and job.algorithm == "escape":
        raise click.UsageError("--rectangles needs border tracing; add --algorithm border")
    if tracing:
        job = _limited(job, devices, not no_self_test)
    sample = sample_of(job, confirm) if confirm is not None else None
    settings = Settings(
        budget=budget and budget / 1000,
        blocks=cut,
        self_test=not no_self_test,
        shortcuts=not no_shortcuts,
        watch=partial(tracing.watch, job.iterations) if tracing else None,
        certify_for=math.inf if certify_for is None else certify_for,
    )
    with recorded(trace, "render"), progress_bar(job.view.pixels, quiet) as (show, on_message):
        report = interruptible(
            lambda cancel: _on(
                cluster,
                cluster_wait,
                devices,
                lambda selected: render_to(
                    paths,
                    job,
                    colouring,
                    selected,
                    settings,
                    resume=resume,
                    progress=show,
                    on_message=lambda line: on_message(f"mandelcl: {line}"),
                    on_counts=sample.note if sample else None,
                    cancel=cancel,
                    single_use=True,
                    compress=compress,
                    digest=digest or (as_json and colouring.samples == 1),
                    auto_samples=auto_samples,
                ),
            )
        )
    for remark in remarks:
        printer(remark)
    if tracing:
        tracing.write()
        if not tracing.rectangles and not quiet:
            print_line(f"mandelcl: no borders were traced, because every pixel was computed; {rectangles} shows that")
    if not as_json and not quiet:
        print_line(f"{', '.join(paths)}: {_summary(report, auto_samples)}{_viewers(paths)}")
        drawn = colouring if report.samples is None or colouring.samples != 1 else replace(colouring, samples=AUTO)
        if line := forced(finest(job, drawn), report, paths[0]):
            print_line(f"mandelcl: {line}")
    if digest and not as_json:
        click.echo(report.counts_sha256)
    job = replace(job, iterations=report.iterations_cap, auto_iterations=False)
    confirmation = confirmed(job, sample, quiet or as_json) if sample else None
    if as_json:
        added = {"confirmed": asdict(confirmation)} if confirmation else {}
        click.echo(json.dumps(report.as_dict() | added))


def _viewers(paths: "Sequence[str]") -> str:
    """Return how to view Deep Zoom pictures, which no desktop program opens; an empty text if there are none."""
    pictures = [path for path in map(Path, paths) if path.suffix.lower() == ".dzi"]
    if not pictures:
        return ""
    from mandelcl.files.deepzoom import PAGE, tiles_of

    return f"; open {' and '.join(str(tiles_of(path) / PAGE) for path in pictures)} in a browser"


def forced(job: "Job", report: "Report", path: str) -> str:
    """Return a line that says in what the resolved job differs from that of most devices; empty if in nothing."""
    from mandelcl.engine.device_class import DeviceClass
    from mandelcl.engine.resolve import resolve

    usual = resolve(replace(job, algorithm="escape", strict=False), [DeviceClass()]).job
    taken = {"number": report.number, "rounding": report.rounding, "method": report.method}
    found = [f"{name} {value} instead of {getattr(usual, name)}" for name, value in taken.items()]
    found = [text for text, (name, value) in zip(found, taken.items(), strict=True) if getattr(usual, name) != value]
    if not found:
        return ""
    command = command_line(["mandelcl", "render", "--like", path])
    reason = f"because {report.devices_text} lacks it or is slow at it"
    return f"{', '.join(found)}, {reason}; for the same result elsewhere: {command}"


def _on(
    cluster: str | None,
    wait: float,
    devices: tuple[str, ...],
    render: "Callable[[tuple[str, ...] | Session], Report]",
) -> "Report":
    """Return the report of a render on some devices, or on a cluster whose workers take these devices in turn."""
    if cluster is None:
        return render(devices)
    from mandelcl.rendering.session import Session

    with Session(devices, cluster=cluster, cluster_wait=wait) as session:
        return render(session)


def _limited(job: "Job", devices: tuple[str, ...], self_test: bool) -> "Job":
    """Return a job with its automatic iteration limit resolved, for options that need it before the render starts."""
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.rendering.session import Session

    if not job.auto_iterations:
        return job
    with Session(devices) as session:
        return session.limited(job, Settings(self_test=self_test))


def _rate(giter_per_s: float) -> str:
    """Return a rate as text, in a fitting unit."""
    return f"{giter_per_s:.1f} Giter/s" if giter_per_s >= 0.1 else f"{1000 * giter_per_s:.3g} Miter/s"


def _percent(share: float) -> str:
    """Return a share in per cent, rounded down, so that only a share of 1 is shown as "all"."""
    return "all" if share == 1 else f"{math.floor(share * 10_000) / 100:.2f} %"


def _tracing_picture(path: str, view: "View") -> "TracingPicture":
    from mandelcl.colour.tracing_picture import TracingPicture

    return TracingPicture(path, view)


def _summary(report: "Report", auto_samples: bool) -> str:
    certified = f", {_percent(report.certified.share)} of the counts certified" if report.certified else ""
    samples = ", 1 sample per pixel" if auto_samples else ""
    if report.samples is not None:
        mean = f"{report.samples:.3g}"
        samples = f", {mean} sample{'' if mean == '1' else 's'} per pixel"
    how = report.rounding if report.method == "direct" else report.method
    return (
        f"{report.width}x{report.height}, {report.number} {how}, "
        f"at most {report.iterations_cap:,} iterations, "
        f"{report.iterations_run / 1e6:,.0f} Miter in {report.timed_s:.3f} s ({_rate(report.giter_per_s)}) "
        f"on {report.devices_text}{certified}{samples}"
    )
