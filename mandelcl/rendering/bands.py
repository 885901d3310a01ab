"""Finished blocks between the devices and the files: bounded memory, and several readers, each at its own pace.

A band is a number of whole rows. The store keeps bands, and a band is dropped from memory after every reader has
passed it and the store has written it. A block is a piece of a band; if a band is a single block, nothing is copied.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from mandelcl.base.errors import CancelledError
from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import values_of
from mandelcl.rendering.band_layout import BandLayout, Values

MEMORY_BYTES = 256 << 20
_WAIT_S = 0.1


@dataclass(slots=True)
class _Band:
    """A band: `results`, in the bands' layout, complete when no pixels are `missing`. `kept`: the store has them."""

    results: Values
    missing: int
    kept: bool = True


@dataclass(slots=True)
class _ReaderProgress:
    """Rows above `low` have been read, and below it the strips `read_strips`, each from a top to a bottom row."""

    low: int = 0
    read_strips: dict[int, int] = field(default_factory=dict)


class Bands:
    """The bands of a picture that are in memory: results as the kernels wrote them, or as the layout `form` says.

    `stored` are the bands that `load(band)` can read back; they are not computed again. `keep(band, results)`, if set,
    is called with each finished band and later calls `kept(band)`; until then the band is not dropped. `memory` bounds
    the bytes of bands that are finished or being computed. A single band may exceed it.
    """

    def __init__(
        self,
        job: Job,
        rows: int,
        memory: int = MEMORY_BYTES,
        load: Callable[[int], Values] | None = None,
        form: BandLayout | None = None,
    ) -> None:
        self.job = job
        self.form = form or BandLayout.words(job)
        self.band_rows = rows
        self.memory = memory
        self.stored: set[int] = set()
        self.keep: Callable[[int, Values], None] | None = None
        self._load = load
        self._bands: dict[int, _Band] = {}
        self._readers: list[_ReaderProgress] = []
        self._handed_out: dict[int, int] = {}  # sizes in bytes of the bands that are being computed
        self._loading: set[int] = set()
        self._failure: BaseException | None = None
        self.check: Callable[[], None] = lambda: None  # called regularly while waiting for memory; it may raise
        self._changed = threading.Condition()

    def missing(self) -> Iterator[Block]:
        """Yield the bands that are not stored, from the top. Each counts towards `memory` after it is yielded."""
        for band in range(-(-self.job.view.height // self.band_rows)):
            if band in self.stored:
                continue
            block = self.block(band)
            with self._changed:
                self._handed_out[band] = self._bytes(block)
            yield block

    def block(self, band: int) -> Block:
        """Return the block that a band covers."""
        top = band * self.band_rows
        return Block(0, top, self.job.view.width, min(self.band_rows, self.job.view.height - top))

    def room(self, wait: bool) -> bool:
        """Return whether there is memory for another band; with `wait`, wait until there is."""
        with self._changed:
            self._raise_failure()
            while not self._has_room():
                if not wait:
                    return False
                with timeline.span("wait for room", "wait"):
                    self._changed.wait(_WAIT_S)
                self._raise_failure()
                self.check()
            return True

    def put(self, block: Block, results: Values) -> None:
        """Take the results of a block, in the bands' layout. The block lies within one band."""
        band = block.y // self.band_rows
        whole = self.block(band)
        if block != whole:
            with self._changed:
                if band not in self._bands:
                    empty = np.empty(self.form.shape(whole.height, whole.width), self.form.dtype)
                    self._bands[band] = _Band(empty, whole.pixels)
                into = self._bands[band]
            top, columns = block.y - whole.y, slice(block.x, block.x + block.width)
            self.form.part(into.results, slice(top, top + block.height), columns)[...] = results
            results = into.results
        with self._changed:
            entry = self._bands.setdefault(band, _Band(results, whole.pixels))
            entry.missing -= block.pixels
            if entry.missing:
                return
            self._handed_out.pop(band, None)
            if self.keep is not None:
                entry.kept = False
                self.keep(band, results)
            self._drop()
            self._changed.notify_all()

    def replace(self, block: Block, results: Values) -> bool:
        """Replace a block's results by corrected ones. Return False if its band may already have been read."""
        band = block.y // self.band_rows
        with self._changed:
            entry = self._bands.get(band)
            if entry is None or not entry.missing:
                return False
            top, columns = block.y - band * self.band_rows, slice(block.x, block.x + block.width)
            self.form.part(entry.results, slice(top, top + block.height), columns)[...] = results
            return True

    def keep_from_now(self, keep: Callable[[int, Values], None]) -> None:
        """From now on, pass finished bands to `keep`: those still in memory, and all later ones."""
        with self._changed:
            self.keep = keep
            for band, entry in self._bands.items():
                if not entry.missing and band not in self.stored:
                    entry.kept = False
                    keep(band, entry.results)

    def kept(self, band: int) -> None:
        """Note that the store has a band."""
        with self._changed:
            self._bands[band].kept = True
            self._drop()
            self._changed.notify_all()

    def reader(self) -> "BandReader":
        """Return a new reader. All readers must be made before the first block is put."""
        progress = _ReaderProgress()
        self._readers.append(progress)
        return BandReader(self, progress)

    def fail(self, error: BaseException) -> None:
        """Wake all waiting threads with an error. Only the first error counts."""
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Stop all threads if the body raises; for threads whose results are not collected."""
        try:
            yield
        except BaseException as error:
            self.fail(error)

    @property
    def failure(self) -> BaseException | None:
        """The first error of any thread."""
        return self._failure

    def _has_room(self) -> bool:
        held = sum(entry.results.nbytes for band, entry in self._bands.items() if band not in self._handed_out)
        held += sum(self._handed_out.values()) + sum(self._bytes(self.block(band)) for band in self._loading)
        return not held or held + self._bytes(self.block(0)) <= self.memory or self._starving()

    def _starving(self) -> bool:
        """Whether the slowest reader waits for a band that is not being computed; then the memory bound must yield."""
        band = self._last_band()
        under_way = band in self._bands or band in self._handed_out or band in self.stored
        return bool(self._readers) and not self._handed_out and not under_way

    def _last_band(self) -> int:
        return min((reader.low for reader in self._readers), default=0) // self.band_rows

    def _bytes(self, block: Block) -> int:
        return self.form.bytes_of(block.height, block.width)

    def _read(self, band: int, progress: _ReaderProgress, top: int, bottom: int) -> Values:
        """Wait for rows top … bottom − 1, which lie in one band, and return them."""
        while True:
            with self._changed:
                while not self._may_load(band):
                    self._raise_failure()
                    entry = self._bands.get(band)
                    if entry is not None and not entry.missing:
                        self._advance(progress, top, bottom)
                        first = band * self.band_rows
                        return self.form.part(entry.results, slice(top - first, bottom - first))
                    with timeline.span("wait for rows", "wait"):
                        self._changed.wait()
                self._loading.add(band)
            assert self._load is not None
            results = self._load(band)
            with self._changed:
                self._loading.discard(band)
                self._bands[band] = _Band(results, 0)
                self._changed.notify_all()

    def _may_load(self, band: int) -> bool:
        """Whether a reader may load a band from the store now. Only the slowest one may do so without free memory."""
        if self._failure is not None or band not in self.stored or band in self._bands or band in self._loading:
            return False
        return band == self._last_band() or self._has_room()

    def _advance(self, progress: _ReaderProgress, top: int, bottom: int) -> None:
        progress.read_strips[top] = bottom
        while progress.low in progress.read_strips:
            progress.low = progress.read_strips.pop(progress.low)
        self._drop()
        self._changed.notify_all()

    def _drop(self) -> None:
        passed = min((reader.low for reader in self._readers), default=0)
        for band, entry in list(self._bands.items()):
            block = self.block(band)
            if not entry.missing and entry.kept and block.y + block.height <= passed:
                del self._bands[band]

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise CancelledError("stopped because another part of the render failed") from self._failure


class BandReader:
    """The rows of a picture for one reader, which asks for each strip once, roughly in order (a RowSource)."""

    def __init__(self, bands: Bands, progress: _ReaderProgress) -> None:
        self._bands = bands
        self._progress = progress

    @property
    def job(self) -> Job:
        """The job that the rows belong to."""
        return self._bands.job

    @property
    def form(self) -> BandLayout:
        """The layout of the bands."""
        return self._bands.form

    def rows(self, top: int, bottom: int) -> Rows:
        """Wait for rows top … bottom − 1 and return their planes by name; none if the bands hold pixels.

        Counts are uint32, or uint16 if the bands hold only 16 bits.
        """
        return values_of(self.job.planes, self.results(top, bottom), self.job.facts)

    def results(self, top: int, bottom: int) -> Values:
        """Wait for rows top … bottom − 1 and return their values in the bands' layout."""
        rows, parts = self._bands.band_rows, []
        for band in range(top // rows, -(-bottom // rows)):
            first, last = max(top, band * rows), min(bottom, (band + 1) * rows)
            parts.append(self._bands._read(band, self._progress, first, last))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=self.form.row_axis)
