"""A render in progress: separate threads compute, store and write the bands; at the end the outputs are renamed."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from mandelcl.base.errors import (
    CancelledError,
    DeviceError,
    FileError,
    MandelclError,
    Token,
    remark,
    stop_if,
)
from mandelcl.base.words import Words, little_endian
from mandelcl.colour.colour import Colouring
from mandelcl.core import timeline
from mandelcl.core.report import Report, Stopwatch
from mandelcl.core.totals import Totals, totals_of
from mandelcl.engine.computing.settings import Progress, ShowProgress
from mandelcl.engine.computing.work import Work
from mandelcl.files import output
from mandelcl.files.leftovers import before_removal
from mandelcl.files.paths import one_line
from mandelcl.files.strips import Picture, strip_rows
from mandelcl.rendering.band_layout import PIXELS, Values
from mandelcl.rendering.bands import BandReader, Bands
from mandelcl.rendering.manifest import Manifest
from mandelcl.rendering.pixels import Convert, converter, picture_of
from mandelcl.rendering.store import TEMPFILE, Band, BandStore

_WAIT_S = 0.1
_STORE_THREADS = 2
_FAREWELL_S = 0.4  # after an interrupt, for finished bands to reach the store; the process should end within a second


def _totals_of_pixels(band: Band) -> Totals:
    """Return the totals stored with a band of pixels. Raises ValueError if they are invalid."""
    return Totals.parse(band.facts)


class _Stop:
    """The cancel token of a render: set when the caller cancels it, or when one of its threads has failed."""

    def __init__(self, bands: Bands, cancel: Token) -> None:
        self._bands, self._cancel = bands, cancel

    def is_set(self) -> bool:
        """Return whether to stop."""
        return self._bands.failure is not None or self._cancel.is_set()


class Streamed:
    """One render in progress: the bands, the store, and the threads that read."""

    def __init__(
        self,
        work: Work,
        manifest: Manifest,
        stores: list[BandStore],
        paths: Sequence[str | Path],
        colouring: Colouring | None,
        memory: int,
        compress: str,
        digest: bool,
        on_counts: Callable[[int, Words], None] | None,
    ) -> None:
        self.work = work
        self.manifest = manifest
        self.stores = stores
        self.paths = paths
        self._compress = compress
        self.watch = Stopwatch()
        self.bands = Bands(work.job, manifest.band_rows, memory, self._load, manifest.form)
        self._pixels = manifest.form.kind == PIXELS
        self._colouring = colouring
        self._convert: Convert | None = None  # None: the work yields the bands' layout
        self._totals: dict[int, Totals] = {}  # totals of bands that are not stored yet
        self._stale: set[int] = set()  # bands with a block that was corrected after a reader had read it
        self._loaded = Totals()  # totals of bands that an earlier process computed
        self._loading = threading.Lock()
        self._on_counts = on_counts
        self._digest = hashlib.sha256() if digest else None
        self._keeper = ThreadPoolExecutor(_STORE_THREADS, "mandelcl store")
        self._keeping: list[Future[None]] = []
        self._sources = [self.bands.reader() for _ in paths]
        self._pictures = [picture_of(source, colouring) if colouring else None for source in self._sources]
        self._counting = self.bands.reader() if digest or on_counts else None

    @property
    def indexed(self) -> bool:
        """Whether the pictures have a colour table."""
        return any(picture is not None and picture.table is not None for picture in self._pictures)

    def resume(self, on_message: Callable[[str], None]) -> None:
        """Take over the store's bands, after verifying every byte of them."""
        store = self.stores[0]
        self._convert = converter(self.work, self.manifest.form, self._colouring, self.watch)
        with one_line("cannot continue", store.folder):
            store.begin(self.manifest)
            bands = list(store.verified(_totals_of_pixels if self._pixels else None))
        self.bands.stored.update(band for band, whole in bands if whole)
        self.bands.keep = self._keep
        damaged = sum(not whole for _, whole in bands)
        again = f"; {damaged} damaged bands are computed again" if damaged else ""
        on_message(f"resuming with {len(self.bands.stored)} of {self.manifest.bands} bands from {store.folder}{again}")

    def run(self, progress: ShowProgress, cancel: Token, store_after: float) -> Report:
        """Compute the missing bands, write the outputs, and rename them to their final names."""
        stop = _Stop(self.bands, cancel)
        self.bands.check = lambda: stop_if(stop)
        outputs = zip(self.paths, self.stores, self._sources, self._pictures, strict=True)
        # Windows removes no file that is open: the threads that write close theirs when they hear of a failure.
        leave = partial(self.bands.fail, CancelledError("stopped"))
        with ThreadPoolExecutor(len(self.paths) + 1, "mandelcl output") as pool, before_removal(leave):
            readers = [pool.submit(self._write, *output_of) for output_of in outputs]
            if self._counting is not None:
                readers.append(pool.submit(self._count, self._counting))
            try:
                with timeline.span("compute"):
                    self._compute(progress, stop, store_after)
                with timeline.span("wait for the files", "wait"):
                    while wait(readers, _WAIT_S).not_done:
                        stop_if(stop)
            except BaseException as error:
                self.bands.fail(error)
            if self.bands.failure is not None:
                wait(self._keeping, _FAREWELL_S)
            self._keeper.shutdown(cancel_futures=True)
        if self.bands.failure is not None:
            self._drop_suspects()
            self._explain(self.bands.failure)
            raise self.bands.failure
        report = self._report()
        with timeline.span("put in place"):
            self._note_certified(report)
            self._put_in_place()
        for store in self.stores:
            store.remove()
        return report

    def _suspects(self) -> list[int]:
        """Return the bands whose results are wrong or suspect."""
        rows = self.bands.band_rows
        touched = (range(block.y // rows, -(-(block.y + block.height) // rows)) for block in self.work.log.suspect)
        return sorted(self._stale.union(*touched))

    def _drop_suspects(self) -> None:
        """Remove suspect bands from the store."""
        store = self.stores[0]
        if store.manifest is not None:
            with one_line("cannot write to", store.folder):
                for band in self._suspects():
                    store.drop(band)

    def _note_certified(self, report: Report) -> None:
        """Write the share of certified counts into each output whose format has a field for it."""
        if report.certified is not None:
            for path, store in zip(self.paths, self.stores, strict=True):
                output.note(path, store.folder / TEMPFILE, {output.CERTIFIED_KEY: f"{report.certified.share:.6f}"})

    def _put_in_place(self) -> None:
        """Rename the tempfiles to the outputs, after checking that all outputs can be replaced.

        Raises FileError if one cannot, or if renaming fails. The tempfiles of outputs that were not replaced are kept.
        """
        waiting = list(zip(self.paths, self.stores, strict=True))
        try:
            for path, _ in waiting:
                output.check_replaceable(path)
            while waiting:
                path, store = waiting[0]
                output.put_in_place(path, store.folder / TEMPFILE)
                del waiting[0]
        except FileError as error:
            for _, store in waiting:
                store.keeps_tempfile = True
            tempfiles = ", ".join(str(store.folder / TEMPFILE) for _, store in waiting)
            remark(error, f"finished, but kept under temporary names until the next render: {tempfiles}")
            raise

    def _explain(self, failure: BaseException) -> None:
        """Add to a failure's message how many bands are kept."""
        store = self.stores[0]
        if store.manifest is None or not isinstance(failure, MandelclError | CancelledError):
            return
        if kept := store.band_count():
            bands = f"{kept} of {self.manifest.bands} bands"
            remark(failure, f"{bands} are kept in {store.folder}; to continue, add --resume")

    def _compute(self, progress: ShowProgress, stop: Token, store_after: float) -> None:
        work, bands = self.work, self.bands
        view = work.job.view
        done = sum(bands.block(band).pixels for band in bands.stored)
        totals = work.log.totals
        for block, results, revision in work.run(bands.missing(), bands.room, cancel=stop):
            band = block.y // bands.band_rows
            self._totals[band] = self._totals.get(band, Totals()) + (work.log.totals - totals)
            totals = work.log.totals
            if self._convert is not None:
                results = self._convert(results)
            if not revision:
                bands.put(block, results)
                done += block.pixels
            elif not bands.replace(block, results):
                self._stale.add(band)
            progress(Progress(done, view.pixels, work.log.totals.iterations, work.seconds, work.name))
            if bands.keep is None and work.log.kernel_seconds >= store_after:
                with one_line("cannot write to", self.stores[0].folder):
                    self.stores[0].begin(self.manifest)
                bands.keep_from_now(self._keep)
        if wrong := len(self._suspects()):
            raise DeviceError(
                f"a worker returned wrong results for {wrong} of {self.manifest.bands} bands and is now excluded"
            )

    def _write(self, path: str | Path, store: BandStore, source: BandReader, picture: Picture | None) -> None:
        with self.bands.failing():
            output.write_tempfile(path, store.folder / TEMPFILE, source, picture, self._compress)

    def _count(self, reader: BandReader) -> None:
        """Hash the counts as little-endian integers, row by row, and pass them to the caller's callback."""
        view = self.work.job.view
        rows = strip_rows(view.width)
        with self.bands.failing():
            for top in range(0, view.height, rows):
                counts = self.work.job.counts.of(reader.results(top, min(top + rows, view.height)))
                if self._digest is not None:
                    with self.watch.of("hash"):
                        self._digest.update(little_endian(counts, self.work.job.counts.dtype))
                if self._on_counts is not None:
                    self._on_counts(top, counts.astype(self.work.job.counts.dtype, copy=False))

    def _keep(self, band: int, results: Values) -> None:
        facts = asdict(self._totals[band]) if self._pixels else {}

        def keep() -> None:
            store = self.stores[0]
            with self.bands.failing(), one_line("cannot write to", store.folder), self.watch.of("store"):
                store.write(band, results, facts)
            self.bands.kept(band)

        self._keeping = [*(future for future in self._keeping if not future.done()), self._keeper.submit(keep)]

    def _load(self, band: int) -> Values:
        with self.watch.of("load"):
            kept, job = self.stores[0].read(band), self.work.job
            totals = _totals_of_pixels(kept) if self._pixels else totals_of(job.planes, job.iterations, kept.values)
        with self._loading:
            self._loaded += totals
        return kept.values

    def _report(self) -> Report:
        stages = dict(self.watch.seconds)
        for picture in self._pictures:
            for stage, seconds in picture.watch.seconds.items() if picture else ():
                stages[stage] = stages.get(stage, 0.0) + seconds
        report = self.work.report(None if self._digest is None else self._digest.hexdigest(), stages)
        totals = self.work.log.totals + self._loaded
        if report.certified is not None:
            share = totals.certified / self.work.job.view.pixels
            report = replace(report, certified=replace(report.certified, share=share))
        stored = sum(self.bands.block(band).pixels for band in self.bands.stored)
        computed = report.pixels_computed - stored
        return replace(report, pixels_computed=computed, iterations_total=totals.iterations, at_limit=totals.inside)
