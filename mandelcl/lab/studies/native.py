"""Programs in C to compare devices with, compiled if there is a compiler.

The sources are in `c/`. A function there computes the counts of some rows with several threads. It ends early, after
the current row, if `*stop` is no longer 0.
"""

import ctypes
import os
import platform
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from mandelcl.base.errors import CancelledError, DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.files.leftovers import in_temporary_folder
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.timing import TimingSample

SPEC = "native"
_SOURCES = Path(__file__).with_name("c")
_COMPILERS = ("cc", "gcc", "clang")
# No option here lets the compiler change a result; the second set is for compilers that know no -march=native.
_OPTIONS = (("-O3", "-march=native"), ("-O2",))
_STRICT = ("-std=c11", "-ffp-contract=off", "-fno-fast-math", "-fopenmp", "-fPIC", "-shared")
_COMPILE_S = 120.0
_RATE_S = 0.05  # the least time of a part from which the whole is estimated: threads are slow to start
_LOOK_S = 0.1  # how often a running call looks whether it is to stop

Stop = ctypes.c_int
# Called with the first row, the number of rows, their counts (rows × width) and the stop flag.
Compute = Callable[[int, int, Words, Stop], None]
Load = Callable[[], tuple["Library", Compute]]


@dataclass(frozen=True, slots=True)
class Library:
    """A compiled source, with the compiler's name and version, and the options for speed."""

    functions: ctypes.CDLL
    compiler: str
    options: str


@cache
def library(name: str) -> Library:
    """Return `c/NAME.c`, compiled with OpenMP; raises DeviceError if there is no compiler that can do it."""
    command = _compiler()
    complaint = ""
    with in_temporary_folder("mandelcl-c-") as folder:
        target = folder / f"{name}.so"
        for options in _OPTIONS:
            arguments = [*command, *options, *_STRICT, "-o", str(target), str(_SOURCES / f"{name}.c"), "-lm"]
            complaint = _complaint(arguments)
            if not complaint:
                functions = ctypes.CDLL(str(target))  # which stays loaded when its file is deleted
                return Library(functions, _version(command), " ".join(options))
    raise DeviceError(f"the C compiler {command[0]!r} cannot build this program: {complaint}")


def _compiler() -> list[str]:
    """Return the command of the C compiler: what `CC` says, or the first that is installed."""
    if os.name == "nt":
        raise DeviceError("programs in C are compiled on Linux and macOS only")
    chosen = shlex.split(os.environ.get("CC", ""))
    for command in [chosen] if chosen else [[name] for name in _COMPILERS]:
        if shutil.which(command[0]) is not None:
            return command
    missing = f"CC names {chosen[0]!r}, which is not installed" if chosen else "there is no C compiler"
    raise DeviceError(f"{missing}; install gcc or clang, or set CC")


def _complaint(command: list[str]) -> str:
    """Run a compiler. Return the line with its error, or an empty text."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_COMPILE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if not done.returncode:
        return ""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else "it gives no reason")[:200]


def _version(command: list[str]) -> str:
    """Return the compiler's name and version."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, errors="replace", check=False)
    return (done.stdout.splitlines() or [command[0]])[0].strip()


@cache
def processor() -> str:
    """Return the processor's name, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "processor"


def upright(name: str, function: str, job: Job, how: Sequence[int]) -> Load:
    """Return how to load a function of `c/NAME.c` that computes rows of a resolved job.

    The job's lattice must be upright, with its anchor in column 0. The function takes an array of double: the anchor's
    real and imaginary part and the distance between pixels, as the job's number has them. Then the width, the anchor's
    row, the iteration limit, the values `how`; the first row, the number of rows, their counts and the stop flag.
    """
    view = job.view
    encode = by_name(job.number).arithmetic("separate").encode
    corner = [float(encode(value)) for value in (view.lattice.re, view.lattice.im, view.pitch)]

    def load() -> tuple[Library, Compute]:
        built = library(name)
        reals = (ctypes.c_double * len(corner))(*corner)

        def compute(first: int, rows: int, counts: Words, stop: Stop) -> None:
            place = ctypes.c_void_p(counts.ctypes.data)
            values = (view.width, view.lattice.row, job.iterations, *how, first, rows, place, ctypes.byref(stop))
            built.functions[function](reals, *values)

        return built, compute

    return load


def native_row(
    bench: Bench,
    case: str,
    job: Job,
    load: Load,
    threads: int,
    extra: Mapping[str, Value] | None = None,
    order: str = "",
) -> Row:
    """Return the row of a program in C, validated, then timed; where it cannot be compiled, the row says why.

    `load` returns the library and the function that computes rows of the job, a resolved one, with so many threads.
    Kernel and wall time are both that of the call. `order` is as in `validation.Validator`.
    """

    def measure(row: Row) -> Row:
        built, compute = load()
        row = replace(row, driver=built.compiler, runtime=built.options)
        timed = _Native(bench, job, compute, threads)
        return bench.timed_row(row, job, timed.run, lambda: timed.counts, timed.rate(), 0.0, order)

    return bench.attempted(row_of(case, {"threads": threads, **(extra or {})}), measure)


def row_of(case: str, extra: Mapping[str, Value]) -> Row:
    """Return the row of a program in C before anything is measured."""
    return Row(case, SPEC, processor(), "C", "", "", "cpu", extra=dict(extra))


def timed_call(bench: Bench, call: Callable[[Stop], None]) -> float:
    """Call into a program with its stop flag; return the seconds. Raises CancelledError if the study is to stop."""
    stop = Stop(0)
    seconds: list[float] = []

    def run() -> None:
        started = time.perf_counter()
        call(stop)
        seconds.append(time.perf_counter() - started)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_LOOK_S)
            bench.check()
    except CancelledError:
        stop.value = 1
        thread.join()
        raise
    return max(seconds[0], 1e-9)


class _Native:
    """A job and the function that computes it; `counts` holds the last run's."""

    def __init__(self, bench: Bench, job: Job, compute: Compute, threads: int) -> None:
        self._bench, self._job, self._compute, self._threads = bench, job, compute, threads
        self.counts: Words = np.zeros((job.view.height, job.view.width), np.uint32)

    def rate(self) -> float:
        """Return iterations a second, roughly and not too high: of the middle rows, which the set often fills most."""
        height, rows = self._job.view.height, self._threads
        while True:
            rows = min(height, rows)
            first = (height - rows) // 2
            seconds = self._timed(first, rows)
            if rows == height or seconds > _RATE_S:
                return float(max(1, self.counts[first : first + rows].sum(dtype=np.uint64))) / seconds
            rows *= 4

    def run(self) -> TimingSample:
        """Compute all counts once."""
        seconds = self._timed(0, self._job.view.height)
        return TimingSample(seconds, 0.0, seconds, 1, seconds)

    def _timed(self, first: int, rows: int) -> float:
        counts = self.counts[first : first + rows]
        return timed_call(self._bench, lambda stop: self._compute(first, rows, counts, stop))
