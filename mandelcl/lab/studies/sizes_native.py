"""The coursework's sequential program in C, function by function."""

import ctypes
import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.lab.studies import native
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.row import Row, Times, Value
from mandelcl.lab.studies.timing import TimingSample

_SAMPLE_ROWS = 16  # from which the time of a picture is estimated
_SAMPLES = 5  # the best counts: so few rows take a moment, in which the machine may be busy


def row(bench: Bench, job: Job, case: str, extra: dict[str, Value], folder: Path) -> Row:
    """Return the row of the coursework's job in C on one thread; it writes its picture to the folder.

    Kernel time is that of the iteration, wall time that of all three functions.
    """

    def measure(row: Row) -> Row:
        library = native.library("coursework")
        row = replace(row, driver=library.compiler, runtime=library.options)
        program = _Program(bench, job, library.functions, folder / "picture.ppm")
        row = bench.timed_row(row, job, program.run, program.counts, program.rate(), 0.0)
        seconds = {name: Times.of(every).median for name, every in program.seconds.items()}
        return with_extra(row, output_sha256=program.output_sha256(), **seconds)

    return bench.attempted(native.row_of(case, {"threads": 1, **extra}), measure)


class _Program:
    """The program's picture in memory, and the seconds of its functions, run by run, the first one left out."""

    def __init__(self, bench: Bench, job: Job, functions: ctypes.CDLL, path: Path) -> None:
        view = job.view
        self._bench, self._functions, self._path = bench, functions, path
        self._width, self._height, self._limit = view.width, view.height, job.iterations
        self._pixels = np.zeros((view.height, view.width, 3), np.uint8)
        self._counters = np.zeros((view.height, view.width), np.uint8)
        self.seconds: dict[str, list[float]] = {}
        self._warm = False

    def rate(self) -> float:
        """Return iterations a second, of rows all over the picture: inside the set most are left out."""
        rows = range(0, self._height, -(-self._height // _SAMPLE_ROWS))

        def sample(stop: native.Stop) -> None:
            for row in rows:
                self._iterate(row, 1, stop)

        seconds = min(native.timed_call(self._bench, sample) for _ in range(_SAMPLES))
        counts = self._pixels[rows.start : rows.stop : rows.step, :, 0].astype(np.uint64)
        return float(max(1, np.where(counts, counts, self._limit).sum())) / seconds

    def run(self) -> TimingSample:
        """Compute, colour and write the picture once."""
        iterated = native.timed_call(self._bench, lambda stop: self._iterate(0, self._height, stop))
        self._counters[:] = self._pixels[:, :, 0]  # which colours are to replace
        started = time.perf_counter()
        self._functions.colour(*self._picture())
        coloured = time.perf_counter()
        if self._functions.write_picture(os.fsencode(self._path), *self._picture()):
            raise DeviceError(f"the program in C cannot write its picture to {self._path.parent}")
        written = time.perf_counter()
        if self._warm:
            parts = {"compute_s": iterated, "colour_s": coloured - started, "write_s": written - coloured}
            for name, seconds in parts.items():
                self.seconds.setdefault(name, []).append(seconds)
        self._warm = True
        return TimingSample(iterated, 0.0, iterated + written - started, 1, iterated)

    def counts(self) -> Words:
        """Return the counts of the last run: the counter has wrapped to 0 where no orbit has left."""
        counts = self._counters[::-1].astype(np.uint32)
        counts[counts == 0] = self._limit
        return counts

    def output_sha256(self) -> str:
        """Return the SHA-256 of the file."""
        with self._path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _iterate(self, first: int, rows: int, stop: native.Stop) -> None:
        place = ctypes.c_void_p(self._pixels.ctypes.data)
        self._functions.iterate(self._width, self._height, first, rows, place, ctypes.byref(stop))

    def _picture(self) -> tuple[int, int, ctypes.c_void_p]:
        return self._width, self._height, ctypes.c_void_p(self._pixels.ctypes.data)
