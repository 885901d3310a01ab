"""Whole processes: what they are started with, where they write, what they may not, and signals."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from tests.fuzz.commands import samples_into
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.oracle import Outcome, fingerprint, patience, require, require_line, require_told, require_untouched
from tests.fuzz.surroundings import without_drivers

_ROOT = Path(__file__).resolve().parents[2]
_NOBODY = 65534
_SMALL = ("render", "--size", "24x16", "--number", "float", "--palette", "coursework", "-o", "a.ppm")
_LONG = ("render", "--size", "600x400", "--iterations", "2000000", "--no-shortcuts", "--number", "float", "-o", "a.ppm")


@dataclass
class Started:
    """How a process is started: arguments, changes to the environment, and what is done to it first, in the child."""

    arguments: tuple[str, ...] = _SMALL
    environment: dict[str, str | None] = field(default_factory=dict)
    prepare: Callable[[], object] | None = None
    streams: Mapping[str, Any] = field(default_factory=dict)
    wrapper: tuple[str, ...] = ()

    def popen(self) -> "subprocess.Popen[str]":
        """Start it."""
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), **self.environment}
        kept = {name: value for name, value in environment.items() if value is not None}
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **self.streams}
        command = [*self.wrapper, sys.executable, "-m", "mandelcl", *self.arguments]
        return subprocess.Popen(
            command, env=kept, text=True, errors="replace", preexec_fn=self.prepare, start_new_session=True, **streams
        )


def ended(process: "subprocess.Popen[str]") -> Outcome:
    """Return how a process ended; raises Fault for one that does not."""
    started = time.monotonic()
    try:
        out, err = process.communicate(timeout=patience())
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        require(False, f"it had not ended after {time.monotonic() - started:.0f} s")
    return Outcome(process.returncode, out or "", err or "", time.monotonic() - started)


@cache
def picture() -> bytes:
    """Return the picture that `_SMALL` draws, by a process in usual surroundings."""
    done = Path("usual.ppm")
    outcome = ended(Started((*_SMALL[:-1], str(done), "--device", device().spec)).popen())
    require_told(outcome, (0,))
    data = done.read_bytes()
    done.unlink()
    return data


def processes(ground: Ground) -> None:
    """Start one process in odd surroundings, and check how it ends."""
    picture()
    samples_into(ground.here)
    ground.random.choice(_KINDS)(ground)


def require_right(ground: Ground, outcome: Outcome, codes: tuple[int, ...] = (0,)) -> None:
    """Require that a process drew the very picture, or refused and left nothing."""
    require_told(outcome, codes)
    path = ground.here / "a.ppm"
    if outcome.succeeded:
        ground.accepted = True
        require(path.exists(), "exit code 0 without a picture")
        require(path.read_bytes() == picture(), "another picture than elsewhere")
        ground.require_untouched("a.ppm")
    else:
        require(not path.exists(), f"exit code {outcome.code}, and the picture is there")
        ground.require_untouched()


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
        (_SMALL, ("locations",), ("devices", "--no-self-test"), ("--help",), ("render", "--json", *_SMALL[1:]))
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
        require_told(outcome)
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


def without_compilers(outcome: Outcome) -> Outcome:
    """Return an outcome without what PoCL's compiler prints when a signal takes its files."""
    lines = [
        line for line in outcome.err.splitlines(keepends=True) if not re.fullmatch(r"\d+ errors? generated\.\s*", line)
    ]
    return replace(outcome, err="".join(lines))


def _signals(ground: Ground) -> None:
    """A signal at some moment: the process ends within seconds, in a line, and leaves nothing but what can go on."""
    random = ground.random
    number = random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
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
    outcome = without_compilers(ended(process))
    took = time.monotonic() - before
    require(took < patience() / 6, f"it took {took:.0f} s to end, with exit code {outcome.code}: {outcome.err!r}")
    by_name = outcome.code == -number and not outcome.err  # before Python had read a line of mandelcl
    require(by_name or "Traceback" not in outcome.err, outcome.err)
    if not by_name:
        require(outcome.code in (0, 1), f"exit code {outcome.code}: {outcome.err}")
        require(outcome.code == 0 or len(outcome.err.splitlines()) == 1, f"{outcome.err!r}")
    ground.accepted = outcome.succeeded
    part = ground.here / "a.ppm.part"
    kept = [f"a.ppm.part/{path.name}" for path in part.iterdir()] if part.exists() else []
    require(not kept or "--resume" in outcome.err, f"{kept} were left without a word: {outcome.err!r}")
    ground.require_untouched(*kept, *(["a.ppm.part"] if kept else []), *(["a.ppm"] if outcome.succeeded else []))


