"""A process that runs blocks of cases: orders come in by standard input, a line of JSON each, and reports go out.

A report says which case begins, and how it ended. The process that gives the orders watches the time between them.
"""

import json
import os
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.categories import CATEGORIES, Category, random_of
from tests.fuzz.ground import Console, Ground
from tests.fuzz.oracle import MOST_BYTES, Fault
from tests.fuzz.started import of_living
from tests.posix import resource


class Worker:
    """Runs cases on a ground of its own, and reports them."""

    def __init__(self, root: Path, reports: TextIO, orders: dict[str, Any]) -> None:
        self.ground = Ground(root, Console())
        self._reports = reports
        self._seed: int = orders["seed"]
        self._keep = Path(orders["keep"])

    def run(self, name: str, first: int, count: int) -> None:
        """Run cases of a category, one after the other."""
        category, before = CATEGORIES[name], of_living(os.getpid())
        (self._draw if category.drawn else self._take)(category, first, count)
        self._send_report(done=True, seconds=of_living(os.getpid()) - before)

    def _take(self, category: Category, first: int, count: int) -> None:
        case = category.case()
        for number in range(first, first + count):
            self._send_report(begun=number)
            own, block = (
                random_of(self._seed, category.name, at) for at in (number, f"block {number // category.block}")
            )
            self.ground.begin(own, block)
            fault, started = "", time.process_time() + _of_children()
            try:
                case(self.ground)
            except Fault as error:
                fault = str(error)
            except Exception:
                fault = f"a traceback\n{traceback.format_exc()}"
            self._report(category, number, fault, time.process_time() + _of_children() - started)

    def _draw(self, category: Category, first: int, count: int) -> None:
        """Run a block of drawn examples; after one that is at fault hypothesis looks for the simplest such."""
        case, number, started = category.case(), first - 1, time.process_time()
        found = False
        self._send_report(begun=first)

        @seed(random_of(self._seed, category.name, first).getrandbits(64))
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(category.strategy())
        def examples(text: str) -> None:
            nonlocal number, started, found
            random = random_of(self._seed, category.name, first)
            self.ground.begin(random, random)
            (self.ground.here / "input.txt").write_text(text, "utf-8", "surrogatepass")
            try:
                case(self.ground, text)
            except BaseException:
                found = True
                raise
            if not found and number + 1 < first + count:
                number += 1
                self._report(category, number, "", time.process_time() - started)
                started = time.process_time()

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of hypothesis: an example beyond its limits is no fault
                examples()
        except Fault as error:
            self._report(category, first if number < first else number + 1, str(error), 0.0)
        except BaseException:
            self._report(category, number + 1, f"a traceback\n{traceback.format_exc()}", 0.0)

    def _report(self, category: Category, number: int, fault: str, seconds: float) -> None:
        ground = self.ground
        if not fault and ground.taken > MOST_BYTES:
            fault = f"it took {ground.taken >> 20} MiB"
        left = [path for path in ground.temporary.iterdir() if not path.name.startswith("mandelcl-oracle-")]
        if not fault and left:
            fault = f"left among temporary files: {', '.join(path.name for path in left)}"
            for path in left:
                with suppress(OSError):
                    path.unlink()
        kept = self._keep_input(category, number, fault) if fault else ""
        self._send_report(number=number, fault=fault, accepted=ground.accepted, seconds=seconds, kept=kept)

    def _keep_input(self, category: Category, number: int, fault: str) -> str:
        """Keep what the case was, with its fault, and return where."""
        import shutil

        folder = self._keep / f"{category.name}-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError, shutil.Error):  # a pipe among its files cannot be copied
            shutil.copytree(self.ground.here, folder, symlinks=True, ignore=_special)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "FAULT").write_text(fault, "utf-8", "backslashreplace")
        return str(folder)

    def _send_report(self, **report: Any) -> None:
        self._reports.write(json.dumps(report) + "\n")
        self._reports.flush()


def _special(folder: str, names: list[str]) -> list[str]:
    """Return what of a folder cannot be copied: pipes and devices."""
    paths = [Path(folder, name) for name in names]
    return [path.name for path in paths if not (path.is_symlink() or path.is_file() or path.is_dir())]


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Take the settings of the run, then blocks until there are no more."""
    orders = os.fdopen(os.dup(0), encoding="utf-8")
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    start = json.loads(orders.readline())
    # Not the user's: others may clear those.
    for name, folder in (("MANDELCL_CACHE", "mandelcl"), ("POCL_CACHE_DIR", "pocl")):
        os.environ[name] = str(Path(start["cache"], folder))
        Path(os.environ[name]).mkdir(mode=0o700, parents=True, exist_ok=True)
    if start["plant"]:
        from tests.fuzz import planted

        planted.plant(start["plant"])
        os.environ[planted.VARIABLE] = start["plant"]
    with tempfile.TemporaryDirectory(prefix="mandelcl-fuzz-", ignore_cleanup_errors=True) as root:
        place = Path(root).resolve()
        (place / "ground").mkdir()
        worker = Worker(place / "ground", reports, start)
        for line in orders:
            order = json.loads(line)
            worker.run(order["category"], order["first"], order["count"])
        os.chdir("/")


if __name__ == "__main__":
    main()
