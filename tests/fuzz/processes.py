"""Whole processes: what they are started with, what they may not, and signals."""

import json
import os
import signal
import time
from collections.abc import Callable
from functools import partial

from tests import posix
from tests.fuzz.commands import samples_into
from tests.fuzz.filesystems import disks, permissions
from tests.fuzz.ground import Ground
from tests.fuzz.interrupts import kills
from tests.fuzz.oracle import Outcome, patience, require, require_line, require_reported
from tests.fuzz.started import SMALL, Started, ended, picture, require_right
from tests.fuzz.surroundings import without_drivers
from tests.posix import resource

_LONG = ("render", "--size", "600x400", "--iterations", "2000000", "--no-shortcuts", "--number", "float", "-o", "a.ppm")


def processes(ground: Ground) -> None:
    """Start one process in odd surroundings, and check how it ends."""
    picture()
    samples_into(ground.here)
    ground.random.choice(_KINDS)(ground)


_ENVIRONMENTS: dict[str, tuple[str | None, ...]] = {
    "LANG": ("C", "POSIX", "nonsense", "tr_TR.UTF-8", ""),
    "LC_ALL": ("C", "C.UTF-8", "nonsense"),
    "HOME": ("/nonexistent", "/dev/null", "", "/proc", None),
    "XDG_CACHE_HOME": ("/etc/passwd", "/nonexistent/x", "relative"),
    "TERM": ("dumb", "", None, "nonsense"),
    "COLUMNS": ("0", "1", "x", "100000"),
    "FORCE_COLOR": ("1", ""),
    "PATH": ("", "/nonexistent", None),
    "MANDELCL_CACHE": ("off", "/etc/passwd/x", "/dev/null", "x" * 300, "~nobody-here/c", "here cache"),
    "PYTHONUTF8": ("0", "1"),
    "PYTHONIOENCODING": ("ascii", "latin-1", "cp1252", "utf-8:strict"),
    "PYTHONOPTIMIZE": ("1", "2"),
    "PYTHONHASHSEED": ("0", "77"),
    "PYTHONDONTWRITEBYTECODE": ("1", None),
    "PYTHONUNBUFFERED": ("1",),
    "PYTHONSAFEPATH": ("1",),
    "PYTHONWARNINGS": ("always", "default"),
    "PYTHONDEVMODE": ("1",),
    "PYTHONINTMAXSTRDIGITS": ("640", "0"),
    "PYTHONNOUSERSITE": ("1",),
    "PYTHONMALLOC": ("malloc", "debug"),
    "OPENBLAS_NUM_THREADS": ("0", "x", "64"),
    "OMP_NUM_THREADS": ("0", "x", "1"),
    "RUSTICL_ENABLE": ("", "nonsense", "llvmpipe"),
    "POCL_CACHE_DIR": ("/dev/null", "/nonexistent/x"),
    "OCL_ICD_FILENAMES": ("nonsense.so",),
    "OPENCL_VENDOR_PATH": ("/nonexistent",),
    "TMPDIR": ("/nonexistent", ""),
    "MALLOC_PERTURB_": ("165",),
    "TZ": ("nonsense",),
}


def _environment(ground: Ground) -> None:
    random = ground.random
    names = random.sample(list(_ENVIRONMENTS), random.randrange(1, 4))
    settings = {"POCL_CACHE_DIR": None} | {name: random.choice(_ENVIRONMENTS[name]) for name in names}
    (ground.here / "settings.json").write_text(json.dumps(settings))
    ground.ready()
    outcome = ended(Started(environment=settings).popen())
    # Python in development mode warns of what libraries do; so it does with its warnings switched on.
    if {"PYTHONDEVMODE", "PYTHONWARNINGS"} & {*settings}:
        outcome = Outcome(outcome.code, outcome.out, "", outcome.seconds)
    if settings.get("MANDELCL_CACHE") == "here cache":
        import shutil

        shutil.rmtree(ground.here / "here cache", ignore_errors=True)
    if settings.get("XDG_CACHE_HOME") == "relative":
        import shutil

        shutil.rmtree(ground.here / "relative", ignore_errors=True)
    # A folder that the user has named for PoCL's cache stays, and PoCL builds nothing without one.
    require_right(ground, outcome, (0, 1) if settings["POCL_CACHE_DIR"] else (0,))


def _vendors(ground: Ground) -> None:
    """A folder of .icd files of nonsense, or none: no device, in a line, or those that are left."""
    random = ground.random
    folder = ground.here / "vendors"
    folder.mkdir()
    for name in random.sample(("a.icd", "b.icd", "c.icd"), random.randrange(3)):
        content = random.choice(
            (b"", b"\0\xff", b"libnothing.so\n", b"/etc/passwd\n", b"libm.so.6\n", random.randbytes(20))
        )
        (folder / name).write_bytes(content)
    chosen = random.choice((str(folder), str(folder / "a.icd"), "/nonexistent", "libnothing.so", "/etc/passwd"))
    ground.ready()
    outcome = ended(Started(environment={"OCL_ICD_VENDORS": chosen, "MANDELCL_VENDORS": None}).popen())
    require_right(ground, outcome, (0, 1))


def _close(numbers: tuple[int, ...]) -> None:
    for number in numbers:
        os.close(number)


