"""The supported codecs. To add one, add its line in `CODECS`. Nothing here imports the encoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import about

FRAMES = "png"
GIF = "gif"
SLOWEST, FASTEST = Fraction(1, 1000), 1000  # frames per second of any film

_FORMATS: Mapping[str, str] = MappingProxyType(
    {".mp4": "mp4", ".mkv": "matroska", ".webm": "webm", ".mov": "mov", ".gif": "gif"}
)


@dataclass(frozen=True, slots=True)
class Codec:
    """A way to encode frames: FFmpeg's encoder, its pixel format and its settings.

    `quality` is the encoder setting behind --quality, and `quality_is` the form of its value, from 0, the best, to
    `worst`. `sound` is FFmpeg's encoder for the sound of the film. `tag` names the codec in .mp4 and .mov where
    FFmpeg's choice does not play everywhere. A chroma sample covers `wide` by `high` pixels of a frame. Each side of a
    frame has at least `least` pixels, its width and height are at most those of `most`, and there are from `slowest`
    to `fastest` frames per second. A codec without `suffixes` makes a folder.
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
    sound: str = "aac"
    tag: str = ""

    @property
    def is_rgb(self) -> bool:
        """Whether its pixels are red, green and blue, rather than luminance and chroma."""
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
            least=32,  # the encoder hangs if one side has about ten pixels and the other a hundred
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
        "hevc": Codec(
            "libx265",
            "yuv420p",
            (".mp4", ".mkv", ".mov"),
            {"preset": "medium", "crf": "22", "x265-params": "log-level=none"},
            quality="crf",
            worst=51,
            wide=2,
            high=2,
            least=64,  # a coding tree unit; x265 4.1 damages memory at 48 x 32
            most=(8192, 4320),  # level 6.2
            tag="hvc1",
        ),
        "ffv1": Codec("ffv1", "bgr0", (".mkv",), {"level": "3", "slicecrc": "1"}, least=2, sound="flac"),
        "prores": Codec("prores_ks", "yuv422p10le", (".mov", ".mkv"), {"profile": "hq"}, wide=2, sound="pcm_s16le"),
        # GIF counts in hundredths of a second, up to 655 seconds, and players slow down faster films.
        GIF: Codec("gif", "pal8", (".gif",), slowest=Fraction(1, 100), fastest=50, sound=""),
        FRAMES: Codec("png", "rgb24", (), sound=""),
    }
)
NAMES = tuple(CODECS)
SUFFIXES = tuple(_FORMATS)


def codec_for(path: str | Path, name: str | None = None) -> str:
    """Return the name of the codec for a path: the requested one, or the usual one for its suffix.

    A path without a suffix is a folder of frames. Raises InvalidInputError if there is no codec for the suffix, or if
    the requested one does not fit it.
    """
    suffix = Path(path).suffix.lower()
    if name is None:
        usual = next((codec for codec, kind in CODECS.items() if kind.suffixes[:1] == (suffix,)), None)
        if suffix == "":
            return FRAMES
        if usual is None:
            raise InvalidInputError(
                f"the suffix of a film must be {', '.join(SUFFIXES)}, or none for a folder of frames, not {suffix}"
            )
        return usual if suffix != ".mkv" else "h264"
    if name not in CODECS:
        raise InvalidInputError(f"unknown codec {name!r}; use one of {', '.join(NAMES)}")
    suffixes = CODECS[name].suffixes
    if suffix and not suffixes:
        raise InvalidInputError(f"{name} makes a folder of frames; give a name without a suffix, not with {suffix}")
    if suffixes and suffix not in suffixes:
        raise InvalidInputError(f"{name} needs the suffix {' or '.join(suffixes)}, not {suffix or 'a folder'}")
    return name


def container_of(path: str | Path) -> str:
    """Return FFmpeg's name of the container format for a suffix."""
    return _FORMATS[Path(path).suffix.lower()]


def require_encodable(name: str, width: int, height: int, fps: Fraction, quality: int | None) -> None:
    """Raise InvalidInputError for a frame size, a rate or a quality that a codec does not support."""
    codec = CODECS[name]
    if width % codec.wide or height % codec.high:
        sides = "an even width and height" if codec.high > 1 else "an even width"
        raise InvalidInputError(f"{name} needs {sides}, not {width}x{height}; choose another --size, or --codec ffv1")
    narrowest, lowest = max(codec.least, codec.wide), max(codec.least, codec.high)
    widest, highest = codec.most
    if not (narrowest <= width <= widest and lowest <= height <= highest):
        raise InvalidInputError(
            f"{name} supports {narrowest}x{lowest} to {widest}x{highest} pixels, not {width}x{height}; "
            "choose another --size or --codec"
        )
    if not codec.slowest <= fps <= codec.fastest:
        raise InvalidInputError(
            f"{name} supports {codec.slowest} to {codec.fastest} frames per second, not {about(fps)}; "
            "choose another --fps"
        )
    if quality is None:
        return
    if not codec.quality:
        raise InvalidInputError(f"{name} has no quality setting; leave --quality out")
    if not 0 <= quality <= codec.worst:
        raise InvalidInputError(f"the quality of {name} must be from 0, the best, to {codec.worst}, not {quality}")
