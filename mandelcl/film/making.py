"""A film from its keyframes: frames are made by several threads, in order, while earlier ones are encoded."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import groupby
from time import perf_counter

from mandelcl import timeline
from mandelcl.cancelling import NEVER, Token, stop_if
from mandelcl.errors import InvalidInputError
from mandelcl.film.assembly import Composition, Rgb, assembled, composition, scaled
from mandelcl.film.codecs import GIF, codec_for, require_encodable
from mandelcl.film.encoding import writing
from mandelcl.film.folder import Folder
from mandelcl.film.painted import Painted, Paints, fitted
from mandelcl.film.timing import Frame, Timing
from mandelcl.report import Stopwatch
from mandelcl.shading.colour import Colouring

_AHEAD = 2  # frames beyond one a thread that may wait to be encoded
_SAMPLED = 8  # frames of which the palette of a GIF is made
_WAIT_S = 0.2


@dataclass(slots=True)
class Made:
    """What was made: frames, seconds in all, and for how many of them each stage was busy, summed over its threads."""

    frames: int = 0
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    waited: float = 0.0  # for frames to encode

    @property
    def bound(self) -> str:
        """The stage that took longest: `assembly` where encoding waited for frames most of the time, or `encoding`."""
        return "assembly" if self.waited > self.seconds / 2 else "encoding"


def make_film(
    folder: Folder,
    path: str,
    colouring: Colouring,
    timing: Timing,
    *,
    size: tuple[int, int] | None = None,
    codec: str | None = None,
    quality: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cancel: Token = NEVER,
) -> Made:
    """Make a film of the keyframes in a folder, all of which must be there; nothing is computed.

    `size` is that of the plan, or a smaller one of its shape. `progress` takes the frames that are done, and all of
    them. Raises FileError for keyframes or a file that cannot be read or written, and InvalidInputError for what the
    codec does not take.
    """
    began, plan = perf_counter(), folder.plan
    name = codec_for(path, codec)
    width, height = size or (plan.width, plan.height)
    require_smaller(plan.width, plan.height, width, height)
    require_encodable(name, width, height, float(timing.fps), quality)
    require_colouring(colouring)
    folder.require_whole()
    frames = timing.frames(plan.doublings)
    watch = Stopwatch()
    maker = _Maker(folder, fitted(folder, colouring), width, height, watch)
    made = Made()
    try:
        colours: list[Rgb] = []
        if name == GIF:
            picked = [frames[k * (len(frames) - 1) // (_SAMPLED - 1)] for k in range(_SAMPLED)]
            colours = list(maker.frames(picked, cancel))
        with writing(path, name, (width, height), timing.fps, quality, colours) as sink:
            making = maker.frames(frames, cancel)
            while True:
                waiting = perf_counter()
                with timeline.span("wait for a frame", "wait"):
                    frame = next(making, None)
                made.waited += perf_counter() - waiting
                if frame is None:
                    break
                with watch.of("encode"):
                    sink.put(frame)
                made.frames += 1
                if progress is not None:
                    progress(made.frames, len(frames))
    finally:
        maker.close()
    made.seconds = perf_counter() - began
    made.stages = watch.seconds | maker.paints.watch.seconds
    return made


def require_smaller(width: int, height: int, new_width: int, new_height: int) -> None:
    """Raise InvalidInputError for a size larger than the one that keyframes were computed for, or of another shape."""
    if new_width > width or new_height > height:
        raise InvalidInputError(
            f"the keyframes are for frames of at most {width}x{height}; `mandelcl zoom --size "
            f"{new_width}x{new_height}` computes larger ones"
        )
    if abs(new_width * height - new_height * width) > max(width, height):
        raise InvalidInputError(
            f"{new_width}x{new_height} has not the shape of {width}x{height}, that of the keyframes"
        )


def require_colouring(colouring: Colouring) -> None:
    """Raise InvalidInputError for what only single pictures have."""
    if colouring.transparent or colouring.height is not None or colouring.depth != 8 or colouring.samples != 1:
        raise InvalidInputError("frames of a film have 8 bits a channel, colours, and no transparent pixels")


class _Maker:
    """Makes frames: keyframes are painted by one thread, frames by as many as there are processors."""

    def __init__(self, folder: Folder, colouring: Colouring, width: int, height: int, watch: Stopwatch) -> None:
        self._folder, self._width, self._height = folder, width, height
        self._scale = folder.plan.width / width
        self._watch = watch
        self._workers = max(
            1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        )
        self._pool = ThreadPoolExecutor(self._workers, "mandelcl frames")
        self.paints = Paints(folder, colouring)

    def close(self) -> None:
        """End the threads."""
        self.paints.close()
        self._pool.shutdown(cancel_futures=True)

    def frames(self, frames: Sequence[Frame], cancel: Token) -> Iterator[Rgb]:
        """Yield frames in their order; one that repeats is made once."""
        waiting: deque[tuple[Future[Rgb], tuple[int, ...], int]] = deque()
        # Frames at rest are the same one, and so may be those at the slow ends of a leg.
        distinct = [(frame, len(list(same))) for frame, same in groupby(frames)]
        needs = [self._needed(frame) for frame, _ in distinct]
        for k, (_, repeated) in enumerate(distinct):
            while len(waiting) >= self._workers + _AHEAD:
                yield from self._finished(waiting, cancel)
            waiting.append((self._begin(needs[k]), needs[k][0], repeated))
            held = {number for _, numbers, _ in waiting for number in numbers}
            if held <= set(needs[k][0]):  # nothing but this stretch is in hand: there is room for one more keyframe
                self.paints.ask(self._next(needs, k))
                held.update(self._next(needs, k))
            self.paints.keep_only(held)
        while waiting:
            yield from self._finished(waiting, cancel)

    def _finished(self, waiting: "deque[tuple[Future[Rgb], tuple[int, ...], int]]", cancel: Token) -> Iterator[Rgb]:
        future, _, repeated = waiting[0]
        while not future.done():
            stop_if(cancel)
            wait([future], _WAIT_S)
        stop_if(cancel)
        waiting.popleft()
        frame = future.result()
        for _ in range(repeated):
            yield frame

    def _needed(self, frame: Frame) -> tuple[tuple[int, ...], Composition]:
        leg = self._folder.plan.legs[frame.leg]
        made_of = composition(leg, frame.travelled)
        number = self._folder.plan.first(frame.leg) + made_of.number
        return ((number, number + 1) if made_of.deeper is not None else (number,)), made_of

    @staticmethod
    def _next(needs: Sequence[tuple[tuple[int, ...], Composition]], k: int) -> list[int]:
        """Return the keyframes that the next stretch needs beyond those of this one."""
        here = set(needs[k][0])
        for numbers, _ in needs[k + 1 :]:
            beyond = [number for number in numbers if number not in here]
            if beyond:
                return beyond[:1]
        return []

    def _begin(self, needed: tuple[tuple[int, ...], Composition]) -> "Future[Rgb]":
        numbers, made_of = needed
        self.paints.ask(numbers)
        keyframes = [self.paints.get(number) for number in numbers]
        return self._pool.submit(self._make, scaled(made_of, self._scale), keyframes)

    def _make(self, made_of: Composition, keyframes: "Sequence[Future[Painted]]") -> Rgb:
        base, *deeper = [keyframe.result() for keyframe in keyframes]
        with self._watch.of("assemble"):
            return assembled(made_of, base, deeper[0] if deeper else None, self._width, self._height)


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