def _permissions(ground: Ground) -> None:
    """Folders that another user may not write, read or search."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return  # only root can become somebody else
    random = ground.random
    for path in (ground.root.parent, ground.root, ground.here):
        path.chmod(path.stat().st_mode | 0o055)
    home, cached = ground.root / "beside" / "home", ground.root / "beside" / "cached"
    for folder in (home, cached):
        folder.mkdir()
        os.chown(folder, _NOBODY, _NOBODY)
    locked = random.choice((ground.here, home, cached, None))
    ground.here.chmod(0o777)
    mode = random.choice((0o555, 0o500, 0o000, 0o111))
    if locked is not None:
        locked.chmod(mode if locked != ground.here else 0o555)
    settings: dict[str, str | None] = {"HOME": str(home), "MANDELCL_CACHE": random.choice((str(cached), None))}
    settings |= {"XDG_CACHE_HOME": None, "POCL_CACHE_DIR": None, "TMPDIR": random.choice(("/tmp", str(home)))}
    before = fingerprint(ground.here)
    outcome = ended(Started(environment=settings, wrapper=_as_nobody()).popen())
    after = fingerprint(ground.here)
    for folder in (ground.here, home, cached):
        folder.chmod(0o755)
    require_told(outcome, (1,) if locked == ground.here else (0,))
    require_untouched(before, after, () if locked == ground.here else ("a.ppm",))
    ground.accepted = outcome.succeeded
    require(locked == ground.here or (ground.here / "a.ppm").read_bytes() == picture(), "another picture")


def _as_nobody() -> tuple[str, ...]:
    return ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--")


_FULL = """
mount -t tmpfs -o size=$SIZE tmpfs disk || exit 77
cd disk || exit 77
[ "$BALLAST" = 0 ] || head -c "$BALLAST" /dev/zero > ballast
"$@"; code=$?
ls -A > ../left
[ -e a.ppm ] && cp a.ppm ../out.ppm
exit $code
"""


def _disks(ground: Ground) -> None:
    """A disk without room, for the picture, or for what is remembered."""
    random = ground.random
    (ground.here / "disk").mkdir()
    size = random.choice((64, 256, 1024)) << 10
    ballast = random.choice((0, size - 5000, size, 2 * size))
    settings: dict[str, str | None] = {"SIZE": str(size), "BALLAST": str(ballast)}
    here: dict[str, str | None] = {"HOME": str(ground.here / "disk"), "XDG_CACHE_HOME": None, "MANDELCL_CACHE": None}
    settings |= random.choice(({}, here | {"POCL_CACHE_DIR": None}, {"TMPDIR": "."}))
    wrapper = ("unshare", "-m", "sh", "-c", _FULL, "fuzz")
    outcome = ended(Started(environment=settings, wrapper=wrapper).popen())
    if outcome.code == 77 or "unshare" in outcome.err:
        return  # no file system can be mounted here
    ours = [line for line in outcome.err.splitlines() if not line.startswith(("head: ", "cp: "))]
    if outcome.code and any(line.startswith("LLVM ERROR") for line in ours):
        return  # a driver has ended the process
    lines = [line for line in ours if not outcome.code or "the cache folder" not in line]  # a remark before
    require_told(Outcome(outcome.code, outcome.out, "\n".join(lines), outcome.seconds), (0, 1))
    left = {name for name in (ground.here / "left").read_text().split() if not name.startswith(".cache")}
    ground.accepted = outcome.succeeded
    require(
        left - {"ballast", "mandelcl", "pocl"} == ({"a.ppm"} if outcome.succeeded else set()),
        f"left on the disk: {left}",
    )
    if outcome.succeeded:
        require((ground.here / "out.ppm").read_bytes() == picture(), "another picture")


def _poisoned(ground: Ground) -> None:
    """A cache of the process's own, one entry of which is damaged: the same picture, and at most a line."""
    random = ground.random
    cached = ground.here / "cached"
    first = Started(environment={"MANDELCL_CACHE": str(cached)})
    require_told(ended(first.popen()), (0,))
    (ground.here / "a.ppm").unlink()
    from tests.fuzz.mutations import damaged

    entries = sorted(path for path in cached.rglob("*") if path.is_file() and not path.name.endswith(".icd"))
    for path in random.sample(entries, random.randrange(1, 4)):
        path.write_bytes(damaged(path.read_bytes(), random))
    outcome = ended(first.popen())
    require_told(outcome, (0,))
    ground.accepted = True
    require((ground.here / "a.ppm").read_bytes() == picture(), "another picture")


_KINDS: tuple[Callable[[Ground], None], ...] = (
    *(_environment, _environment, _environment, _streams, _streams, _limits, _limits, _signals, _signals),
    *(_permissions, _permissions, _disks, _disks, _vendors),
)
