"""Make a film from its keyframes. Frames are encoded while later ones are made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.colour.colour import Colouring
from mandelcl.core import timeline
from mandelcl.core.report import Stopwatch
from mandelcl.film.assembly import Rgb
from mandelcl.film.captions import Caption
from mandelcl.film.codecs import GIF, codec_for, require_encodable
from mandelcl.film.encoding import writing
from mandelcl.film.folder import Folder
from mandelcl.film.frames import Maker
from mandelcl.film.on_device import Assembler
from mandelcl.film.painted import fitted
from mandelcl.film.timing import Timing

_SAMPLED = 8  # frames from which the palette of a GIF is computed


@dataclass(slots=True)
class Made:
    """What was made: frames, total seconds, and the busy seconds of each stage, summed over its threads."""

    frames: int = 0
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    waited: float = 0.0  # waiting for frames to encode
    waited_for_keyframes: float = 0.0  # of that, waiting for keyframes
    encoding: float = 0.0  # from a frame's arrival at the encoder to its return, including the encoder's own threads
    device: str | None = None  # the device that made the frames

    @property
    def bound(self) -> str:
        """The slowest stage: `encoding`, or, if that mostly waited, `painting` or `assembly`."""
        if self.waited <= self.seconds / 2:
            return "encoding"
        return "painting" if self.waited_for_keyframes > self.waited / 2 else "assembly"


def make_film(
    folder: Folder,
    path: str,
    colouring: Colouring,
    timing: Timing,
    *,
    size: tuple[int, int] | None = None,
    codec: str | None = None,
    quality: int | None = None,
    sound: str | Path | None = None,
    caption: str | None = None,
    assembler: Assembler | None = None,
    progress: Callable[[int, int], None] | None = None,
    cancel: Token = NEVER,
) -> Made:
    """Make a film from the keyframes in a folder, which must be complete. No keyframe is computed.

    `size` is the plan's, or a smaller one with the same aspect ratio. `sound` is a file whose sound the film has, and
    `caption` a text drawn in each frame (`captions.FIELDS`). `progress` is called with the finished frames and their
    total. Frames have the same bytes with an `assembler`, whose device makes them, and without. Raises FileError
    for keyframes or a film that cannot be read or written, and InvalidInputError for what the codec does not support.
    """
    began, plan = perf_counter(), folder.plan
    name = codec_for(path, codec)
    width, height = size or (plan.width, plan.height)
    require_smaller(plan.width, plan.height, width, height)
    require_encodable(name, width, height, timing.fps, quality)
    require_colouring(colouring)
    folder.require_whole()
    frames = timing.frames(plan.doublings)
    watch = Stopwatch()
    finish = None if caption is None else Caption(caption, plan, (width, height)).draw
    maker = Maker(folder, fitted(folder, colouring), width, height, watch, assembler, finish)
    made = Made(device=None if assembler is None else assembler.device.label)
    try:
        colours: list[Rgb] = []
        if name == GIF:
            picked = [frames[k * (len(frames) - 1) // (_SAMPLED - 1)] for k in range(_SAMPLED)]
            colours = list(maker.frames(picked, cancel))
        with writing(path, name, (width, height), timing.fps, quality, colours, sound) as sink:
            making = maker.frames(frames, cancel, sink.prepared)
            while True:
                waiting = perf_counter()
                with timeline.span("wait for a frame", "wait"):
                    frame = next(making, None)
                made.waited += perf_counter() - waiting
                if frame is None:
                    break
                encoding = perf_counter()
                with watch.of("encode"):
                    sink.put(frame)
                made.encoding += perf_counter() - encoding
                made.frames += 1
                if progress is not None:
                    progress(made.frames, len(frames))
    finally:
        maker.close()
    made.seconds = perf_counter() - began
    made.waited_for_keyframes = maker.waited_for_keyframes
    made.stages = watch.seconds | maker.paints.watch.seconds
    return made


def require_smaller(width: int, height: int, new_width: int, new_height: int) -> None:
    """Raise InvalidInputError for a size larger than the keyframes' frame size, or with another aspect ratio."""
    if new_width > width or new_height > height:
        raise InvalidInputError(
            f"the keyframes are for frames of at most {width}x{height}; to compute larger ones, run "
            f"`mandelcl zoom --size {new_width}x{new_height}`"
        )
    if abs(new_width * height - new_height * width) > max(width, height):
        raise InvalidInputError(
            f"the aspect ratio of {new_width}x{new_height} differs from the keyframes' {width}x{height}"
        )


def require_colouring(colouring: Colouring) -> None:
    """Raise InvalidInputError for a colouring that films do not support."""
    if colouring.transparent or colouring.height is not None or colouring.depth != 8 or colouring.samples != 1:
        raise InvalidInputError("a film needs colours with 8 bits per channel, without transparency or a height map")
