"""Bands without a device: every reader gets its rows, memory stays bounded, and nobody waits for ever."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import CancelledError, FileError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.rendering.band_layout import BandLayout
from mandelcl.rendering.bands import BandReader, Bands
from tests.queues import tiled

LIMIT_S = 30
slow_is_fine = settings(deadline=None, max_examples=60)


def a_job(width: int, height: int, smooth: bool = False) -> Job:
    view = View.centred(Fraction(0), Fraction(0), Fraction(1), width, height)
    return Job(view, (1 << 32) - 2, number="float", rounding="fused", planes=("counts", "smooth")[: 1 + smooth])


def truth(job: Job) -> Words:
    """Return words that say where they belong."""
    shape = job.words, job.view.height, job.view.width
    return np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)


def piece(words: Words, block: Block) -> Words:
    return words[:, block.y : block.y + block.height, block.x : block.x + block.width].copy()


class Threads:
    """Threads whose errors count, and that must end in time."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self._threads: list[threading.Thread] = []

    def start(self, work: Callable[..., Any], *arguments: Any) -> None:
        def run() -> None:
            try:
                work(*arguments)
            except BaseException as error:
                self.errors.append(error)

        self._threads.append(threading.Thread(target=run, daemon=True))
        self._threads[-1].start()

    def join(self, bands: Bands) -> None:
        for thread in self._threads:
            thread.join(LIMIT_S)
        stuck = [thread for thread in self._threads if thread.is_alive()]
        bands.fail(AssertionError("over"))  # wakes what hangs, so that it does not last
        for thread in stuck:
            thread.join(LIMIT_S)
        assert not stuck, "a deadlock"


@contextmanager
def threads(bands: Bands) -> Iterator[Threads]:
    every = Threads()
    yield every
    every.join(bands)


def read_all(reader: BandReader, rows: int, got: list[Words]) -> None:
    height = reader.job.view.height
    got += [reader.results(top, min(top + rows, height))[0].copy() for top in range(0, height, rows)]


def compute(bands: Bands, words: Words, shape: tuple[int, int], delay: int, chance: np.random.Generator) -> None:
    """Put the blocks out of order, up to `delay` of them late, as devices would; never waiting with one in hand."""
    late: list[Block] = []
    queue = tiled(bands.missing(), *shape, bands.room)
    while True:
        block = queue.take(wait=not late)
        if block is not None:
            late.append(block)
        if not late:
            return
        if block is None or len(late) > delay:
            done = late.pop(int(chance.integers(len(late))))
            bands.put(done, piece(words, done))


