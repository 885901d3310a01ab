"""The multiprecision article's first version of fp128 in C and in OpenCL, and the gain of rewriting it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mandelcl.base.machine import cores
from mandelcl.base.words import Words, sha256
from mandelcl.engine.computing.settings import Settings
from mandelcl.lab.studies import first_version, jobs, native, plots
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.sign_magnitude import ORDER
from mandelcl.lab.studies.study import Column, Study
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl.device import Device

SIZE = 2048
CUTS = {"1x1": (1, 1), "16x16": (16, 16)}
# The article's times of its first version: on n threads in C, and in OpenCL by type of device, in 16 × 16 blocks.
PUBLISHED = {
    "Mini Set 1": {
        "C": "Q9550 ×8 4.53 / 3.76 s; i7 ×8 3.50 / 3.00 s",
        "cpu": "i7 4.65 / 6.80 s",
        "gpu": "GTX285 48.6 / 48.7 s; HD5870 DNF / DNF",
    },
    "Julia Island": {
        "C": "Q9550 ×8 372 / 366 s; i7 ×8 302 / 258 s",
        "cpu": "i7 351 / 469 s",
        "gpu": "GTX285 DNF / DNF; HD5870 not run",
    },
}


def run(bench: Bench) -> Iterator[Row]:
    """Yield the rows of each place: the first version in C, and on each device in both cuts; then fp128, the same."""
    for place in jobs.ARTICLE_PLACES:
        yield from _Place(bench, place).rows()


class _Place:
    """The rows of a place, and of earlier ones what later ones are compared with: counts, and times in seconds."""

    def __init__(self, bench: Bench, place: str) -> None:
        self._bench, self._place = bench, place
        self._size = bench.side(SIZE)
        self._job = jobs.article_job(place, self._size, "fp128", bench.max_iterations)
        self._counts_in_c: Words | None = None
        self._seconds_in_c: float | None = None
        self._first_counts: Words | None = None
        self._first_seconds: dict[tuple[str, str], float] = {}

    def rows(self) -> Iterator[Row]:
        """Yield the rows, all of the first version before those of fp128."""
        for threads in dict.fromkeys((1, cores())):
            yield self._row_in_c(threads)
        for cut in CUTS:
            for device in self._bench.devices:
                yield self._first_row(device, cut)
        for cut in CUTS:
            for device in self._bench.devices:
                yield self._fp128_row(device, cut)

    def _row_in_c(self, threads: int) -> Row:
        case = f"{self._place}, first version in C, {threads} thread{'s' if threads > 1 else ''}"
        extra = self._extra("C" if threads > 1 else "")
        load = partial(self._load_c, threads)
        row = native.native_row(self._bench, case, self._job, load, threads, extra, ORDER)
        self._seconds_in_c = _seconds(row)
        if row.error or self._counts_in_c is None:
            return row
        return with_extra(row, counts_sha256=sha256(self._counts_in_c))

    def _load_c(self, threads: int) -> tuple[native.Library, native.Compute]:
        """Return the first version in C, which keeps the counts of a whole picture."""
        built, compute = first_version.in_c(self._job, threads)

        def keeping(first: int, rows: int, counts: Words, stop: native.Stop) -> None:
            compute(first, rows, counts, stop)
            if rows == self._size:
                self._counts_in_c = counts

        return built, keeping

    def _first_row(self, device: Device, cut: str) -> Row:
        def measure(row: Row) -> Row:
            first = first_version.on_device(self._job, device, self._blocks(cut), self._bench.cancel)
            row = self._bench.timed_row(
                row, first.job, first.run, lambda: first.counts, first.rate, first.build_s, ORDER
            )
            row = with_extra(row, counts_sha256=sha256(first.counts))
            if self._counts_in_c is not None:
                row = with_extra(row, same_as_c=bool(np.array_equal(first.counts, self._counts_in_c)))
            if row.validation == "ok":
                self._first_counts = first.counts
            return row

        extra = self._extra(device.type if cut == "16x16" else "")
        row = self._bench.attempt(device, f"{self._place}, first version, {cut}", measure, extra)
        seconds = _seconds(row)
        if seconds is not None:
            self._first_seconds[cut, device.spec] = seconds
        return self._beside_c(row)

    def _fp128_row(self, device: Device, cut: str) -> Row:
        def measure(row: Row) -> Row:
            timed = Timed(self._job, device, Settings(blocks=self._blocks(cut)), self._bench.cancel)
            row = self._bench.timed_row(row, timed.job, timed.run, lambda: timed.counts, timed.rate, timed.build_s)
            if self._first_counts is not None:
                row = with_extra(row, differs=int(np.count_nonzero(timed.counts != self._first_counts)))
            return row

        row = self._bench.attempt(device, f"{self._place}, fp128, {cut}", measure, self._extra(""))
        seconds, first = _seconds(row), self._first_seconds.get((cut, device.spec))
        if seconds is not None and first is not None:
            row = with_extra(row, over_first=first / seconds)
        return self._beside_c(row)

    def _blocks(self, cut: str) -> tuple[int, int]:
        columns, rows = CUTS[cut]
        return min(columns, self._size), min(rows, self._size)

    def _extra(self, published: str) -> dict[str, Value]:
        return {"place": self._place, "published": PUBLISHED[self._place].get(published)}

    def _beside_c(self, row: Row) -> Row:
        seconds, c_seconds = _seconds(row), self._seconds_in_c
        return row if seconds is None or c_seconds is None else with_extra(row, over_c=c_seconds / seconds)


def _seconds(row: Row) -> float | None:
    """Return a row's kernel time, if it has right counts."""
    return row.kernel_s.median if row.kernel_s is not None and row.validation == "ok" else None


