"""Odd surroundings of a command in this process: environment variables, and limits that may be lifted again."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import mandelcl.cli  # noqa: F401 - before a case leaves too few open files for it
from tests.fuzz import samples
from tests.fuzz.commands import samples_into
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.libraries import writable
from tests.fuzz.oracle import Outcome, require, require_reported
from tests.posix import limited, resource

_SIZES = ("", "0", "-1", "1", "7", "80", "10000", "99999999999", "x", "1e3")
_FLAGS = ("", "0", "1", "2", "yes", "truecolor")
# What a process reads while it works. What Python and drivers read when they start is for `processes`.
_VARIABLES: dict[str, tuple[str | None, ...]] = {
    "COLUMNS": _SIZES,
    "LINES": _SIZES,
    "TERM": ("", "dumb", "xterm", "nonsense", "\x1b[31m"),
    "FORCE_COLOR": _FLAGS,
    "NO_COLOR": _FLAGS,
    "CLICOLOR_FORCE": _FLAGS,
    "COLORTERM": _FLAGS,
    "HOME": ("", "/", "/nonexistent"),
    "XDG_CACHE_HOME": ("", "/etc/passwd", "/dev/null"),
    "LANG": ("C", "de_DE.UTF-8", "nonsense"),
    "LC_ALL": ("C", "tr_TR.UTF-8", "\x1b"),
    "MANDELCL_CACHE": ("off", "0", " off ", "/dev/null", "/etc/passwd/x", "x" * 300, "~nobody-here/c", "/proc/nothing"),
    "TZ": ("nonsense", "UTC", ":/etc/passwd"),
    "JPY_PARENT_PID": ("1",),
    "TTY_COMPATIBLE": _FLAGS,
}


def variables(ground: Ground) -> None:
    """Check a command where some variables are odd: it does what it does elsewhere."""
    random = ground.random
    samples_into(ground.here)
    names = random.sample(list(_VARIABLES), random.randrange(1, 5))
    settings = {name: random.choice(_VARIABLES[name]) for name in names}
    command, outputs = _command(random)
    ground.ready()
    outcome = ground.call(*command, environment=settings)
    require_reported(outcome, (0,))
    ground.require_untouched(*outputs)
    ground.accepted = True
    for name in outputs:
        require((ground.here / name).exists(), f"exit code 0 without {name}")


def _command(random: Random) -> tuple[list[str], list[str]]:
    render = ["render", "--size", "16x9", "--number", "float", "--device", device().spec, "-o", "a.png"]
    return random.choice(
        (
            (render, ["a.png"]),
            ([*render, "--quiet"], ["a.png"]),
            (["recolour", "job.npz", "-o", "b.png"], ["b.png"]),
            (["devices", "--no-self-test"], []),
            (["devices", "--no-self-test", "--wide"], []),
            (["locations"], []),
            (["cache"], []),
            (["bench", "--list"], []),
            (["compare", "job.npz", "job.npz"], []),
        )
    )


def limits(ground: Ground) -> None:
    """Check a command whose files may not grow, or that may open few: it does it, or refuses and leaves nothing."""
    random = ground.random
    (ground.here / "job.npz").write_bytes(samples.large_archive())
    choices = (["a.png"], ["a.npz"], ["a.ppm"], ["a.tif"], ["a.png", "b.npz"], ["a.ppm", "b.png"])
    outputs = random.choice([names for names in choices if "a.tif" not in names or writable([".tif"])])
    options = [word for name in outputs for word in ("-o", name)]
    if random.random() < 0.5:
        command = ["render", "--size", "120x90", "--number", "float", "--device", device().spec, "--quiet", *options]
    else:
        outputs = [name for name in outputs if not name.endswith(".npz")] or ["a.png"]
        command = ["recolour", "job.npz", *[word for name in outputs for word in ("-o", name)]]
    what, value = random.choice(
        (
            (resource.RLIMIT_FSIZE, random.choice((2000, 5000, 20_000))),
            (resource.RLIMIT_FSIZE, random.randrange(2000, 40_000)),
            (resource.RLIMIT_NOFILE, len([*Path("/proc/self/fd").iterdir()]) + random.randrange(-2, 12)),
        )
    )
    ground.ready()
    with limited(what, value):
        outcome = ground.call(*command)
    require_reported(without_drivers(outcome), (0, 1))
    if outcome.succeeded:
        ground.accepted = True
        for name in outputs:
            require((ground.here / name).exists(), f"exit code 0 without {name}")
        ground.require_untouched(*outputs)
    elif what == resource.RLIMIT_FSIZE and "recolour" in command:
        done = [name for name in outputs if (ground.here / name).exists()]
        ground.require_untouched(*done[: len(outputs) - 1])  # one after the other
    else:
        ground.require_untouched()


_DRIVERS = re.compile(r".*software\.intel\.com.*|\d+ errors? generated\.\s*")


def without_drivers(outcome: Outcome) -> Outcome:
    """Return an outcome without what drivers print where files may not grow, or a signal takes a compiler's files."""
    lines = [line for line in outcome.err.splitlines(keepends=True) if not _DRIVERS.fullmatch(line.rstrip("\n"))]
    return replace(outcome, err="".join(lines))
