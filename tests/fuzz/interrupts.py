"""Renders that are stopped at some moment, as by a power cut, and go on: the very bytes of one that never stopped.

What lies on the disk at that moment is put back once the render has ended, so that it finds no more than a process that
was killed leaves. `kills` kills processes.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import mandelcl
from mandelcl.base.errors import CancelledError, FileError
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import find_palette
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.files.output import SUFFIXES
from mandelcl.rendering.session import Session
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.libraries import writable
from tests.fuzz.oracle import require, require_line

_SUFFIXES = writable(suffix for suffix in SUFFIXES if suffix not in (".jpeg", ".tiff"))
_VIEW = View.centred("-0.745", "0.1275", 40, 60, 45)
_JOBS = (
    Job(_VIEW, 300, number="float", rounding="fused", method="direct", planes=("counts", "smooth")),
    Job(_VIEW, 300, number="float", rounding="fused", method="direct", algorithm="border", strict=True),
    Job(_VIEW, 300, number="float", rounding="fused", method="direct"),
    Job(View.centred(0, 1, Fraction(10**25), 40, 30), 400, method="perturbation"),
)
_COLOURINGS = (
    Colouring(find_palette("coursework")),
    Colouring(find_palette("spectrum"), offset=0.25),
    Colouring(find_palette("ice"), samples=3),
)
_DATED = "vips-properties.xml"


@dataclass
class _Stop:
    """A token that is set when it is asked for the k-th time; what lies in a folder is copied then."""

    folder: Path
    copy: Path
    left: int
    known: set[str] = field(default_factory=set)

    def is_set(self) -> bool:
        """Return whether the moment has come."""
        self.left -= 1
        if self.left == 0:
            shutil.rmtree(self.copy, ignore_errors=True)
            self.copy.mkdir()
            _copied(self.folder, self.copy, self.known)
        return self.left <= 0


def _copied(folder: Path, copy: Path, known: set[str]) -> None:
    """Copy what is in a folder but not known before; what is renamed meanwhile may be missing."""
    for path in folder.iterdir():
        if path.name in known:
            continue
        with suppress(OSError, shutil.Error):
            if path.is_dir():
                shutil.copytree(path, copy / path.name)
            else:
                shutil.copy2(path, copy / path.name)


def interrupts(ground: Ground) -> None:
    """Stop a render some times, and let it go on to its end."""
    random = ground.random
    names, job, colouring = _drawn(random)
    expected = _whole(ground, job, colouring, names)
    known = {path.name for path in ground.here.iterdir()}
    ground.ready()
    stops, resume = [random.randrange(1, 40) for _ in range(random.choice((1, 1, 2, 3)))], False
    for moment in stops:
        stop = _Stop(ground.here, ground.root / "copy", moment, known)
        try:
            _render(names, job, colouring, resume, stop)
            break
        except CancelledError:
            for path in ground.here.iterdir():
                if path.name not in known:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.copytree(stop.copy, ground.here, dirs_exist_ok=True)
            shutil.rmtree(stop.copy)
            resume = True
    else:
        try:
            _render(names, job, colouring, resume and random.random() < 0.9, None)
        except FileError as error:
            require_line(f"mandelcl: {error}")
            require("--resume" in str(error), f"refused: {error}")
            _render(names, job, colouring, True, None)
    _require_same(ground, expected, f"stops at {stops}")


def kills(ground: Ground) -> None:
    """Kill processes in the middle of a render, and let it go on to its end."""
    random = ground.random
    names, job, colouring = _drawn(random)
    expected = _whole(ground, job, colouring, names)
    moments = [random.uniform(0, 0.5) for _ in range(random.choice((1, 1, 2)))]
    ground.ready()
    for number, moment in enumerate(moments):
        command = [sys.executable, "-m", "tests.fuzz.interrupts", str(job), str(colouring), str(number), *names]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            require(process.stdout.readline() == b"ready\n", "the process that is to be killed does not begin")
            time.sleep(moment)
            process.kill()
    for path in ground.temporary.iterdir():
        if not path.name.startswith("mandelcl-oracle-"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _render(names, job, colouring, True, None)
    _require_same(ground, expected, f"kills after {moments} s")


def _drawn(random: Random) -> tuple[tuple[str, ...], int, int]:
    """Return names of outputs, and the numbers of a job and of a colouring that they can have."""
    suffixes = random.sample(_SUFFIXES, random.choice((1, 1, 1, 2)))
    job, colouring = random.randrange(len(_JOBS)), random.randrange(len(_COLOURINGS))
    if {".npz", ".exr"} & {*suffixes} and colouring == len(_COLOURINGS) - 1:
        colouring = 0
    return tuple(f"a{suffix}" for suffix in suffixes), job, colouring


def _require_same(ground: Ground, expected: dict[str, dict[str, bytes]], after: str) -> None:
    """Require that outputs are what they are without stops, and nothing else is left."""
    ground.accepted = True
    for name in expected:
        require(_content(ground.here / name) == expected[name], f"{name} is another file after {after}")
    own = [str(path.relative_to(ground.here)) for name in expected for path in _tree(ground.here, name)]
    ground.require_untouched(*own)


def _tree(here: Path, name: str) -> list[Path]:
    """Return what belongs to an output."""
    tiles = here / f"{Path(name).stem}_files"
    deep = [tiles, *tiles.rglob("*")] if name.endswith(".dzi") else []
    return [here / name, *deep]


def _content(path: Path) -> dict[str, bytes]:
    """Return the bytes of an output, by path; a pyramid's file of properties has a date, and is left out."""
    files = [each for each in _tree(path.parent, path.name) if each.is_file() and each.name != _DATED]
    return {str(each.relative_to(path.parent)): each.read_bytes() for each in files}


_wholes: dict[tuple[int, int, tuple[str, ...]], dict[str, dict[str, bytes]]] = {}


def _whole(ground: Ground, job: int, colouring: int, names: tuple[str, ...]) -> dict[str, dict[str, bytes]]:
    """Return the outputs of a render that is not stopped, by name."""
    if (job, colouring, names) not in _wholes:
        folder = ground.lasting / f"{job}-{colouring}-{'-'.join(names)}"
        folder.mkdir()
        _render([str(folder / name) for name in names], job, colouring, False, None)
        _wholes[job, colouring, names] = {name: _content(folder / name) for name in names}
        shutil.rmtree(folder)
    return _wholes[job, colouring, names]


def _render(names: Sequence[str], job: int, colouring: int, resume: bool, cancel: _Stop | None) -> None:
    settings = Settings(block_pixels=200, budget=1e-5)
    wanted = _JOBS[job]
    if any(name.endswith(".exr") for name in names):
        wanted = replace(wanted, planes=("counts", "smooth"))
    mandelcl.render_to(
        list(names), wanted, _COLOURINGS[colouring], _session(), settings, resume=resume, cancel=cancel, store_after=0.0
    )


@cache
def _session() -> Session:
    return Session(device())


if __name__ == "__main__":
    _session()
    print("ready", flush=True)
    _render(sys.argv[4:], int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] != "0", None)
