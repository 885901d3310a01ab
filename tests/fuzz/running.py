"""Run cases in processes of their own, watched: one that ends, or takes too long over a case, is a fault as well."""

import json
import math
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from tests import posix
from tests.fuzz.categories import CATEGORIES, Block
from tests.fuzz.oracle import MOST_SECONDS, patience

_ROOT = Path(__file__).resolve().parents[2]
_STARTS = 240.0  # seconds of a core that a process may take over a first case: kernels are built, devices tested
_GRACE = 2.0  # of MOST_SECONDS: the machine may be busy with other things


@dataclass(frozen=True)
class Failure:
    """A case that was at fault: what was wrong, and where its input is kept."""

    category: str
    number: int
    fault: str
    kept: str = ""


@dataclass
class Tally:
    """What came of the cases of a category, and the processor time that they took."""

    cases: int = 0
    accepted: int = 0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        """Add what came of other cases."""
        self.cases += other.cases
        self.accepted += other.accepted
        self.seconds += other.seconds


@dataclass
class Piece:
    """Cases `first` to `first + count − 1` of a category, which a process has run, and what came of them."""

    category: str
    first: int
    count: int = 0
    tally: Tally = field(default_factory=Tally)
    failures: list[Failure] = field(default_factory=list)


@dataclass
class Result:
    """What came of a run: a tally of each category, and the failures in the order in which they were found."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    @property
    def cases(self) -> int:
        """Cases in all."""
        return sum(tally.cases for tally in self.tallies.values())


@dataclass(frozen=True)
class Settings:
    """How cases are run: from which seed, by how many processes, and where the inputs of failures are kept.

    Processes share the `cache`, a folder of kernels and self-tests; without one the run has its own.
    `plant` names a fault that is planted in mandelcl for the run, `most_failures` how many end it. No block is begun
    after so many `seconds`.
    """

    seed: int
    jobs: int = 1
    keep: Path = Path("fuzz-failures")
    cache: str = ""
    plant: str = ""
    most_failures: int = 20
    seconds: float = math.inf


class _Process:
    """A worker process, the block that it has in hand, and the case of it that it is at."""

    def __init__(self, settings: Settings) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT), *sys.path]), "PYTHONIOENCODING": "utf-8"}
        for name in ("MANDELCL_DEBUG", "COLUMNS", "FORCE_COLOR"):
            environment.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker"],
            cwd=_ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.output: IO[bytes] = self.process.stdout
        self.block: Block | None = None
        self.done = Piece("", 0)  # of the block
        self.at = 0
        self.heard = time.monotonic()
        self._fresh: set[str] = set()
        self._rest = b""
        keep = str(settings.keep.absolute())
        self._order(seed=settings.seed, keep=keep, cache=settings.cache, plant=settings.plant)

    def _order(self, **order: Any) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its output ends, too

    def take(self, block: Block) -> None:
        """Have it run a block."""
        self.block, self.at, self.heard = block, block.first, time.monotonic()
        self.done = Piece(block.category, block.first)
        self._order(category=block.category, first=block.first, count=block.count)

    def reports(self) -> list[dict[str, Any]] | None:
        """Return what it has said; None where it has ended."""
        data = os.read(self.output.fileno(), 1 << 16)
        self.heard = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines] if data else None

    @property
    def overdue(self) -> bool:
        """Whether it has been at a case for too long, on a machine as busy as this one is."""
        assert self.block is not None
        first = self.block.category not in self._fresh
        most = (_STARTS / MOST_SECONDS if first else _GRACE) * patience()
        return time.monotonic() - self.heard > most

    def used_to(self, category: str) -> None:
        """Take note that it has done a case of a category."""
        self._fresh.add(category)

    def end(self) -> str:
        """End it with all that it has started, and return how it ended, in a phrase."""
        running = self.process.poll() is None
        if running:
            posix.os.killpg(self.process.pid, posix.signal.SIGKILL)
        code = self.process.wait()
        self._errors.seek(0)
        reported = self._errors.read().decode("utf-8", "replace")[-2000:]
        self._errors.close()
        self.output.close()
        how = "" if running else f"signal {-code}" if code < 0 else f"code {code}"
        return f"{how}\n{reported}".strip()

    def leave(self) -> None:
        """Let it end by itself: there is nothing more to do."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.end()


