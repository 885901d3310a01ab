"""Write frames to a file with FFmpeg's libraries, through PyAV (extra `video`), or as PNGs to a folder."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from mandelcl.base.errors import FileError, MandelclError
from mandelcl.base.extras import load
from mandelcl.files.paths import one_line, replacing, require_writable, target, tempfile_for
from mandelcl.film.assembly import Rgb
from mandelcl.film.codecs import CODECS, FRAMES, GIF, Codec, container_of
from mandelcl.film.sound import Soundtrack, encoder_of

if TYPE_CHECKING:
    import av

_BT709 = 1  # primaries, transfer and matrix (ITU-T H.273)
_SRGB_TRANSFER = 13
_RGB_MATRIX = 0
_TV_RANGE, _FULL_RANGE = 1, 2
_FASTER_FIRST = {
    "movflags": "+faststart"
}  # the index comes first, so that players can start before they have the whole file
_NOTHING_BY_CHANCE = {"fflags": "+bitexact"}  # no random data, such as Matroska's segment ids
_OPAQUE = 255
# The macroblock tree of x264 reads memory it has not written in frames that are narrower than 8 macroblocks.
_TREE_WIDTH = 128  # pixels


class Sink(Protocol):
    """A receiver for the frames of a film, one after the other."""

    def prepared(self, frame: Rgb) -> Any:
        """Convert a frame, height × width × 3, for `put`. Several threads may call this."""

    def put(self, prepared: Any) -> None:
        """Write a frame. The same frame may be written repeatedly."""


def require_encoder(name: str) -> None:
    """Raise MandelclError, which names the extra, if the encoder is not installed or lacks this codec."""
    if name == FRAMES:
        return
    av = load("av", f"{name} films need PyAV", "video")
    try:
        av.Codec(CODECS[name].encoder, "w")
    except ValueError as error:
        raise MandelclError(f"the installed PyAV lacks {CODECS[name].encoder}; choose another --codec") from error


def require_place(path: str | Path, name: str) -> None:
    """Raise FileError if a film cannot be written to a path. Call this before frames are made; it leaves no file."""
    if name != FRAMES:
        require_writable(path)
        return
    with one_line("cannot write", path):
        place = _new_folder(path)
        if not place.parent.is_dir():
            raise FileError(f"cannot write {path}: there is no folder {place.parent}", path)


@contextmanager
def writing(
    path: str | Path,
    name: str,
    size: tuple[int, int],
    fps: Fraction,
    quality: int | None = None,
    colours: Sequence[Rgb] = (),
    sound: str | Path | None = None,
) -> Iterator[Sink]:
    """Yield a sink for the frames of a film. At the end the film replaces the file at its path, or nothing changes.

    `quality` is in the codec's own units; smaller is better. The palette of a GIF is computed from `colours`, some of
    the frames. `sound` is a file whose sound the film has, cut to its length. Raises FileError if the film cannot be
    written or the sound cannot be read.
    """
    require_encoder(name)
    sound_encoder = None if sound is None else encoder_of(path, name)
    if name == FRAMES:
        with _frames_folder(path) as folder:
            yield folder
        return
    os.environ.setdefault("SVT_LOG", "1")  # otherwise SVT-AV1 prints its settings
    import av

    with replacing(path) as tempfile:
        try:
            options = _NOTHING_BY_CHANCE | (_FASTER_FIRST if container_of(path) in ("mp4", "mov") else {})
            with av.open(str(tempfile), "w", format=container_of(path), options=options) as container:
                stream = _Stream(container, CODECS[name], size, fps, quality, colours if name == GIF else ())
                if sound is not None and sound_encoder is not None:
                    stream.soundtrack = Soundtrack(container, sound_encoder, sound)
                yield stream
                stream.finish()
        except av.FFmpegError as error:
            why = error.strerror or "no reason was given"
            whose = "" if error.filename == str(tempfile) else f"{CODECS[name].encoder}: "
            raise FileError(f"cannot write {path}: {whose}{why}", path) from error


class _Stream:
    """The pictures of a film's container, and its sound if it has one."""

    soundtrack: Soundtrack | None = None

    def __init__(
        self,
        container: "av.container.OutputContainer",
        codec: Codec,
        size: tuple[int, int],
        fps: Fraction,
        quality: int | None,
        colours: Sequence[Rgb],
    ) -> None:
        settings = dict(codec.settings)
        if quality is not None:
            settings[codec.quality] = codec.quality_is.format(quality)
        if codec.encoder == "libx264" and size[0] < _TREE_WIDTH:
            settings["mbtree"] = "0"
        self._container, self._codec = container, codec
        stream: Any = container.add_stream(codec.encoder, rate=fps, options=settings)
        self._stream = stream
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = codec.pixels
        context: Any = self._stream.codec_context
        context.thread_type = "AUTO"
        if codec.tag:
            context.codec_tag = codec.tag
        if not colours:
            context.color_primaries = _BT709
            context.color_trc = _SRGB_TRANSFER if codec.is_rgb else _BT709
            context.colorspace = _RGB_MATRIX if codec.is_rgb else _BT709
            context.color_range = _FULL_RANGE if codec.is_rgb else _TV_RANGE
        self._palette = _Palette(colours) if colours else None
        self._count = 0
        self._real_time = sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_FIFO

    def put(self, picture: "av.VideoFrame") -> None:
        """Encode a frame."""
        picture.pts, picture.time_base = self._count, 1 / self._stream.codec_context.framerate
        self._container.mux(self._stream.encode(picture))
        if self._count == 0 and not self._real_time:  # by now the codec has been opened
            _leave_real_time()
        self._count += 1
        if self.soundtrack is not None:
            self.soundtrack.advance(self._count / self._stream.codec_context.framerate)

    def finish(self) -> None:
        """Flush the encoders."""
        self._container.mux(self._stream.encode(None))
        if self.soundtrack is not None:
            self.soundtrack.finish()

    def prepared(self, frame: Rgb) -> "av.VideoFrame":
        """Return a frame in the codec's pixel format."""
        import av
        from av.video.reformatter import ColorRange, Colorspace

        if self._palette is not None:
            return av.VideoFrame.from_ndarray(self._palette.indexed(frame), format="pal8")  # type: ignore[arg-type]
        picture = av.VideoFrame.from_numpy_buffer(frame, format="rgb24")
        if self._codec.is_rgb:
            return picture.reformat(format=self._codec.pixels)
        return picture.reformat(
            format=self._codec.pixels,
            src_color_range=ColorRange.JPEG,
            dst_color_range=ColorRange.MPEG,
            dst_colorspace=Colorspace.ITU709,
            dst_color_primaries=_BT709,  # ProRes reads them from its frames
            dst_color_trc=_BT709,
        )


