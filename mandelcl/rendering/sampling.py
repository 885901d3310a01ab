"""Several samples per pixel: the lattice is shifted by fractions of a pixel, and the colours are averaged as light.

A band's samples are computed one after the other and summed at once, so none is kept in memory or in a store: the
bands there are finished pixels. A field has one sample per pixel, so another palette needs the samples to be computed
again.

With `--samples auto`, the first sample of each pixel is compared with those of its neighbours, and only the pixels that
need more samples get them.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.base.words import Words
from mandelcl.colour.averaging import Averages
from mandelcl.colour.colour import Colouring
from mandelcl.colour.deciding import FirstSamples
from mandelcl.colour.quantising import Pixels
from mandelcl.colour.samples import AUTO, LEVELS, bits_of, most_of, shifts
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.planes import CERTIFIED, CHUNK_PIXELS, values_of
from mandelcl.core.report import LateText, LaunchLog, Report, Stopwatch
from mandelcl.core.totals import Totals, totals_of
from mandelcl.engine.computing.settings import Progress, ShowProgress
from mandelcl.engine.computing.work import Finished, Place, Results, Room, Work, WorkStage, anywhere, boundless
from mandelcl.engine.loop.schedule import BlockQueue
from mandelcl.files import output
from mandelcl.rendering.session import Session

_BAND_PIXELS = 1 << 21


def require_sampled(paths: Sequence[str | Path], job: Job, colouring: Colouring, counts: bool) -> None:
    """Raise InvalidInputError for a render that needs counts while each pixel has several samples."""
    if colouring.samples == 1:
        return
    fields = [str(path) for path in paths if not output.format_of(path).is_picture]
    certified = "a proof of the counts" if CERTIFIED.name in job.planes else ""
    needs = f"{fields[0]}" if fields else certified or ("--confirm or a digest" if counts else "")
    if needs:
        raise InvalidInputError(f"a pixel with several samples has no single count; leave out {needs} or --samples")


def finest(job: Job, colouring: Colouring | None) -> Job:
    """Return the job whose pixels are as close together as the samples of a pixel."""
    bits = 0 if colouring is None else bits_of(most_of(colouring.samples))
    return replace(job, view=job.view.finer(1 << bits)) if bits else job


def resolved_samples(fine: Job, session: Session, self_test: bool) -> tuple[Job, tuple[str, ...]]:
    """Return the job of a pixel's samples resolved on a session's devices, and warnings. Its algorithm is `escape`."""
    return session.resolved(replace(fine, algorithm="escape"), self_test)


def like(job: Job, resolved: Job) -> Job:
    """Return a job in the method, the number and the rounding of another one."""
    return replace(job, method=resolved.method, number=resolved.number, rounding=resolved.rounding)


class _ExcludedError(Exception):
    """A worker returned wrong results. Sums cannot be corrected, so the bands with its samples are recomputed."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A yielded band: the digest of its pixels, its totals, its number of samples, and its revision."""

    digest: bytes
    totals: Totals
    samples: int
    revision: int


