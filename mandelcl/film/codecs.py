"""The kinds of film there are. To add one: its line in `CODECS`; nothing here loads what encodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from mandelcl.errors import InvalidInputError

FRAMES = "png"
GIF = "gif"
_MOST_GIF_RATE = 50  # a GIF counts in hundredths of a second, and players slow down what is faster

_FORMATS: Mapping[str, str] = MappingProxyType(
    {".mp4": "mp4", ".mkv": "matroska", ".webm": "webm", ".mov": "mov", ".gif": "gif"}
)


@dataclass(frozen=True, slots=True)
class Codec:
    """How frames are encoded: FFmpeg's encoder, its pixels and its settings.

    `quality` is the setting that --quality sets, with its range from best to worst. Pixels of a colour are `wide` by
    `high` pixels of a frame. A codec without `suffixes` makes a folder.
    """

    encoder: str
    pixels: str
    suffixes: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    quality: str = ""
    worst: int = 0
    wide: int = 1
    high: int = 1

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
        ),
        "av1": Codec(
            "libsvtav1",
            "yuv420p",
            (".mp4", ".mkv", ".webm"),
            {"preset": "8", "crf": "28"},
            quality="crf",
            worst=63,
            wide=2,
            high=2,
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
        "ffv1": Codec("ffv1", "bgr0", (".mkv",), {"level": "3", "slicecrc": "1"}),
        "prores": Codec("prores_ks", "yuv422p10le", (".mov", ".mkv"), {"profile": "hq"}, wide=2),
        GIF: Codec("gif", "pal8", (".gif",)),
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
    if suffixes and suffix not in suffixes:
        raise InvalidInputError(f"{name} is written as {' or '.join(suffixes)}, not as {suffix or 'a folder'}")
    return name


def container_of(path: str | Path) -> str:
    """Return FFmpeg's name of the kind of file that a suffix stands for."""
    return _FORMATS[Path(path).suffix.lower()]


def require_encodable(name: str, width: int, height: int, fps: float, quality: int | None) -> None:
    """Raise InvalidInputError for frames, a rate or a quality that a codec does not take."""
    codec = CODECS[name]
    if width % codec.wide or height % codec.high:
        sides = "an even width and height" if codec.high > 1 else "an even width"
        raise InvalidInputError(f"{name} needs {sides}, not {width}x{height}; choose another --size, or --codec ffv1")
    if name == GIF and fps > _MOST_GIF_RATE:
        raise InvalidInputError(f"a GIF has at most {_MOST_GIF_RATE} frames a second; choose a lower --fps")
    if quality is None:
        return
    if not codec.quality:
        raise InvalidInputError(f"{name} has no quality to choose; leave --quality out")
    if not 0 <= quality <= codec.worst:
        raise InvalidInputError(f"the quality of {name} is from 0, the best, to {codec.worst}, not {quality}")