class Run:
    """A run of blocks of cases; `done` is called with each piece of them that is done."""

    def __init__(
        self,
        settings: Settings,
        blocks: Sequence[Block],
        show: Callable[[Result], None],
        done: Callable[[Piece], None],
    ) -> None:
        self.result = Result({block.category: Tally() for block in blocks})
        self._settings = settings
        self._blocks = deque(blocks)
        self._show, self._done = show, done
        self._selector = selectors.DefaultSelector()
        self._processes: list[_Process] = []
        self._ends = time.monotonic() + settings.seconds

    def run(self) -> Result:
        """Run all blocks, or until there are too many failures; return what came of them."""
        try:
            for _ in range(min(self._settings.jobs, len(self._blocks))):
                self._start()
            while self._processes:
                for key, _ in self._selector.select(1.0):
                    self._hear(key.data)
                for process in [process for process in self._processes if process.overdue]:
                    self._lost(process, f"it took more than {time.monotonic() - process.heard:.0f} s")
                self._show(self.result)
                if len(self.result.failures) >= self._settings.most_failures:
                    break
        finally:
            for process in self._processes:
                process.end()
                if process.done.count and not CATEGORIES[process.done.category].drawn:
                    self._done(process.done)
        return self.result

    def _next(self) -> Block | None:
        return self._blocks.popleft() if self._blocks and time.monotonic() < self._ends else None

    def _start(self) -> None:
        block = self._next()
        if block is None:
            return
        process = _Process(self._settings)
        self._processes.append(process)
        self._selector.register(process.output, selectors.EVENT_READ, process)
        process.take(block)

    def _drop(self, process: _Process) -> None:
        self._selector.unregister(process.output)
        self._processes.remove(process)

    def _hear(self, process: _Process) -> None:
        reports = process.reports()
        if reports is None:
            self._lost(process, "the process ended")
            return
        for report in reports:
            self._note(process, report)

    def _note(self, process: _Process, report: dict[str, Any]) -> None:
        assert process.block is not None
        category = process.block.category
        if "begun" in report:
            process.at = report["begun"]
        elif "number" in report:
            process.used_to(category)
            process.at = report["number"] + 1
            failures = [Failure(category, report["number"], report["fault"], report["kept"])] if report["fault"] else []
            self._add(process, Tally(1, int(report["accepted"]), report["seconds"]), failures)
        else:
            self._add(process, Tally(seconds=report["seconds"]))
            process.done.count = process.block.count  # hypothesis may have run fewer
            self._done(process.done)
            block = self._next()
            if block is not None:
                process.take(block)
            else:
                self._drop(process)
                process.leave()

    def _add(self, process: _Process, tally: Tally, failures: Sequence[Failure] = ()) -> None:
        piece = process.done
        piece.count += tally.cases
        piece.tally.add(tally)
        piece.failures += failures
        self.result.tallies[piece.category].add(tally)
        self.result.failures += failures

    def _lost(self, process: _Process, what: str) -> None:
        """Note a case at which its process was lost, and go on behind it with another process."""
        block, at = process.block, process.at
        assert block is not None
        self._drop(process)
        self._add(process, Tally(1), [Failure(block.category, at, f"{what}: {process.end()}")])
        rest = block.first + block.count - at - 1
        if CATEGORIES[block.category].drawn:
            process.done.count = block.count
        elif rest > 0:
            self._blocks.appendleft(Block(block.category, at + 1, rest))
        self._done(process.done)
        self._start()


def run(
    settings: Settings,
    blocks: Sequence[Block],
    show: Callable[[Result], None] = lambda _result: None,
    done: Callable[[Piece], None] = lambda _piece: None,
) -> Result:
    """Run blocks of cases and return what came of them.

    `show` is called from time to time, `done` with each piece of a block that is done.
    """
    if settings.cache:
        return Run(settings, blocks, show, done).run()
    with tempfile.TemporaryDirectory(prefix="mandelcl-fuzz-cache-", ignore_cleanup_errors=True) as cache:
        os.chmod(cache, 0o700)  # noqa: PTH101
        return Run(replace(settings, cache=cache), blocks, show, done).run()