def _leave_real_time() -> None:
    """Restore normal scheduling for this process's threads. SVT-AV1, run by root, makes its threads real-time threads.

    Those take every core while they work, and child processes would inherit the setting.
    """
    if sys.platform == "linux":
        for thread in Path("/proc/self/task").iterdir():
            with suppress(OSError):  # the thread has ended, or must not be changed
                if os.sched_getscheduler(int(thread.name)) == os.SCHED_FIFO:
                    os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))


class _Palette:
    """256 colours for all frames of a film, and the mapping to them."""

    def __init__(self, frames: Sequence[Rgb]) -> None:
        together = Image.fromarray(np.concatenate([frame.reshape(-1, 1, 3) for frame in frames]))
        self._image = together.quantize(256, Image.Quantize.MEDIANCUT)
        colours = np.zeros((256, 4), np.uint8)
        found = np.array(self._image.getpalette(), np.uint8).reshape(-1, 3)
        colours[: len(found), 1:], colours[:, 0] = found, _OPAQUE
        self._table = colours

    def indexed(self, frame: Rgb) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return the palette indices of a frame's pixels, and the palette: opacity, red, green, blue."""
        picture = Image.fromarray(frame).quantize(palette=self._image, dither=Image.Dither.FLOYDSTEINBERG)
        return np.asarray(picture), self._table


class _Frames:
    """A folder with one PNG per frame."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def prepared(self, frame: Rgb) -> bytes:
        """Return a frame as a PNG."""
        file = BytesIO()
        Image.fromarray(frame).save(file, "png", compress_level=3)
        return file.getvalue()

    def put(self, png: bytes) -> None:
        """Write a frame."""
        (self._folder / f"{self._count:06d}.png").write_bytes(png)
        self._count += 1


@contextmanager
def _frames_folder(path: str | Path) -> Iterator[_Frames]:
    with one_line("cannot write", path):
        place = _new_folder(path)
        with tempfile_for(place) as tempfile:
            tempfile.mkdir()
            yield _Frames(tempfile)
            with suppress(FileNotFoundError):
                place.rmdir()


def _new_folder(path: str | Path) -> Path:
    """Return the path for a new folder of frames. Raises FileError if something exists there."""
    place = target(str(path).rstrip("/"))
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise FileError(f"cannot write {path}: it already exists; choose a new folder for the frames", path)
    return place
