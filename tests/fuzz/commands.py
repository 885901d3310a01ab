"""Command lines: options with values that make sense, nearly make sense, or make none."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TypeAlias

import numpy as np

from mandelcl.base.names import ALGORITHMS, PALETTES
from mandelcl.core.locations import LOCATIONS
from mandelcl.files import loading
from mandelcl.files.comparison import compare
from tests import oracle as counting
from tests.fuzz import samples
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import WORDS, changed_text
from tests.fuzz.oracle import Outcome, require
from tests.oracle.formats import FORMATS

_PLACES = [name for name in LOCATIONS if LOCATIONS[name].iterations <= 3000]
_REALS = ("0", "-0.75", "1/3", "-1.7548", "0.1", "1e-3", "-.5", "3")
# For each option of a job, values that make sense; None for a flag.
_Option: TypeAlias = tuple[str, tuple[str, ...] | None]
_VIEWS: tuple[_Option, ...] = (
    ("--center", ("-0.75 0.1", "0 0", "-1/2,0.5", "0.25 0")),
    ("--zoom", ("1", "2.5", "1e3", "4/3", "0.7")),
    ("--region", ("-2 1 -1 1", "0 1 0 1", "-1/2 0 0 1/3")),
    ("--at", tuple(_PLACES)),
    ("--like", ("job.png", "job.npz", "precious.txt")),
)
_JOB: tuple[_Option, ...] = (
    ("--rotate", ("30", "-90", "1/7")),
    ("--formula", ("mandelbrot", "burning-ship")),
    ("--julia", ("-0.4 0.6", "0 0")),
    ("--iterations", ("1", "60", "500")),
    ("--escape-radius", ("2", "10", "128", "1e3")),
    ("--number", ("auto", "float", "double")),
    ("--rounding", ("auto", "fused", "separate")),
    ("--method", ("auto", "direct")),
    ("--algorithm", ALGORITHMS),
    ("--strict", None),
)
_COLOURS: tuple[_Option, ...] = (
    ("--palette", PALETTES),
    ("--cycle", ("1", "12.5", "1000")),
    ("--offset", ("0", "0.3", "-7")),
    ("--inside", ("white", "402030")),
    ("--compress", ("fast", "small")),
    ("--colour-by", ("stripe-2", "triangle", "trap-point", "trap-cross", "distance", "counts")),
    ("--transfer", ("log", "root4", "linear")),
    ("--equalise", None),
    ("--no-dither", None),
)
_RENDER: tuple[_Option, ...] = (
    *_JOB,
    *_COLOURS,
    ("--budget", ("1", "50", "1e3")),
    ("--blocks", ("1x1", "2x3")),
    ("--rectangles", ("how.png",)),
    ("--resume", None),
    ("--auto-skew", None),
    ("--samples", ("1", "2", "auto")),
    ("--no-shortcuts", None),
    ("--confirm", ("1", "3")),
    ("--trace", ("trace.json",)),
    ("--json", None),
    ("--digest", None),
    ("--quiet", None),
)
_OUTPUTS = ("a.png", "b.ppm", "c.npz", "folder/d.png", "new name.png")
_SIZES = ("8x8", "16x9", "1x1", "23x5", "7X3")


def lines(ground: Ground) -> None:
    """Run a command line, and check what it made."""
    random = ground.random
    samples_into(ground.here)
    kind = random.choice(_KINDS)
    kind(ground)


def samples_into(folder: Path) -> None:
    """Put files that commands read into a folder."""
    (folder / "job.png").write_bytes(samples.pictures()["rgb.png"])
    (folder / "job.npz").write_bytes(samples.archives()[0][1])


def _render(ground: Ground) -> None:
    random = ground.random
    chaos = random.choice((0.0, 0.0, 0.02, 0.2))
    arguments, outputs = ["render"], []
    for _ in range(random.choice((1, 1, 2))):
        outputs.append(random.choice(_OUTPUTS))
        arguments += ["-o", outputs[-1]]
    view = random.choice(_VIEWS)
    chosen: list[_Option] = [view] if random.random() < 0.8 else []
    if view[0] == "--center":
        chosen.append(_VIEWS[1])
    chosen += random.sample(_RENDER, random.randrange(5))
    if view[0] != "--like":
        arguments += ["--size", _value(random, _SIZES, chaos)]
    arguments += ["--device", device().spec, *_options(random, chosen, chaos)]
    arguments = _disturbed(random, arguments, chaos)
    if not harmless(arguments):
        return
    made = _written(arguments)
    traced = {name for option, name in pairwise(arguments) if option == "--trace"}
    outcome = ground.command(*arguments, outputs=made, kept=traced)  # a trace is of a failure, too
    if outcome.succeeded:
        _check_outputs([name for name in outputs if name in made], arguments, outcome)


def _written(arguments: list[str]) -> set[str]:
    """Return the files that a command line names as outputs."""
    options = ("-o", "--output", "--rectangles", "--trace")
    return {name for option, name in pairwise(arguments) if option in options} or {"mandelbrot.png"}


def _check_outputs(outputs: list[str], arguments: list[str], outcome: Outcome) -> None:
    """Require that pictures and fields that were written are whole, and fields right."""
    from PIL import Image

    jobs = []
    for name in outputs:
        if name.endswith(".npz"):
            field = loading.read_field(name)
            jobs.append(field.job)
            if field.job.number in FORMATS and field.job.method == "direct":
                right = np.array_equal(field.counts, counting.counts(field.job))
                require(right or (field.job.algorithm != "escape" and not field.job.strict), f"wrong counts in {name}")
        else:
            with Image.open(name) as image:
                image.load()
            if name.endswith(".png"):
                jobs.append(loading.read_job(name))
    require(all(job == jobs[0] for job in jobs[1:]), "outputs of different jobs")
    if "--json" in arguments:
        report = json.loads(outcome.out)
        require(not jobs or report["iterations_cap"] == jobs[0].iterations, "the report is of another job")


def _recolour(ground: Ground) -> None:
    random = ground.random
    chaos = random.choice((0.0, 0.05, 0.3))
    output = random.choice(("x.png", "x.ppm", "folder/x.png"))
    options = _options(random, random.sample(_COLOURS, random.randrange(4)), chaos)
    arguments = ["recolour", _value(random, ("job.npz",), chaos), "-o", output, *options]
    arguments = _disturbed(random, arguments, chaos)
    ground.command(*arguments, outputs=_written(arguments))


def _compare(ground: Ground) -> None:
    random = ground.random
    chaos = random.choice((0.0, 0.1, 0.3))
    names = [_value(random, ("job.png", "job.npz", "folder", "precious.txt", "link"), chaos) for _ in range(2)]
    arguments = ["compare", *names, *random.choice(([], ["-o", "diff.png"], ["--json"], ["-o", "diff.gif"]))]
    ground.ready()
    outcome = ground.call(*_disturbed(random, arguments, chaos))
    require(outcome.code in (0, 1, 2), f"exit code {outcome.code}")
    if outcome.code == 2 and not outcome.out:
        from tests.fuzz.oracle import require_reported

        require_reported(outcome)
        ground.require_untouched()
        return
    ground.require_untouched(*(["diff.png"] if "-o" in arguments else []))
    ground.accepted = True
    if arguments[1] == names[0] and Path(names[0]).exists():
        require((outcome.code == 0) == (compare(names[0], names[1]).differing == 0), "the exit code is not true")


def _others(ground: Ground) -> None:
    random = ground.random
    arguments = list(
        random.choice(
            (
                ["locations"], ["locations", "--json"], ["cache"], ["bench", "--list"], ["--version"], ["--help"],
                ["bench", "--example", "naive"], ["devices", "--no-self-test"], ["devices", "--no-self-test", "--json"],
                ["source", "--size", "4x4", "--number", "float", "--device", device().spec],
                ["locate", "--in", "-1.8", "-1.7", "-0.05", "0.05"], ["locate", "--at", "fern", "--iterations", "9"],
                ["locate", "--center", "0", "1", "--zoom", "10", "--json"],
                ["locate", "--like", "job.png", "--iterations", "50"],
                ["lab"], ["lab", "--example", "vectors"], ["lab", "precious.txt"], ["lab", "folder"],
                ["locate", "--misiurewicz", "--in", "-0.12", "-0.08", "0.94", "0.98"], ["palettes"],
                ["locate", "--at", "thorn-star", "--embedded", "--json"],
                ["locate", "--formula", "burning-ship", "--in", "-1.77", "-1.75", "-0.04", "-0.02"],
                ["bench", "--merge", "job.png", "precious.txt"], ["tune", "--number", "nonsense"],
                ["coursework", "8", "8", "-o", "c.ppm", "--device", device().spec],
                ["render", "--help"], ["bench", "devices", "--scale", "0"], ["bench"], [],
            )
        )
    )  # fmt: skip
    chaos = random.choice((0.0, 0.2, 0.5))
    writes = arguments[:1] in (["coursework"], ["render"])
    arguments = _disturbed(random, arguments, chaos)
    made = _written(arguments) if writes else set()
    if harmless(arguments):
        ground.ready()
        outcome = ground.call(*arguments)
        if outcome.code or "--help" not in arguments:
            from tests.fuzz.oracle import require_reported

            if arguments:  # without any, click prints its help as an error
                # `lab` tells of each kernel and device in a line, whatever comes of it.
                require_reported(outcome, line_by_line=arguments[:1] == ["lab"])
        ground.require_untouched(*(made if outcome.succeeded else ()))
        ground.accepted |= outcome.succeeded


_KINDS = (_render, _render, _render, _render, _recolour, _compare, _others)


def harmless(arguments: list[str]) -> bool:
    """Whether a command line cannot take long, or write where no case should."""
    text = " ".join(arguments)
    long = ("--soak", "--certify", "--clear", "--forget", "--kernel", "--pictures", "/")
    timed = arguments[:1] in (["bench"], ["tune"]) and not {"--merge", "--list", "--example", "nonsense", "0"} & {
        *arguments
    }
    huge = any(len(word) > 6 and word.isdigit() for word in arguments) and "--size" not in text
    large = arguments[:1] == ["render"] and not {"--size", "--like", "--help"} & {*arguments}
    return not timed and not huge and not large and not any(word.startswith(long) for word in arguments)


def _options(random: Random, chosen: Sequence[_Option], chaos: float) -> list[str]:
    arguments: list[str] = []
    for option, values in chosen:
        arguments.append(option)
        if values is not None:
            arguments += [_disturbed_word(random, word, chaos) for word in random.choice(values).split()]
    return arguments


def _value(random: Random, values: tuple[str, ...], chaos: float) -> str:
    return _disturbed_word(random, random.choice(values), chaos)


def _disturbed_word(random: Random, word: str, chaos: float) -> str:
    if random.random() >= chaos:
        return word
    return changed_text(word, random) if random.random() < 0.5 else random.choice(WORDS)


def _disturbed(random: Random, arguments: list[str], chaos: float) -> list[str]:
    """Return arguments, some of them left out, doubled, exchanged, or strange; no argument has a NUL."""
    words = [_disturbed_word(random, word, chaos / 8) for word in arguments]
    while random.random() < chaos / 2 and words:
        at = random.randrange(len(words))
        words[at : at + 1] = random.choice(([], [words[at], words[at]], [words[at], random.choice(WORDS)]))
    return [word.replace("\0", "") for word in words]