class SampledWork(WorkStage):
    """The pixels of a picture with several samples each (a `Work`). Another work computes the samples.

    `show` gets the progress within a band. The results are bands of finished pixels. If a worker of the other work is
    found to be wrong, all bands in which it may have had a part are recomputed, and yielded again if they changed.
    """

    def __init__(self, work: Work, colouring: Colouring, show: ShowProgress | None = None) -> None:
        self._colouring, self._show = colouring, show
        self._most = most_of(colouring.samples)
        super().__init__(work)

    def _begin(self) -> None:
        super()._begin()
        self._started = time.perf_counter()
        self.rate /= self._most
        self.band_rows = max(1, min(self.job.view.height, _BAND_PIXELS // self.job.view.width))
        self.log = LaunchLog()
        self.watch = Stopwatch()
        self._samples = self._pixels = 0
        self._made: dict[Block, _Made] = {}

    @property
    def seconds(self) -> float:
        """Seconds since the start or the last reset. The inner work is reset for each band."""
        return time.perf_counter() - self._started

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        """Yield bands with their pixels, as they finish."""
        del place  # the results are arrays of this stage
        self.log.begin()
        for band in BlockQueue(bands, lambda band: iter((band,)), room):
            yield from self._finished(band, cancel)
            while self.log.suspect:
                yield from self._finished(min(self.log.suspect, key=lambda block: block.y), cancel)

    def _finished(self, band: Block, cancel: Token) -> Iterator[Finished]:
        """Yield a band, unless its pixels have not changed."""
        before = self._made.pop(band, None)
        if before is not None:
            self._pixels -= band.pixels
            self._samples -= before.samples
            self.log.totals -= before.totals
        samples, totals = self._samples, self.log.totals
        while True:
            try:
                pixels = self._averaged(band, cancel)
                break
            except _ExcludedError:
                self._samples, self.log.totals = samples, totals
                self.log.suspect.update(self._made)
        self.log.suspect.discard(band)
        self._pixels += band.pixels
        digest = hashlib.sha256(np.ascontiguousarray(pixels).data).digest()
        changed = before is None or digest != before.digest
        revision = 0 if before is None else before.revision + changed
        self._made[band] = _Made(digest, self.log.totals - totals, self._samples - samples, revision)
        self.log.end()
        if changed:
            yield Finished(band, pixels, revision)

    def _averaged(self, band: Block, cancel: Token) -> Pixels:
        """Return the pixels of a band. Raises _ExcludedError if a worker was found to be wrong."""
        if self._colouring.samples == AUTO:
            return self._decided(band, cancel)
        averages = Averages(self.job, self._colouring, band)
        for shift in shifts(self._most):
            self._add(averages, shift, cancel)
            self._show_progress(0)
        with self.watch.of("colour"):
            return averages.pixels()

    def _add(self, averages: Averages, shift: tuple[Any, Any], cancel: Token) -> None:
        """Compute a sample of each pixel of a band."""
        band, job = averages.band, self.job.at(self.job.view.shifted(*shift))
        for block, results, _ in self._results(job, band, cancel):
            rows = max(1, CHUNK_PIXELS // block.width)
            for top in range(0, block.height, rows):
                with self.watch.of("colour"):
                    part = values_of(job.planes, results[:, top : top + rows], job.facts)
                    averages.add(job, part, block.x, block.y + top)
        self._note(band.pixels)

    def _decided(self, band: Block, cancel: Token) -> Pixels:
        """Return the pixels of a band, after computing as many samples as each pixel needs."""
        first = self._first(band, cancel)
        with self.watch.of("colour"):
            undecided = first.undecided()
        taken, places = 1, shifts(self._most)
        for level in LEVELS:
            jobs = [self.job.at(self.job.view.shifted(*shift)) for shift in places[taken:level]]
            pixels = PixelList(band, undecided.indices)
            for job, results in self._listed(jobs, pixels, cancel) if pixels.indices.size else ():
                with self.watch.of("colour"):
                    undecided.add(job, values_of(job.planes, results, job.facts))
                self._note(undecided.indices.size)
                self._show_progress(band.pixels)
            taken = level
            with self.watch.of("colour"):
                undecided.refine()
        with self.watch.of("colour"):
            return first.pixels(self.job, undecided)

    def _first(self, band: Block, cancel: Token) -> FirstSamples:
        """Compute the first sample of a band's pixels and of their neighbours."""
        view, first = self.job.view, FirstSamples(self._colouring, band)
        job = self.job.at(view.part(-1, -1, view.width + 2, view.height + 2))
        wider = Block(0, band.y, band.width + 2, band.height + 2)
        neighbours = Totals()  # they are no samples of this band's
        for block, results, _ in self._results(job, wider, cancel):
            top, bottom = max(0, band.y + 1 - block.y), max(0, band.y + 1 + band.height - block.y)
            left, right = max(0, 1 - block.x), max(0, band.width + 1 - block.x)
            beside = (
                results[:, :top],
                results[:, bottom:],
                results[:, top:bottom, :left],
                results[:, top:bottom, right:],
            )
            for part in beside:
                neighbours += totals_of(job.planes, job.iterations, part)
            with self.watch.of("colour"):
                first.put(self.job, values_of(job.planes, results, job.facts), block.x - wider.x, block.y - wider.y)
        self._note(band.pixels)
        self.log.totals -= neighbours
        self._show_progress(0)
        return first

    def _listed(self, jobs: Sequence[Job], pixels: PixelList, cancel: Token) -> Iterator[tuple[Job, Words]]:
        """Yield each of some jobs with the results of some pixels, words × 1 × pixels."""
        for job, parts in zip(jobs, self._work.run_lists(jobs, pixels, cancel), strict=True):
            found = np.empty((job.words, 1, pixels.indices.size), np.uint32)
            for part, results, _ in self._once(parts):
                found[:, :, part.x : part.x + part.width] = results
            yield job, found

    def _results(self, job: Job, band: Block, cancel: Token) -> Results:
        """Yield the blocks of a band of a job."""
        self._work.reset(job)
        return self._once(self._work.run([band], cancel=cancel))

    def _once(self, results: Results) -> Results:
        """Yield each block once. Raises _ExcludedError if a worker was found to be wrong."""
        for finished in results:
            if finished.revision:
                raise _ExcludedError
            yield finished
        # That worker may have computed blocks of earlier runs, even if none of this one.
        if self._work.log.workers_excluded:
            raise _ExcludedError

    def _note(self, samples: int) -> None:
        """Add the inner work's log of some samples to this one's."""
        self.log.add_all(self._work.log)
        self._samples += samples

    def _show_progress(self, more: int) -> None:
        """Report the number of finished pixels plus `more`."""
        if self._show is not None:
            auto = self._colouring.samples == AUTO
            done = self._pixels + more // 2 if auto else self._samples // self._most
            iterations = self.log.totals.iterations
            self._show(Progress(done, self.job.view.pixels, iterations, self.seconds, self.name))

    def report(self, counts_sha256: LateText | None, stages: dict[str, float]) -> Report:
        """Return the report on the work so far. Its totals include the counts of all samples."""
        self._work.log = self.log
        report = self._work.report(counts_sha256, stages | self.watch.seconds)
        mean = self._samples / self._pixels if self._pixels else 0.0
        computed = self._samples - self.log.pixels_filled
        view = self.job.view  # the inner work's last job has other samples, or neighbours as well
        report = replace(report, width=view.width, height=view.height)
        return replace(report, wall_s=self.seconds, samples=mean, pixels_computed=computed)
