"""A job in, files out: pictures of any size in bounded memory, which can be continued after an interrupt.

Blocks are computed in the calling thread. Each output has a thread that reads rows as they are finished, colours and
packs them; another sums up the counts; the store, once there is one, has two. So a picture takes about as long as its
slowest stage, and only what is finished but not yet read by all of them is in memory.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import NoneType

import numpy as np

from mandelcl import cache, timeline
from mandelcl.cancelling import NEVER, Token, stop_if
from mandelcl.computing.settings import Progress, Settings, ShowProgress
from mandelcl.computing.work import Work
from mandelcl.engine import recall
from mandelcl.engine.choose import DeviceSelection
from mandelcl.engine.settling import begin_early
from mandelcl.errors import (
    CancelledError,
    DeviceError,
    FileError,
    InvalidInputError,
    MandelclError,
    remark,
    require_type,
)
from mandelcl.files import output
from mandelcl.files.deflate import FAST, require_compression
from mandelcl.files.paths import one_line, paths_of, target
from mandelcl.files.strips import Picture, strip_rows
from mandelcl.host_memory import scarce_addresses
from mandelcl.job import Job
from mandelcl.methods import method_of
from mandelcl.rendering.bands import MEMORY_BYTES, BandReader, Bands
from mandelcl.rendering.fitting import fitted
from mandelcl.rendering.form import PIXELS, Values
from mandelcl.rendering.manifest import Manifest
from mandelcl.rendering.pixels import Convert, converter, form_for, picture_of, require_form
from mandelcl.rendering.render import require_inputs
from mandelcl.rendering.resuming import adopt, claimed, require_space
from mandelcl.rendering.sampling import SampledWork, finest, require_sampled, resolving
from mandelcl.rendering.session import Session
from mandelcl.rendering.store import Band, Store
from mandelcl.rendering.store_names import DRAFT
from mandelcl.report import Report, Stopwatch
from mandelcl.shading.colour import Colouring
from mandelcl.totals import Totals, totals_of
from mandelcl.words import Words, little_endian

STORE_AFTER_S = 3.0
_STORE_THREADS = 2
_MOST_ROW_BYTES = 1 << 29
_WAIT_S = 0.1
_FAREWELL_S = 0.4  # for finished bands to reach the store after an interrupt, which should end within a second


def render_to(
    paths: str | Path | Sequence[str | Path],
    job: Job,
    colouring: Colouring | None = None,
    devices: DeviceSelection | Session = (),
    settings: Settings | None = None,
    *,
    resume: bool = False,
    progress: ShowProgress | None = None,
    notice: Callable[[str], None] | None = None,
    see: Callable[[int, Words], None] | None = None,
    cancel: Token | None = None,
    memory: int = MEMORY_BYTES,
    store_after: float = STORE_AFTER_S,
    once: bool = False,
    compress: str = FAST,
    digest: bool = False,
) -> Report:
    """Render a job to a file or to several, in the formats of their suffixes; pictures need a `colouring`.

    Returns a report. `devices` are as for `render`: SPECs or devices, several to share the picture, none for the
    fastest. Once the device has computed for `store_after` seconds, finished bands are kept in `FILE.part`, beside
    the first output; with `resume` the render continues from them. `memory` bounds the bytes of results that wait
    to be read. `notice` is called with lines for the user, `progress` after each block, both from this thread;
    `see`, from another, with the counts of some rows and the number of the first, each row once and in order. With
    `digest` the report has the SHA-256 of the counts; without it, those of a large picture that nobody else wants
    stay on the device, which colours it. Setting `cancel` ends the render with CancelledError. Existing files are
    replaced when everything is done, or not at all; if the disk refuses one of several only then, FileError says
    which are finished but not in place. `compress` is "fast" or "small": the same pixels in less space, and several
    times as long. `once` is for a process that does no more with OpenCL: it opens the runtime of its device alone,
    where an earlier one has chosen the device. Raises FileError, and what `render` raises.
    """
    paths = paths_of(paths)
    require_inputs(job, devices, settings)
    require_type(colouring, (Colouring, NoneType), "the colouring")
    require_compression(compress)
    output.check_writable(*paths)
    if colouring is None:
        output.check_coloured(*paths)
    else:
        colouring.check_planes(job.planes)
        size = {"width": job.view.width, "height": job.view.height}
        require_sampled(paths, job, colouring, digest or see is not None)
        output.check_drawable(*paths, **size, depth=colouring.depth, clear=colouring.transparent)
    notice = notice or (lambda _line: None)
    for line in scarce_addresses():
        notice(line)
    stores = [Store(_part(path)) for path in paths]
    # A driver may end the process: unless something is there already, nothing is made before drivers have worked.
    there = any(os.path.lexists(store.folder) for store in stores)
    with ExitStack() as stack:
        manifest = stack.enter_context(claimed(stores, resume)) if there else None
        counts = digest or see is not None
        if manifest:
            job = adopt(job, manifest)
            if colouring is None or colouring.fits:
                require_form(manifest.form, stores[0].folder, paths, colouring, counts)
        begin_early(job)
        self_test, fine = settings is None or settings.self_test, finest(job, colouring)
        several = fine is not job
        if once and not isinstance(devices, Session):
            devices, fine = recall.settled(fine, devices, self_test)
        session = devices if isinstance(devices, Session) else stack.enter_context(Session(devices))
        job = resolving(job, fine, session, self_test, notice) if several else fine
        with timeline.span("begin"):
            work = session.begin(job, settings, notice, progress, cancel or NEVER)
        _require_memory(work)
        if colouring is not None and not colouring.fits:
            with timeline.span("fit the colours"):
                colouring = fitted(work, colouring, cancel or NEVER)
            if manifest:
                require_form(manifest.form, stores[0].folder, paths, colouring, counts)
        if several and colouring is not None:
            work = SampledWork(work, colouring, progress)
        if not there:
            stack.enter_context(claimed(stores, resume=False))
        cut = manifest or Manifest(work.job, work.band_rows, form_for(work, paths, colouring, counts))
        render = _Render(work, cut, stores, paths, colouring, memory, compress, digest, see)
        if manifest:
            render.resume(notice)
        # A store that exists already has most of the space that it needs.
        long = manifest is None and work.job.view.pixels * method_of(work.job).cost(work.job) / work.rate > store_after
        require_space(paths, work.job, render.indexed, long)
        report = render.run(progress or (lambda _progress: None), cancel or NEVER, store_after)
    for complaint in cache.complaints():
        notice(complaint)
    return report


def _part(path: str | Path) -> Path:
    place = target(path)
    return place.with_name(f"{place.name}.part")


def _require_memory(work: Work) -> None:
    """Raise InvalidInputError if a single row is too large for memory."""
    width = work.job.view.width
    row = 4 * work.job.words * width
    if row > _MOST_ROW_BYTES:
        raise InvalidInputError(
            f"a row of {width} pixels takes {row / 2**30:.1f} GiB of memory, and may take at most "
            f"{_MOST_ROW_BYTES / 2**30:g}; choose a narrower picture"
        )


def _totals_of_pixels(band: Band) -> Totals:
    """Return the totals that are kept with pixels; raises ValueError where they are none."""
    return Totals.parse(band.facts)


class _Stop:
    """The token of a render: set when the caller cancels it, or one of its threads has failed."""

    def __init__(self, bands: Bands, cancel: Token) -> None:
        self._bands, self._cancel = bands, cancel

    def is_set(self) -> bool:
        """Return whether to stop."""
        return self._bands.failure is not None or self._cancel.is_set()


class _Render:
    """One render in progress: the bands, the store, and the threads that read."""

    def __init__(
        self,
        work: Work,
        manifest: Manifest,
        stores: list[Store],
        paths: Sequence[str | Path],
        colouring: Colouring | None,
        memory: int,
        compress: str,
        digest: bool,
        see: Callable[[int, Words], None] | None,
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
        self._convert: Convert | None = None  # the work yields what a new render keeps
        self._totals: dict[int, Totals] = {}  # of bands that are not stored yet
        self._loaded = Totals()  # of bands that an earlier process computed
        self._loading = threading.Lock()
        self._see = see
        self._digest = hashlib.sha256() if digest else None
        self._keeper = ThreadPoolExecutor(_STORE_THREADS, "mandelcl store")
        self._keeping: list[Future[None]] = []
        self._sources = [self.bands.reader() for _ in paths]
        self._pictures = [picture_of(source, colouring) if colouring else None for source in self._sources]
        self._counting = self.bands.reader() if digest or see else None

    @property
    def indexed(self) -> bool:
        """Whether pictures have a table of colours."""
        return any(picture is not None and picture.table is not None for picture in self._pictures)

    def resume(self, notice: Callable[[str], None]) -> None:
        """Take over what the store holds, after verifying every byte of it."""
        store = self.stores[0]
        self._convert = converter(self.work, self.manifest.form, self._colouring, self.watch)
        with one_line("cannot continue", store.folder):
            store.begin(self.manifest)
            bands = list(store.verified(_totals_of_pixels if self._pixels else None))
        self.bands.stored.update(band for band, whole in bands if whole)
        self.bands.keep = self._keep
        damaged = sum(not whole for _, whole in bands)
        again = f"; {damaged} damaged and computed again" if damaged else ""
        notice(f"going on with {len(self.bands.stored)} of {self.manifest.bands} bands in {store.folder}{again}")

    def run(self, progress: ShowProgress, cancel: Token, store_after: float) -> Report:
        """Compute what is missing, write everything, put it in place."""
        stop = _Stop(self.bands, cancel)
        self.bands.check = lambda: stop_if(stop)
        outputs = zip(self.paths, self.stores, self._sources, self._pictures, strict=True)
        with ThreadPoolExecutor(len(self.paths) + 1, "mandelcl output") as pool:
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
            self._drop_doubtful()
            self._explain(self.bands.failure)
            raise self.bands.failure
        report = self._report()
        with timeline.span("put in place"):
            self._note_certified(report)
            self._put_in_place()
        for store in self.stores:
            store.remove()
        return report

    def _doubtful(self) -> list[int]:
        """Return the bands with results that turned out to be wrong, or may be."""
        rows = self.bands.band_rows
        touched = [range(top // rows, -(-bottom // rows)) for top, bottom in self.work.log.doubtful_rows]
        return sorted({band for bands in touched for band in bands})

    def _drop_doubtful(self) -> None:
        """Have the store keep nothing that may be wrong."""
        store = self.stores[0]
        if store.manifest is not None:
            with one_line("cannot write to", store.folder):
                for band in self._doubtful():
                    store.drop(band)

    def _note_certified(self, report: Report) -> None:
        """Say in each output that can say it what share of the counts is certified."""
        if report.certified is not None:
            for path, store in zip(self.paths, self.stores, strict=True):
                output.note(path, store.folder / DRAFT, {output.CERTIFIED_KEY: f"{report.certified.share:.6f}"})

    def _put_in_place(self) -> None:
        """Replace the outputs by their drafts, after checking that all can be replaced.

        Raises FileError if one cannot, or if replacing fails; the drafts of those that are not replaced are kept.
        """
        waiting = list(zip(self.paths, self.stores, strict=True))
        try:
            for path, _ in waiting:
                output.check_replaceable(path)
            while waiting:
                path, store = waiting[0]
                output.put_in_place(path, store.folder / DRAFT)
                del waiting[0]
        except FileError as error:
            for _, store in waiting:
                store.keeps_draft = True
            drafts = ", ".join(str(store.folder / DRAFT) for _, store in waiting)
            remark(error, f"finished, and kept until the next render: {drafts}")
            raise

    def _explain(self, failure: BaseException) -> None:
        """Add to a failure's message how much is kept."""
        store = self.stores[0]
        if store.manifest is None or not isinstance(failure, MandelclError | CancelledError):
            return
        if kept := store.band_count():
            bands = f"{kept} of {self.manifest.bands} bands"
            remark(failure, f"{bands} are kept in {store.folder}: go on with --resume")

    def _compute(self, progress: ShowProgress, stop: Token, store_after: float) -> None:
        work, bands = self.work, self.bands
        view = work.job.view
        done = sum(bands.block(band).pixels for band in bands.stored)
        totals = work.log.totals
        corrected = work.log.pixels_corrected
        for block, results in work.run(bands.missing(), bands.room, cancel=stop):
            if work.log.pixels_corrected > corrected:  # somebody has read the band: it is dropped at the end
                corrected, totals = work.log.pixels_corrected, work.log.totals
                continue
            band = block.y // bands.band_rows
            self._totals[band] = self._totals.get(band, Totals()) + (work.log.totals - totals)
            totals = work.log.totals
            if self._convert is not None:
                results = self._convert(results)
            bands.put(block, results)
            done += block.pixels
            progress(Progress(done, view.pixels, work.log.totals.iterations, work.seconds, work.name))
            if bands.keep is None and work.log.kernel_seconds >= store_after:
                with one_line("cannot write to", self.stores[0].folder):
                    self.stores[0].begin(self.manifest)
                bands.keep_from_now(self._keep)
        if wrong := len(self._doubtful()):
            raise DeviceError(
                f"{wrong} of {self.manifest.bands} bands had wrong results, of a worker that is excluded now"
            )

    def _write(self, path: str | Path, store: Store, source: BandReader, picture: Picture | None) -> None:
        with self.bands.failing():
            output.write_draft(path, store.folder / DRAFT, source, picture, self._compress)

    def _count(self, reader: BandReader) -> None:
        """Hash the counts as little-endian uint32, row by row, and show them to who wants to see them."""
        view = self.work.job.view
        rows = strip_rows(view.width)
        with self.bands.failing():
            for top in range(0, view.height, rows):
                counts = reader.results(top, min(top + rows, view.height))[0]
                if self._digest is not None:
                    with self.watch.of("hash"):
                        self._digest.update(little_endian(counts))
                if self._see is not None:
                    self._see(top, counts.astype(np.uint32, copy=False))

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
        return replace(report, pixels_computed=computed, iterations_total=totals.iterations)