@given(
    st.integers(1, 20), st.integers(1, 40), st.integers(1, 9), st.integers(1, 20), st.integers(1, 9),
    st.lists(st.integers(1, 45), min_size=1, max_size=4), st.integers(0, 5), st.integers(0, 1000), st.data(),
)  # fmt: skip
@slow_is_fine
def test_every_reader_gets_every_row(
    width: int, height: int, rows: int, block_width: int, block_height: int, strips: list[int], delay: int,
    seed: int, data: st.DataObject,
) -> None:  # fmt: skip
    """Any sizes, blocks and order; several readers, each with strips of its own; some bands from the store."""
    job, words = a_job(width, height), truth(a_job(width, height))
    last = -(-height // rows)
    loaded: list[int] = []

    def load(band: int) -> Words:
        loaded.append(band)
        return piece(words, bands.block(band))

    bands = Bands(job, rows, 1 << 30, load)
    stored = data.draw(st.sets(st.integers(0, last - 1)))
    bands.stored.update(stored)
    missing = {block.y // rows for block in Bands.missing(bands)}
    assert missing == set(range(last)) - stored, "what is stored is not computed"
    bands._handed_out.clear()
    got: list[list[Words]] = [[] for _ in strips]
    with threads(bands) as every:
        for reader, strip, into in zip([bands.reader() for _ in strips], strips, got, strict=True):
            every.start(read_all, reader, strip, into)
        every.start(compute, bands, words, (block_width, block_height), delay, np.random.default_rng(seed))
    assert not every.errors
    for read in got:
        np.testing.assert_array_equal(np.concatenate(read), words[0])
    assert set(loaded) == stored
    assert not bands._bands, "what all have read is dropped"


def test_smooth_rows_have_three_planes() -> None:
    job = a_job(4, 6, smooth=True)
    words = truth(job)
    assert words.shape == (3, 6, 4)
    bands = Bands(job, 4)
    reader = bands.reader()
    for block in bands.missing():
        bands.put(block, piece(words, block))
    rows = reader.rows(1, 6)
    assert list(rows) == ["counts", "smooth"]
    np.testing.assert_array_equal(rows["counts"], words[0, 1:6])
    assert rows["smooth"].shape == (5, 4)


@pytest.mark.parametrize("indexed", [False, True])
def test_bands_of_pixels(indexed: bool) -> None:
    """In blocks that are parts of a band, and read in strips that are not bands."""
    job, form = a_job(5, 11), BandLayout.pixels("{}", indexed)
    pixels = np.random.default_rng(1).integers(0, 256, form.shape(11, 5), np.uint8)
    bands = Bands(job, 4, 1, form=form)
    reader = bands.reader()
    for band in bands.missing():
        for block in tiled([band], 3, 2):
            bands.put(block, pixels[block.y : block.y + block.height, block.x : block.x + block.width].copy())
    assert held(bands) == pixels.nbytes
    strips = [reader.results(top, min(top + 3, 11)) for top in range(0, 11, 3)]
    np.testing.assert_array_equal(np.concatenate(strips), pixels)
    assert held(bands) == 0


def held(bands: Bands) -> int:
    with bands._changed:
        done = sum(entry.results.nbytes for band, entry in bands._bands.items() if band not in bands._handed_out)
        return done + sum(bands._handed_out.values())


@pytest.mark.parametrize("stored", [(), (0, 1, 2, 3, 4, 5, 6, 7), tuple(range(0, 40, 2))], ids=["none", "top", "half"])
@pytest.mark.parametrize("bands_in_memory", [1, 2, 5])
def test_memory_is_bounded(bands_in_memory: int, stored: tuple[int, ...]) -> None:
    """A slow reader holds up the others and the devices; never is more in memory than was allowed, and one band."""
    job, words, most = a_job(10, 200), truth(a_job(10, 200)), [0]
    bands = Bands(job, 5, bands_in_memory * 200, lambda band: piece(words, bands.block(band)))
    bands.stored.update(stored)
    fast, slow, got = bands.reader(), bands.reader(), list[Words]()

    def crawl() -> None:
        for top in range(200):
            threading.Event().wait(0.001)
            got.append(slow.results(top, top + 1)[0].copy())
            most[0] = max(most[0], held(bands))

    with threads(bands) as every:
        every.start(read_all, fast, 5, [])
        every.start(crawl)
        every.start(compute, bands, words, (10, 5), 0, np.random.default_rng(1))
    assert not every.errors
    np.testing.assert_array_equal(np.concatenate(got), words[0])
    assert most[0] <= (bands_in_memory + 1) * 200


@pytest.mark.parametrize(("strip", "memory"), [(5, 1), (7, 1), (50, 400)])
def test_strips_over_more_bands_than_memory_takes_do_not_deadlock(strip: int, memory: int) -> None:
    job, words = a_job(10, 50), truth(a_job(10, 50))
    bands, got = Bands(job, 5, memory), list[Words]()
    reader = bands.reader()
    limit = threading.Timer(10, lambda: bands.fail(AssertionError("a deadlock")))
    limit.start()
    with threads(bands) as every:
        every.start(read_all, reader, strip, got)
        every.start(compute, bands, words, (10, 5), 1, np.random.default_rng(1))
    limit.cancel()
    assert not every.errors, "a deadlock"
    np.testing.assert_array_equal(np.concatenate(got), words[0])


def break_down() -> None:
    raise FileError("disk full")


def test_failure_wakes_all_waiters() -> None:
    """Readers that wait for rows, and devices that wait for room, hear of what another thread failed with."""
    job = a_job(10, 50)
    bands, words = Bands(job, 5, 1), truth(a_job(10, 50))
    first, second = bands.reader(), bands.reader()
    with threads(bands) as every:
        every.start(read_all, first, 5, [])
        every.start(compute, bands, words, (10, 5), 0, np.random.default_rng(1))
        threading.Event().wait(0.05)  # the device has no room now: `second` reads nothing
        with bands.failing():
            break_down()
    assert second.job is job
    assert [type(error) for error in every.errors] == [CancelledError] * 2
    assert isinstance(bands.failure, FileError), "the first error counts"


def test_a_reader_whose_store_fails() -> None:
    def load(_band: int) -> Words:
        raise FileError("gone")

    bands = Bands(a_job(3, 3), 1, load=load)
    bands.stored.add(0)
    with pytest.raises(FileError, match="gone"):
        bands.reader().results(0, 1)


def test_bands_are_not_dropped_before_they_are_kept() -> None:
    job, words, kept = a_job(4, 12), truth(a_job(4, 12)), dict[int, Words]()
    bands = Bands(job, 4)
    reader = bands.reader()
    blocks = list(bands.missing())
    bands.put(blocks[0], piece(words, blocks[0]))
    reader.results(0, 2)
    bands.keep_from_now(kept.__setitem__)  # the band that is in memory, and those that come
    bands.put(blocks[1], piece(words, blocks[1]))
    reader.results(2, 8)
    assert sorted(bands._bands) == sorted(kept) == [0, 1]
    bands.kept(0)
    assert sorted(bands._bands) == [1]
    bands.kept(1)
    assert not bands._bands
    np.testing.assert_array_equal(np.concatenate([kept[0], kept[1]], axis=1), words[:, :8])


def test_the_queue_asks_for_room_before_each_band_only() -> None:
    asked, answers = list[bool](), [True, False, True]

    def room(wait: bool) -> bool:
        asked.append(wait)
        return wait or answers.pop(0)

    queue = tiled([Block(0, 0, 4, 2), Block(0, 2, 4, 2)], 2, 2, room)
    assert queue.take(wait=False) == Block(0, 0, 2, 2)
    assert queue.take(wait=False) == Block(2, 0, 2, 2)
    assert queue.take(wait=False) is None, "no room"
    assert queue.take() == Block(0, 2, 2, 2)
    assert list(queue) == [Block(2, 2, 2, 2)]
    assert asked == [False, False, True, True]