def draw(figure: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw seconds by place, version and cut."""
    figure.set_size_inches(11, 7)
    plots.panels(figure, rows, tuple(jobs.ARTICLE_PLACES), "s", 1)


STUDY = Study(
    name="rewriting",
    title="Multiprecision article: the first version of fp128, and what rewriting it brings",
    run=run,
    draw=draw,
    columns=(
        Column("published", "Published (Linux / Windows)"),
        Column("same_as_c", "Same counts as C"),
        Column("over_c", "Speed over C, all threads", ".3g"),
        Column("over_first", "Speed over first version", ".3g"),
        Column("differs", "Pixels ≠ first version", "d"),
    ),
    published=(
        "First version, Mini Set 1 (Linux / Windows): Q9550 C×8 4.53 / 3.76 s; i7 C×8 3.50 / 3.00 s; i7 OpenCL 4.65 / "
        "6.80 s; GTX285 OpenCL 48.6 / 48.7 s; HD5870 OpenCL DNF / DNF",
        "First version, Julia Island: Q9550 C×8 372 / 366 s; i7 C×8 302 / 258 s; i7 OpenCL 351 / 469 s; GTX285 OpenCL "
        "DNF / DNF; HD5870 not run",
        "DNF is a run that did not finish. All are of 16 × 16 blocks in OpenCL. The rewritten version is on the "
        "article's next page, whose times are not among these.",
    ),
    notes=(
        "2048². The first version is sign and magnitude in four words of 32 bits, a pixel a work-item, its loops over "
        "words left to the compiler (`cl/study_sign_magnitude.cl`). In C it is the same, on one thread and on all "
        "cores.",
        "A step of it is three products and five sums, one of which is |z|² for the test. The article does not say how "
        "many its own has. Products are cut off as in the article, but the carry starts at the last word, not one "
        "beyond it as in the published listing.",
        "1x1 is one block, the whole picture; 16x16 is 256 blocks, as in the article. In fp128 a block is one launch "
        "where the driver lets it, however long that takes. In the first version a launch ends after about 100 ms (20 "
        "ms where the driver stops long ones), and the orbits that are left go on in the next: so every device gets to "
        "the end.",
        "Speed over C: beside the first version in C on all threads. Speed over first version: fp128 beside the first "
        "version on the same device in the same blocks, which is what the rewriting brings.",
        "fp128 rounds, the first version cuts off, so some counts at the edge of the set differ.",
    ),
)
