"""A process under test: how it is started, how it ends, and that it draws the picture that it draws elsewhere."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests import posix
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.oracle import Outcome, patience, require, require_reported

SMALL = ("render", "--size", "24x16", "--number", "float", "--palette", "coursework", "--samples", "1", "-o", "a.ppm")


@dataclass
class Started:
    """How a process is started: arguments, changes to the environment, and what is done to it first, in the child."""

    arguments: tuple[str, ...] = SMALL
    environment: dict[str, str | None] = field(default_factory=dict)
    prepare: Callable[[], object] | None = None
    streams: Mapping[str, Any] = field(default_factory=dict)
    wrapper: tuple[str, ...] = ()

    def popen(self) -> "subprocess.Popen[str]":
        """Start it."""
        # PYTHONPATH is the worker's own, with the packages. What this machine's drivers keep, and what it tells their
        # loaders, is no matter of a case.
        machine = {"CUDA_CACHE_DISABLE": "1", "OCL_ICD_FILENAMES": None}
        environment = {**os.environ, **machine, **self.environment}
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
        posix.os.killpg(process.pid, posix.signal.SIGKILL)
        process.communicate()
        require(False, f"it had not ended after {time.monotonic() - started:.0f} s")
    return Outcome(process.returncode, out or "", err or "", time.monotonic() - started)


def below(process: int) -> list[int]:
    """Return the processes that a process has started, and those of these."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in task.read_text().split()]
    return found + [deeper for child in found for deeper in below(child)]


def require_ended(before: Collection[int]) -> None:
    """Require that soon no process is below this one but those before and theirs, such as an explorer's workers."""
    ends = time.monotonic() + patience() / 6
    while left := {*below(os.getpid())} - {*before} - {theirs for each in before for theirs in below(each)}:
        lines = [_command(process) for process in left]
        require(time.monotonic() < ends, f"{len(left)} processes are left: {lines}")
        time.sleep(0.05)


def _command(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:200]
    return ""


def of_living(process: int) -> float:
    """Return the processor time, in seconds, of all processes below one that are running or not waited for."""
    ticks = 0
    for number in below(process):
        with suppress(OSError, ValueError):
            words = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, words[11:15]))  # user and system time of its own, and of children that have ended
    return ticks / float(posix.os.sysconf("SC_CLK_TCK"))


@cache
def picture() -> bytes:
    """Return the picture that `SMALL` draws, by a process in usual surroundings."""
    done = Path("usual.ppm")
    outcome = ended(Started((*SMALL[:-1], str(done), "--device", device().spec)).popen())
    require_reported(outcome, (0,))
    data = done.read_bytes()
    done.unlink()
    return data


def require_right(ground: Ground, outcome: Outcome, codes: tuple[int, ...] = (0,)) -> None:
    """Require that a process drew the very picture, or refused and left nothing."""
    require_reported(outcome, codes)
    path = ground.here / "a.ppm"
    if outcome.succeeded:
        ground.accepted = True
        require(path.exists(), "exit code 0 without a picture")
        require(path.read_bytes() == picture(), "another picture than elsewhere")
        ground.require_untouched("a.ppm")
    else:
        require(not path.exists(), f"exit code {outcome.code}, and the picture is there")
        ground.require_untouched()
