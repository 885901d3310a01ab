"""Options of films: their speed, size and encoding."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mandelcl.base.exact import parse_number, parse_size
from mandelcl.cli import completion
from mandelcl.cli.options import with_options
from mandelcl.film.codecs import NAMES, SUFFIXES, codec_for, require_encodable

if TYPE_CHECKING:
    from mandelcl.film.keyframes import Computed
    from mandelcl.film.making import Made
    from mandelcl.film.plan import FilmPlan
    from mandelcl.film.timing import Timing

_F = TypeVar("_F", bound=Callable[..., Any])

OUTPUT_HELP = f"{', '.join(SUFFIXES)}, or a new folder for one PNG per frame (a name without a suffix)."

_OPTIONS = (
    click.option(
        "--fps", default="30", show_default=True, metavar="RATE", help="Frames per second, like 60 or 30000/1001."
    ),
    click.option(
        "--speed", type=float, default=1.0, show_default=True, metavar="RATE", help="Doublings of the zoom per second."
    ),
    click.option("--seconds", type=float, metavar="S", help="The length of the film, instead of --speed."),
    click.option(
        "--ease",
        type=float,
        default=1.0,
        show_default=True,
        metavar="S",
        help="Seconds to accelerate from each stop, and to slow down before it.",
    ),
    click.option(
        "--hold", type=float, default=1.0, show_default=True, metavar="S", help="Seconds of rest at each stop."
    ),
    click.option("--reverse", is_flag=True, help="Run the film backward."),
    click.option(
        "--codec", type=click.Choice(NAMES), help="The video codec. [default: the usual one for FILE's suffix]"
    ),
    click.option(
        "--quality",
        type=int,
        metavar="N",
        help="The codec's own scale; 0 is the best. [default: 18 for h264, 22 for hevc, else 28]",
    ),
    click.option(
        "--audio",
        type=completion.FILE,
        metavar="FILE",
        help="The film's sound, such as a .flac, .mp3, .ogg or .wav; it ends with the film.",
    ),
    click.option(
        "--caption",
        is_flag=False,
        flag_value="zoom {zoom}",
        metavar="[TEXT]",
        help="Write the zoom in each frame, or a TEXT with {zoom}, {iterations}, {re} and {im}.",
    ),
)


def film_options(function: _F) -> _F:
    """Add the options that describe a film made from keyframes."""
    return with_options(_OPTIONS, function)


@dataclass(frozen=True, slots=True)
class FilmOptions:
    """The options of a film as given."""

    fps: str
    speed: float
    seconds: float | None
    ease: float
    hold: float
    reverse: bool
    codec: str | None
    quality: int | None
    audio: str | None
    caption: str | None

    @classmethod
    def taken_from(cls, values: dict[str, Any]) -> "FilmOptions":
        """Pop these options from click's values and return them."""
        return cls(**{name: values.pop(name) for name in cls.__slots__})

    @property
    def rate(self) -> Fraction:
        """Frames per second."""
        return parse_number(self.fps, "--fps")

    def timing(self) -> "Timing":
        """Return the film's timing. Raises InvalidInputError if no film can have it."""
        from mandelcl.film.timing import Timing

        return Timing(self.rate, self.speed, self.ease, self.hold, self.reverse, self.seconds)

    def require_output(self, path: str, width: int, height: int) -> str:
        """Return the codec of a film. Raises, before anything is computed, if the film cannot be written to `path`."""
        from mandelcl.film.captions import require_caption
        from mandelcl.film.encoding import require_encoder, require_place
        from mandelcl.film.sound import encoder_of, require_sound

        name = codec_for(path, self.codec)
        require_encodable(name, width, height, self.rate, self.quality)
        require_encoder(name)
        require_place(path, name)
        if self.caption is not None:
            require_caption(self.caption)
        if self.audio is not None:
            encoder_of(path, name)
            require_sound(self.audio)
        return name


def size_of(text: str | None, default: tuple[int, int]) -> tuple[int, int]:
    """Return the frame size from the option's text, or the default."""
    return default if text is None else parse_size(text)


def summary(path: str, plan: "FilmPlan", size: tuple[int, int], timing: "Timing", made: "Made") -> str:
    """Return a one-line summary of a finished film."""
    return (
        f"{path}: {made.frames} frames of {size[0]}x{size[1]}, {float(made.frames / timing.fps):.1f} s at "
        f"{float(timing.fps):g} frames/s, from {plan.keyframes} keyframes; made in {made.seconds:.1f} s, "
        f"{made.bound} took most of the time"
    )


def as_json(
    plan: "FilmPlan",
    size: tuple[int, int],
    timing: "Timing",
    codec: str,
    made: "Made",
    computed: "Computed | None" = None,
) -> dict[str, Any]:
    """Return the report on a film as JSON-ready values."""
    values: dict[str, Any] = {
        "width": size[0],
        "height": size[1],
        "frames": made.frames,
        "fps": float(timing.fps),
        "duration_s": float(made.frames / timing.fps),
        "doublings": sum(plan.doublings),
        "codec": codec,
        "keyframes": plan.keyframes,
        "film_s": made.seconds,
        "stages_s": made.stages,
        "encoder_waited_s": made.waited,
        "keyframes_waited_s": made.waited_for_keyframes,
        "encode_wall_s": made.encoding,
        "frames_device": made.device,
        "bound": made.bound,
    }
    if computed is not None:
        values["computed"] = {
            "keyframes": computed.keyframes,
            "pixels": computed.pixels,
            "pixels_taken_over": computed.taken_over,
            "iterations_total": computed.iterations,
            "wall_s": computed.seconds,
            "kernel_s": computed.kernel_seconds,
            "waited_for_references_s": computed.waited_for_references,
            "waited_for_writing_s": computed.waited_for_writing,
            "device": list(computed.device),
            "numbers": list(computed.numbers),
        }
    return values