def _streams(ground: Ground) -> None:
    """Standard streams that are closed, full, or pipes that nobody reads."""
    random = ground.random
    arguments = random.choice(
        (SMALL, ("locations",), ("devices", "--no-self-test"), ("--help",), ("render", "--json", *SMALL[1:]))
    )
    kind = random.choice(("full out", "full err", "closed out", "closed err", "closed all", "broken out", "broken err"))
    start = Started(arguments)
    full = open("/dev/full", "w") if kind.startswith("full") else None  # noqa: PTH123, SIM115
    if full:
        start.streams = {"stdout" if kind == "full out" else "stderr": full}
    if kind.startswith("closed"):
        numbers = {"closed out": (1,), "closed err": (2,), "closed all": (0, 1, 2)}[kind]
        start.prepare = partial(_close, numbers)
    if kind.startswith("broken"):
        reading, writing = os.pipe()
        os.close(reading)
        start.streams = {"stdout" if kind == "broken out" else "stderr": writing}
    (ground.here / "kind").write_text(f"{kind} {arguments}")
    ground.ready()
    process = start.popen()
    if full:
        full.close()
    if kind.startswith("broken"):
        os.close(writing)
    outcome = ended(process)
    prints = "-o" not in arguments or "--json" in arguments
    refused = kind in ("full out", "broken out") and prints
    require(outcome.code == (1 if refused else 0), f"{kind}: exit code {outcome.code}: {outcome.err}")
    require("Traceback" not in outcome.err and "Exception ignored" not in outcome.err, f"{kind}: {outcome.err}")
    if refused and kind == "full out":
        require_reported(outcome)
    ground.accepted = not refused
    made = ["a.ppm"] if "-o" in arguments else []
    ground.require_untouched(*made)
    for name in made:
        require((ground.here / name).read_bytes() == picture(), f"{kind}: another picture")


def _limits(ground: Ground) -> None:
    """Limits of the process: it does its work, or refuses in a line. What a driver does of its own is no line."""
    random = ground.random
    what, value = random.choice(
        (
            (resource.RLIMIT_NOFILE, random.choice((8, 16, 24, 32, 64, 256))),
            (resource.RLIMIT_FSIZE, random.choice((0, 100, 1000, 100_000))),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_STACK, random.choice((1 << 20, 8 << 20, 64 << 20))),
            (
                resource.RLIMIT_AS,
                random.choice((1 << 28, 600 << 20, 700 << 20, 800 << 20, 1 << 30, 3 << 29, 2 << 30, 4 << 30)),
            ),
            (resource.RLIMIT_NPROC, 1 << 14),
            (resource.RLIMIT_CPU, 120),
        )
    )
    (ground.here / "limit").write_text(f"{what} {value}")
    ground.ready()
    start = Started(prepare=lambda: resource.setrlimit(what, (value, value)))
    start.environment = {"MANDELCL_CACHE": "off"} if random.random() < 0.2 else {}
    outcome = ended(start.popen())
    tight = {
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_FSIZE: 1 << 30,
        resource.RLIMIT_AS: 8 << 30,
        resource.RLIMIT_STACK: 2 << 20,
    }
    if value > tight.get(what, -1) or outcome.succeeded:
        require_right(ground, without_drivers(outcome))
        return
    # Python, the dynamic linker or a driver may end the process: what is left then is cleared by the next render.
    require(not (ground.here / "a.ppm").exists(), f"exit code {outcome.code}, and the picture is there")
    by_driver = not outcome.err.startswith("mandelcl: ")
    part = ["a.ppm.part", "a.ppm.part/draft", "a.ppm.part/lock"] if by_driver else []
    ground.require_untouched(*part)
    if outcome.code == 1 and outcome.err.startswith("mandelcl: "):
        require_line(outcome.err.strip().splitlines()[-1])
    if (ground.here / "a.ppm.part").exists():
        require_right(ground, ended(Started().popen()))


def _heed(number: int) -> None:
    """Have a process be ended by a signal, which whoever runs the suite may ignore, as `nohup` does."""
    signal.signal(number, signal.SIG_DFL)


def _signals(ground: Ground) -> None:
    """A signal at some moment: the process ends within seconds, in a line, and leaves nothing but what can go on."""
    random = ground.random
    number = random.choice((signal.SIGINT, signal.SIGTERM, posix.signal.SIGHUP))
    moment = random.choice((random.uniform(0.15, 1.0), random.uniform(0.5, 3.0)))
    again = random.random() < 0.2
    ground.ready()
    process = Started(_LONG, prepare=partial(_heed, number)).popen()
    time.sleep(moment)
    before = time.monotonic()
    process.send_signal(number)
    if again:
        time.sleep(random.uniform(0, 0.3))
        process.send_signal(number)
    outcome = without_drivers(ended(process))
    took = time.monotonic() - before
    require(took < patience() / 6, f"it took {took:.0f} s to end, with exit code {outcome.code}: {outcome.err!r}")
    by_name = outcome.code == -number and not outcome.err  # before Python had read a line of mandelcl
    require(by_name or "Traceback" not in outcome.err, outcome.err)
    if not by_name:
        require(outcome.code in (0, 128 + number), f"exit code {outcome.code}: {outcome.err}")
        require(outcome.code == 0 or len(outcome.err.splitlines()) == 1, f"{outcome.err!r}")
    ground.accepted = outcome.succeeded
    part = ground.here / "a.ppm.part"
    kept = [f"a.ppm.part/{path.name}" for path in part.iterdir()] if part.exists() else []
    require(not kept or "--resume" in outcome.err, f"{kept} were left without a word: {outcome.err!r}")
    ground.require_untouched(*kept, *(["a.ppm.part"] if kept else []), *(["a.ppm"] if outcome.succeeded else []))


_KINDS: tuple[Callable[[Ground], None], ...] = (
    *(_environment, _environment, _environment, _streams, _streams, _limits, _limits, _signals, _signals),
    *(permissions, permissions, disks, disks, _vendors, kills, kills),
)
