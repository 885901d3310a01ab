"""The kinds of film there are. To add one: its line in `CODECS`; nothing here loads what encodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import about

FRAMES = "png"
GIF = "gif"
SLOWEST, FASTEST = Fraction(1, 1000), 1000  # frames a second of any film

_FORMATS: Mapping[str, str] = MappingProxyType(
    {".mp4": "mp4", ".mkv": "matroska", ".webm": "webm", ".mov": "mov", ".gif": "gif"}
)


@dataclass(frozen=True, slots=True)
class Codec:
    """How frames are encoded: FFmpeg's encoder, its pixels and its settings.

    `quality` is the setting that --quality sets, its value as `quality_is` has it, from 0, the best, to `worst`. Pixels
    of a colour are `wide` by `high` pixels of a frame. Each side of a frame has at least `least` pixels, width and
    height at most those of `most`, and there are from `slowest` to `fastest` frames a second. A codec without
    `suffixes` makes a folder.
    """

    encoder: str
    pixels: str
    suffixes: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    quality: str = ""
    quality_is: str = "{}"
    worst: int = 0
    wide: int = 1
    high: int = 1
    least: int = 1
    most: tuple[int, int] = (65535, 65535)
    slowest: Fraction = SLOWEST
    fastest: int = FASTEST

    @property
    def is_rgb(self) -> bool:
        """Whether its pixels are red, green and blue, not luminance and colour."""
        return self.pixels in ("bgr0", "pal8", "rgb24")


CODECS: Mapping[str, Codec] = MappingProxyType(
    {
        "h264": Codec(
            "libx264",
            "yuv420p",
            (".mp4", ".mkv", ".mov"),
            {"preset": "medium", "crf": "18"},
            quality="crf",
            worst=51,
            wide=2,
            high=2,
            most=(16384, 16384),
        ),
        "av1": Codec(
            "libsvtav1",
            "yuv420p",
            (".mp4", ".mkv", ".webm"),
            {"preset": "8", "svtav1-params": "crf=28"},
            quality="svtav1-params",  # FFmpeg's own setting, crf, takes 0 as "not set"
            quality_is="crf={}",
            worst=63,
            wide=2,
            high=2,
            least=32,  # it hangs where one side has some ten pixels and the other a hundred
            most=(16384, 8704),
            fastest=240,
        ),
        "vp9": Codec(
            "libvpx-vp9",
            "yuv420p",
            (".webm", ".mkv", ".mp4"),
            {"crf": "28", "b": "0", "deadline": "good", "cpu-used": "4", "row-mt": "1"},
            quality="crf",
            worst=63,
            wide=2,
            high=2,
        ),
        "ffv1": Codec("ffv1", "bgr0", (".mkv",), {"level": "3", "slicecrc": "1"}, least=2),
        "prores": Codec("prores_ks", "yuv422p10le", (".mov", ".mkv"), {"profile": "hq"}, wide=2),
        # It counts in hundredths of a second, to 655 seconds, and players slow down what is faster.
        GIF: Codec("gif", "pal8", (".gif",), slowest=Fraction(1, 100), fastest=50),
        FRAMES: Codec("png", "rgb24", ()),
    }
)
NAMES = tuple(CODECS)
SUFFIXES = tuple(_FORMATS)


def codec_for(path: str | Path, name: str | None = None) -> str:
    """Return the name of the codec for a path: the one asked for, or the one usual for its suffix.

    A path without a suffix is a folder of frames. Raises InvalidInputError where there is none, or the two do not go
    together.
    """
    suffix = Path(path).suffix.lower()
    if name is None:
        usual = next((codec for codec, kind in CODECS.items() if kind.suffixes[:1] == (suffix,)), None)
        if suffix == "":
            return FRAMES
        if usual is None:
            raise InvalidInputError(
                f"a film is written as {', '.join(SUFFIXES)}, or as a folder of frames (a name without a suffix), "
                f"not as {suffix}"
            )
        return usual if suffix != ".mkv" else "h264"
    if name not in CODECS:
        raise InvalidInputError(f"unknown codec {name!r}; there is {', '.join(NAMES)}")
    suffixes = CODECS[name].suffixes
    if suffix and not suffixes:
        raise InvalidInputError(f"{name} makes a folder of frames; give a name without a suffix, not one in {suffix}")
    if suffixes and suffix not in suffixes:
        raise InvalidInputError(f"{name} is written as {' or '.join(suffixes)}, not as {suffix or 'a folder'}")
    return name


def container_of(path: str | Path) -> str:
    """Return FFmpeg's name of the kind of file that a suffix stands for."""
    return _FORMATS[Path(path).suffix.lower()]


def require_encodable(name: str, width: int, height: int, fps: Fraction, quality: int | None) -> None:
    """Raise InvalidInputError for frames, a rate or a quality that a codec does not take."""
    codec = CODECS[name]
    if width % codec.wide or height % codec.high:
        sides = "an even width and height" if codec.high > 1 else "an even width"
        raise InvalidInputError(f"{name} needs {sides}, not {width}x{height}; choose another --size, or --codec ffv1")
    narrowest, lowest = max(codec.least, codec.wide), max(codec.least, codec.high)
    widest, highest = codec.most
    if not (narrowest <= width <= widest and lowest <= height <= highest):
        raise InvalidInputError(
            f"{name} takes from {narrowest}x{lowest} to {widest}x{highest} pixels, not {width}x{height}; "
            "choose another --size or --codec"
        )
    if not codec.slowest <= fps <= codec.fastest:
        raise InvalidInputError(
            f"{name} takes from {codec.slowest} to {codec.fastest} frames a second, not {about(fps)}; "
            "choose another --fps"
        )
    if quality is None:
        return
    if not codec.quality:
        raise InvalidInputError(f"{name} has no quality to choose; leave --quality out")
    if not 0 <= quality <= codec.worst:
        raise InvalidInputError(f"the quality of {name} is from 0, the best, to {codec.worst}, not {quality}")
