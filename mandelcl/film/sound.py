"""The sound of a film: any file that FFmpeg's libraries decode, cut to the length of the film."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.extras import load
from mandelcl.film.codecs import CODECS, container_of

if TYPE_CHECKING:
    import av
    import numpy as np
    import numpy.typing as npt

_RATE = 48_000  # samples per second; Opus has no other
_BITS = 192_000  # per second, of codecs that leave something out


def encoder_of(path: str | Path, name: str) -> str:
    """Return FFmpeg's encoder for the sound of a film with this path and video codec.

    Raises InvalidInputError for films without sound.
    """
    codec = CODECS[name]
    if not codec.sound:
        raise InvalidInputError(f"{name} has no sound; leave --audio out, or write .mp4, .mkv, .mov or .webm")
    return "libopus" if container_of(path) == "webm" else codec.sound


def require_sound(sound: str | Path) -> None:
    """Raise FileError if a file has no sound that can be decoded, and MandelclError without the extra `video`."""
    load("av", "sound needs PyAV", "video")
    next(_decoded(sound), None)


class Soundtrack:
    """The sound stream of a film's container, encoded step by step beside the frames."""

    def __init__(self, container: "av.container.OutputContainer", encoder: str, sound: str | Path) -> None:
        options = {} if encoder in ("flac", "pcm_s16le") else {"b": str(_BITS)}
        self._container = container
        stream: Any = container.add_stream(encoder, rate=_RATE, options=options)
        self._stream = stream
        stream.codec_context.layout = "stereo"
        self._samples = _decoded(sound)
        self._written = 0
        self._coming: npt.NDArray[np.float32] | None = None

    def advance(self, seconds: Fraction) -> None:
        """Encode the sound up to a time of the film, to a sample. A shorter sound ends before."""
        import av

        end = round(seconds * _RATE)
        while self._written < end:
            samples = self._coming if self._coming is not None else next(self._samples, None)
            if samples is None:
                return
            now, later = samples[:, : end - self._written], samples[:, end - self._written :]
            self._coming = later if later.shape[1] else None
            frame = av.AudioFrame.from_ndarray(now, format="fltp", layout="stereo")
            frame.sample_rate, frame.pts, frame.time_base = _RATE, self._written, Fraction(1, _RATE)
            self._written += now.shape[1]
            self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Flush the encoder."""
        self._container.mux(self._stream.encode(None))


def _decoded(sound: str | Path) -> "Iterator[npt.NDArray[np.float32]]":
    """Yield the samples of a file's first sound stream: left and right × time. Raises FileError."""
    import av
    import numpy as np

    try:
        with av.open(str(sound)) as container:
            if not container.streams.audio:
                raise FileError(f"{sound} has no sound", sound)
            resampler = av.AudioResampler(format="fltp", layout="stereo", rate=_RATE)
            for frame in container.decode(container.streams.audio[0]):
                for part in resampler.resample(frame):
                    yield np.ascontiguousarray(part.to_ndarray(), np.float32)
            for part in resampler.resample(None):
                yield np.ascontiguousarray(part.to_ndarray(), np.float32)
    except (av.FFmpegError, OSError) as error:
        raise FileError(
            f"cannot read the sound of {sound}: {error.strerror or 'it cannot be decoded'}", sound
        ) from None
