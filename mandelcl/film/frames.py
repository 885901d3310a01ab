"""The frames of a film, made from its keyframes by several threads, in order and in advance."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import groupby
from time import perf_counter
from typing import Any, TypeAlias

from mandelcl.base.errors import Token, stop_if
from mandelcl.base.machine import cores
from mandelcl.colour.colour import Colouring
from mandelcl.colour.linear_light import Light
from mandelcl.core.report import Stopwatch
from mandelcl.film.assembly import Composition, Recipe, Rgb, assembled, composition, recipes, scaled
from mandelcl.film.folder import Folder
from mandelcl.film.on_device import Assembler
from mandelcl.film.painted import Painted, Paints
from mandelcl.film.timing import Frame

_LEAST_WORKERS = 2  # a device makes one frame while another is copied
_BESIDE_DEVICE = 4  # the most workers with a device: more would wait for one another
_TOGETHER = 16  # the most frames whose recipes are computed together
_PREFETCHED = 2  # frames, beyond one per thread, that may wait for the encoder
_WAIT_S = 0.2

# The numbers of a frame's keyframes, and its composition.
_Need: TypeAlias = tuple[tuple[int, ...], Composition]
# Frames in flight: each with the numbers of its keyframes, and how often it is shown.
_Waiting: TypeAlias = deque[tuple[Future[Any], tuple[int, ...], int]]
# The recipes of consecutive frames, and the index of the first.
_Recipes: TypeAlias = tuple[Future[list[Recipe]], int]


class Maker:
    """Makes frames with one thread per core, or with a few threads if an assembler's device makes them.

    `finish` returns the finished picture of a frame, for example with a caption.
    """

    def __init__(
        self,
        folder: Folder,
        colouring: Colouring,
        width: int,
        height: int,
        watch: Stopwatch,
        assembler: Assembler | None = None,
        finish: Callable[[Frame, Rgb], Rgb] | None = None,
    ) -> None:
        self._folder, self._size = folder, (width, height)
        self._scale = folder.plan.width / width
        self._watch, self._assembler, self._finish = watch, assembler, finish
        most = cores() if assembler is None else min(_BESIDE_DEVICE, cores())
        self._workers = max(_LEAST_WORKERS, most)
        self._pool = ThreadPoolExecutor(self._workers, "mandelcl frames")
        self.paints = Paints(folder, colouring, assembler)
        self.waited_for_keyframes = 0.0

    def close(self) -> None:
        """End the threads."""
        self.paints.close()
        self._pool.shutdown(cancel_futures=True)

    def frames(
        self, frames: Sequence[Frame], cancel: Token, prepared: Callable[[Rgb], Any] | None = None
    ) -> Iterator[Any]:
        """Yield frames in order, unchanged or as `prepared` returns them. A repeated frame is made once."""
        waiting: _Waiting = deque()
        # Frames at rest are identical, and frames at the slow ends of a leg may be as well.
        distinct = [(frame, len(list(same))) for frame, same in groupby(frames)]
        needs = [self._needed(frame) for frame, _ in distinct]
        later = _later(needs, self.paints.most)
        for batch, how in self._recipes([frame.leg for frame, _ in distinct], needs):
            for k in batch:
                while waiting and not self._has_room(waiting, needs[k]):
                    yield from self._finished(waiting, cancel)
                numbers = needs[k][0]
                waiting.append(
                    (self._begin(distinct[k][0], numbers, (how, k - batch.start), prepared), numbers, distinct[k][1])
                )
                held = _held(waiting)
                for number in later[k]:
                    if number not in held and len(held) < self.paints.most:
                        self.paints.ask([number])
                        held.add(number)
                self.paints.keep_only(held)
        while waiting:
            yield from self._finished(waiting, cancel)

    def _recipes(self, legs: Sequence[int], needs: Sequence[_Need]) -> "Iterator[tuple[range, Future[list[Recipe]]]]":
        """Yield runs of frames that use the same keyframes, with recipes; the next run's are already in progress."""
        coming: deque[tuple[range, Future[list[Recipe]]]] = deque()
        for batch in _batches(needs):
            frames = [needs[k][1] for k in batch]
            coming.append((batch, self._pool.submit(self._found_out, frames, legs[batch.start])))
            if len(coming) > 1:
                yield coming.popleft()
        yield from coming

    def _found_out(self, frames: Sequence[Composition], leg: int) -> list[Recipe]:
        with self._watch.of("assemble"):
            size = self._folder.plan.legs[leg].keyframe_size
            return recipes([scaled(made_of, self._scale) for made_of in frames], size, size, self._size)

    def _has_room(self, waiting: _Waiting, need: _Need) -> bool:
        """Return whether another frame may begin before the first one is consumed."""
        return len(waiting) < self._workers + _PREFETCHED and len(_held(waiting).union(need[0])) <= self.paints.most

    def _finished(self, waiting: _Waiting, cancel: Token) -> Iterator[Any]:
        future, numbers, repeated = waiting[0]
        for waited_for in (*map(self.paints.get, numbers), future):
            began = perf_counter()
            while not waited_for.done():
                stop_if(cancel)
                wait([waited_for], _WAIT_S)
            if waited_for is not future:
                self.waited_for_keyframes += perf_counter() - began
        stop_if(cancel)
        waiting.popleft()
        frame = future.result()
        for _ in range(repeated):
            yield frame

    def _needed(self, frame: Frame) -> _Need:
        leg = self._folder.plan.legs[frame.leg]
        made_of = composition(leg, frame.travelled)
        number = self._folder.plan.first(frame.leg) + made_of.number
        return ((number, number + 1) if made_of.deeper is not None else (number,)), made_of

    def _begin(
        self, frame: Frame, numbers: tuple[int, ...], how: _Recipes, prepared: Callable[[Rgb], Any] | None
    ) -> "Future[Any]":
        self.paints.ask(numbers)
        keyframes = [self.paints.get(number) for number in numbers]
        return self._pool.submit(self._make, frame, how, keyframes, prepared)

    def _make(
        self, shown: Frame, how: _Recipes, keyframes: "list[Future[Painted]]", prepared: Callable[[Rgb], Any] | None
    ) -> Any:
        recipes_of, place = how
        base, *deeper = [keyframe.result() for keyframe in keyframes]
        keyframes.clear()  # frees them as soon as the frame is made, not only when this thread begins its next one
        with self._watch.of("assemble"):
            frame = self._assembled(recipes_of.result()[place], base, *deeper)
            if self._finish is not None:
                frame = self._finish(shown, frame)
        if prepared is None:
            return frame
        with self._watch.of("convert"):
            return prepared(frame)

    def _assembled(self, how: Recipe, *keyframes: Painted) -> Rgb:
        """Make a frame, on the device if it can make it and holds its keyframes."""
        made_by = self._assembler
        there = [keyframe.resident for keyframe in keyframes if keyframe.resident is not None]
        if made_by is not None and len(there) == len(keyframes) and made_by.makes(how):
            return made_by.frame(how, *there)
        base, *deeper = (self._on_host(keyframe) for keyframe in keyframes)
        return assembled(how, base, deeper[0] if deeper else None)

    def _on_host(self, keyframe: Painted) -> Light:
        if keyframe.light is not None:
            return keyframe.light
        assert self._assembler is not None
        assert keyframe.resident is not None
        return self._assembler.fetched(keyframe.resident)


def _held(waiting: _Waiting) -> set[int]:
    """Return the numbers of the keyframes that frames in flight use."""
    return {number for _, numbers, _ in waiting for number in numbers}


def _batches(needs: Sequence[_Need]) -> Iterator[range]:
    """Yield the indices of consecutive frames that use the same keyframes, at most a fixed number at a time."""
    start = 0
    for _, same in groupby(numbers for numbers, _ in needs):
        end = start + len(list(same))
        yield from (range(k, min(k + _TOGETHER, end)) for k in range(start, end, _TOGETHER))
        start = end


def _later(needs: Sequence[_Need], most: int) -> list[list[int]]:
    """Return for each frame the keyframes needed after its own, at most `most`, in the order of need."""
    stretches = [(numbers, len(list(same))) for numbers, same in groupby(numbers for numbers, _ in needs)]
    found: list[list[int]] = []
    for k, (_, frames) in enumerate(stretches):
        coming = [number for numbers, _ in stretches[k + 1 : k + 1 + most] for number in numbers]
        found += [list(dict.fromkeys(coming))] * frames
    return found
