"""Files of films: codecs, tags, the exact number of frames, and nothing half-written."""

import errno
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from mandelcl.base import extras
from mandelcl.base.errors import CancelledError, FileError, InvalidInputError, MandelclError
from mandelcl.film import encoding
from mandelcl.film.assembly import Rgb
from mandelcl.film.codecs import CODECS, codec_for, require_encodable
from mandelcl.film.encoding import require_place, writing
from mandelcl.film.folder import Folder
from mandelcl.film.making import make_film
from mandelcl.film.timing import Timing
from tests import posix

av = pytest.importorskip("av", reason="the extra `video` is not installed")

FRAMES = 7
# The codec, its file, pixels, and tags: primaries, transfer, matrix and range as ITU-T H.273 numbers them.
KINDS = {
    "h264": ("h264.mp4", "yuv420p", (1, 1, 1, 1)),
    "av1": ("av1.webm", "yuv420p", (1, 1, 1, 1)),
    "vp9": ("vp9.webm", "yuv420p", (1, 1, 1, 1)),
    "hevc": ("hevc.mp4", "yuv420p", (1, 1, 1, 1)),
    "ffv1": ("ffv1.mkv", "bgr0", (1, 13, 0, 2)),
    "prores": ("prores.mov", "yuv422p10le", (1, 1, 1, 1)),
    "gif": ("film.gif", "bgra", None),
}


def pictures(width: int = 64, height: int = 64) -> Iterator[Rgb]:
    """Yield frames of the corners of the colour cube, each in a field of its own, and a grey that grows."""
    for k in range(FRAMES):
        frame = np.zeros((height, width, 3), np.uint8)
        for corner in range(8):
            columns = slice(corner * width // 8, (corner + 1) * width // 8)
            frame[:, columns] = [255 * (corner >> bit & 1) for bit in range(3)]
        frame[: height // 2] = 30 * k
        yield frame


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc")
@pytest.mark.parametrize("name", ["av1", "h264"])
def test_encoder_starts_no_real_time_thread(name: str, tmp_path: Path) -> None:
    """As SVT-AV1 would have it where root runs it."""
    with writing(tmp_path / KINDS[name][0], name, (64, 64), Fraction(30)) as sink:
        for frame in pictures():
            sink.put(sink.prepared(frame))
        threads = [int(thread.name) for thread in Path("/proc/self/task").iterdir()]
        assert posix.os.SCHED_FIFO not in {posix.os.sched_getscheduler(thread) for thread in threads}


@pytest.mark.parametrize("name", list(KINDS))
def test_film_bytes_are_reproducible(name: str, tmp_path: Path) -> None:
    place = tmp_path / KINDS[name][0]
    files = []
    for _ in range(2):
        with writing(place, name, (64, 64), Fraction(30), None, list(pictures())) as sink:
            for frame in pictures():
                sink.put(sink.prepared(frame))
        files.append(place.read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("name", list(KINDS))
def test_a_film_has_its_codec_its_tags_and_every_frame(name: str, tmp_path: Path) -> None:
    file, pixels, tags = KINDS[name]
    rate = Fraction(30000, 1001) if name != "gif" else Fraction(25)
    frames = list(pictures())
    with writing(tmp_path / file, name, (64, 64), rate, colours=frames if name == "gif" else ()) as sink:
        for frame in frames:
            sink.put(sink.prepared(frame))
    with av.open(str(tmp_path / file)) as container:
        stream = container.streams.video[0]
        context = stream.codec_context
        shown = [frame.reformat(format="rgb24").to_ndarray() for frame in container.decode(stream)]
        assert len(shown) == FRAMES
        assert CODECS[name].encoder.startswith(("lib", "prores", context.name))
        assert context.name in {"av1": ("libdav1d", "av1", "libaom-av1")}.get(name, (name,))
        assert (context.width, context.height, context.pix_fmt) == (64, 64, pixels)
        if tags is not None:
            found = (context.color_primaries, context.color_trc, context.colorspace, context.color_range)
            assert found == tags
        assert abs(stream.average_rate - rate) < 0.05
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert np.array(shown).shape == np.array(frames).shape


# A field of each: the corners of the colour cube, and colours whose channels all differ.
COLOURS = [*product((0, 255), repeat=3), (213, 128, 20), (20, 213, 128), (128, 20, 213), (250, 180, 40)]
FIELD = 32  # pixels
# How far the mean of a field may be off in a channel: luminance of 8 bits, and what a codec leaves out.
TOLERANCES = {"h264": 5, "av1": 5, "vp9": 5, "hevc": 5, "ffv1": 0, "prores": 5, "gif": 3, "png": 0}


@pytest.mark.parametrize("name", list(CODECS))
def test_decoded_colours_are_those_of_the_frames(name: str, tmp_path: Path) -> None:
    """In each channel, with whatever decodes: red must not come back as green."""
    fields = np.repeat(np.array([COLOURS], np.uint8), FIELD, axis=1)
    frames = [np.repeat(np.roll(fields, k * FIELD, axis=1), 48, axis=0) for k in range(4)]
    path = tmp_path / (KINDS[name][0] if name in KINDS else "frames")
    size = (len(COLOURS) * FIELD, 48)
    with writing(path, name, size, Fraction(25), colours=frames if name == "gif" else ()) as sink:
        for frame in frames:
            sink.put(sink.prepared(frame))
    shown = [by_pillow(path)] if name in ("gif", "png") else []
    if name != "png":
        shown.append(by_ffmpeg(path))
    middle = slice(FIELD // 4, 3 * FIELD // 4)  # colours are mixed where two fields meet
    for decoded in shown:
        assert len(decoded) == len(frames)
        for frame, found in zip(frames, decoded, strict=True):
            for field in range(len(COLOURS)):
                columns = slice(field * FIELD + middle.start, field * FIELD + middle.stop)
                mean = found[16:32, columns].mean(axis=(0, 1))
                assert np.abs(mean - frame[16, columns.start]).max() <= TOLERANCES[name], (
                    mean,
                    frame[16, columns.start],
                )


def by_ffmpeg(path: Path) -> list[Rgb]:
    """Return the frames of a film, red, green, blue; none of their pixels may be transparent."""
    with av.open(str(path)) as container:
        frames = [frame.reformat(format="rgba").to_ndarray() for frame in container.decode(video=0)]
    assert all((frame[..., 3] == 255).all() for frame in frames)
    return [frame[..., :3] for frame in frames]


def by_pillow(path: Path) -> list[Rgb]:
    """Return the frames of a GIF or in a folder of PNGs, as Pillow reads them, which has decoders of its own."""
    if path.is_dir():
        return [np.asarray(Image.open(file)) for file in sorted(path.iterdir())]
    with Image.open(path) as film:
        return [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]


def test_hevc_has_the_tag_that_players_of_apple_ask_for(tmp_path: Path) -> None:
    with writing(tmp_path / "a.mp4", "hevc", (64, 64), Fraction(30)) as sink:
        for frame in pictures():
            sink.put(sink.prepared(frame))
    with av.open(str(tmp_path / "a.mp4")) as container:
        assert container.streams.video[0].codec_context.codec_tag == "hvc1"


def test_a_missing_encoder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = {"hevc": replace(CODECS["hevc"], encoder="libnothere")}
    monkeypatch.setattr(encoding, "CODECS", lacking)
    with pytest.raises(MandelclError, match=r"^the installed PyAV lacks libnothere; choose another --codec$"):
        encoding.require_encoder("hevc")


def test_frames_of_png(tmp_path: Path) -> None:
    with writing(tmp_path / "frames", "png", (64, 64), Fraction(30)) as sink:
        for frame in pictures():
            sink.put(sink.prepared(frame))
    names = sorted(path.name for path in (tmp_path / "frames").iterdir())
    assert names == [f"{k:06d}.png" for k in range(FRAMES)]
    with Image.open(tmp_path / "frames" / names[3]) as image:
        assert np.array_equal(np.asarray(image), list(pictures())[3])
    with pytest.raises(FileError, match="choose a new folder for the frames"):
        require_place(tmp_path / "frames", "png")


@pytest.mark.parametrize(("name", "file"), [("h264", "film.mp4"), ("ffv1", "film.mkv"), ("png", "frames")])
def test_a_film_that_is_stopped_leaves_nothing(name: str, file: str, tmp_path: Path) -> None:
    if name != "png":
        (tmp_path / file).write_bytes(b"earlier")
    with pytest.raises(CancelledError), writing(tmp_path / file, name, (64, 64), Fraction(30)) as sink:  # noqa: PT012
        sink.put(sink.prepared(next(pictures())))
        raise CancelledError("stopped")
    assert [path.name for path in tmp_path.iterdir()] == ([] if name == "png" else [file])
    assert name == "png" or (tmp_path / file).read_bytes() == b"earlier"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(MandelclError, match="h264 films need PyAV: ") as error:
        encoding.require_encoder("h264")
    assert extras.how_to_install("video") in str(error.value)
    encoding.require_encoder("png")


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("a.mp4", None, "h264"),
        ("a.MKV", None, "h264"),
        ("a.webm", None, "vp9"),
        ("a.mov", None, "prores"),
        ("a.gif", None, "gif"),
        ("frames", None, "png"),
        ("a.mkv", "ffv1", "ffv1"),
        ("a.mp4", "av1", "av1"),
    ],
)
def test_suffixes_choose_codecs(path: str, name: str | None, expected: str) -> None:
    assert codec_for(path, name) == expected


@pytest.mark.parametrize(
    ("path", "name"), [("a.avi", None), ("a.mp4", "ffv1"), ("a", "h264"), ("a.mp4", "h266"), ("a.mp4", "png")]
)
def test_unsupported_containers_are_refused(path: str, name: str | None) -> None:
    with pytest.raises(InvalidInputError, match=r"needs the suffix|must be \.mp4|unknown codec|without a suffix"):
        codec_for(path, name)


QUALITIES = {"h264": (0, 1, 30), "hevc": (0, 4, 30), "av1": (0, 1, 28), "vp9": (0, 4, 28)}


@pytest.mark.parametrize("name", list(QUALITIES))
def test_lower_quality_value_is_better_down_to_0(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frames = [rng.integers(0, 256, (9, 16, 3), np.uint8).repeat(8, axis=0).repeat(8, axis=1) for _ in range(3)]
    frames = [np.clip(frame + rng.normal(0, 12, frame.shape), 0, 255).astype(np.uint8) for frame in frames]
    sizes, errors = [], []
    for quality in QUALITIES[name]:
        path = tmp_path / KINDS[name][0]
        with writing(path, name, (128, 72), Fraction(25), quality) as sink:
            for frame in frames:
                sink.put(sink.prepared(frame))
        sizes.append(path.stat().st_size)
        errors.append(float(np.abs(np.array(by_ffmpeg(path), float) - frames).mean()))
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert errors == sorted(errors)


@pytest.mark.parametrize("name", list(CODECS))
def test_the_smallest_frames_and_the_first_and_last_rates_are_encoded(name: str, tmp_path: Path) -> None:
    codec = CODECS[name]
    width, height = max(codec.least, codec.wide), max(codec.least, codec.high)
    for number, fps in enumerate((codec.slowest, Fraction(codec.fastest), min(Fraction(codec.fastest), UNEVEN))):
        path = tmp_path / f"{number}{codec.suffixes[0] if codec.suffixes else ''}"
        require_encodable(name, width, height, fps, None)
        frames = list(pictures(width, height))
        with writing(path, name, (width, height), fps, colours=frames if name == "gif" else ()) as sink:
            for frame in frames:
                sink.put(sink.prepared(frame))
        shown = by_pillow(path) if name == "png" else by_ffmpeg(path)
        assert np.array(shown).shape == np.array(frames).shape


UNEVEN = Timing(Fraction(10**8 - 1, 3 * 10**6 + 1)).fps  # of numbers about as large as a rate's may be


def test_av1_encodes_thin_pictures(tmp_path: Path) -> None:
    """As thin as it may be: where it was thinner, it waited for ever."""
    with writing(tmp_path / "a.webm", "av1", (512, CODECS["av1"].least), Fraction(30)) as sink:
        for frame in pictures(512, CODECS["av1"].least):
            sink.put(sink.prepared(frame))
    assert len(by_ffmpeg(tmp_path / "a.webm")) == FRAMES


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("name", list(KINDS))
def test_disk_error_is_reported_verbatim(name: str, tmp_path: Path) -> None:
    path = tmp_path / KINDS[name][0]
    rng = np.random.default_rng(5)
    frame = rng.integers(0, 256, (256, 256, 3), np.uint8)
    gif = [frame] if name == "gif" else []
    with posix.limited(posix.resource.RLIMIT_FSIZE, 20_000), pytest.raises(FileError) as error:  # noqa: PT012, SIM117
        with writing(path, name, (256, 256), Fraction(25), colours=gif) as sink:
            for _ in range(20):
                sink.put(sink.prepared(frame))
    assert str(error.value) == f"cannot write {path}: {os.strerror(errno.EFBIG)}"
    assert list(tmp_path.iterdir()) == []


def test_encoder_error_omits_the_tempfile_name(tmp_path: Path) -> None:
    with pytest.raises(FileError) as error, writing(tmp_path / "a.mp4", "h264", (7, 5), Fraction(25)):
        pass
    assert re.fullmatch(r"cannot write .*a\.mp4: libx264: [A-Z][a-z ]+", str(error.value))


def test_unsupported_codec_options_are_refused() -> None:
    for name, size, fps, quality in (
        ("h264", (0, 0), 30, None),
        ("png", (0, 36), 30, None),
        ("av1", (2, 2), 30, None),
        ("av1", (512, 16), 30, None),
        ("av1", (64, 36), 241, None),
        ("av1", (64, 9000), 30, None),
        ("h264", (16386, 36), 30, None),
        ("ffv1", (1, 36), 30, None),
        ("gif", (64, 36), Fraction(1, 101), None),
        ("vp9", (64, 36), Fraction("1e400"), None),
        ("vp9", (64, 36), Fraction("1e-9"), None),
        ("h264", (63, 36), 30, None),
        ("vp9", (64, 35), 30, None),
        ("prores", (63, 35), 30, None),
        ("gif", (64, 36), 60, None),
        ("h264", (64, 36), 30, 52),
        ("ffv1", (64, 36), 30, 5),
    ):
        with pytest.raises(InvalidInputError):
            require_encodable(name, *size, Fraction(fps), quality)
    require_encodable("ffv1", 63, 35, Fraction(30), None)
    require_encodable("prores", 64, 35, Fraction(30), None)


def test_film_from_keyframes_is_reproducible(computed: Folder, tmp_path: Path) -> None:
    shown: list[tuple[int, int]] = []
    timing = Timing(Fraction(10), hold=0.5)
    made = [
        make_film(computed, str(tmp_path / file), computed.plan.colouring, timing, codec="ffv1", progress=progress)
        for file, progress in (("a.mkv", None), ("b.mkv", lambda done, total: shown.append((done, total))))
    ]
    assert made[0].frames == made[1].frames == timing.frame_count(computed.plan.doublings)
    assert shown == [(k + 1, made[1].frames) for k in range(made[1].frames)]
    frames = []
    for file in ("a.mkv", "b.mkv"):
        with av.open(str(tmp_path / file)) as container:
            frames.append([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])
    assert len(frames[0]) == made[0].frames
    assert np.array_equal(frames[0], frames[1])
    reverse = Timing(Fraction(10), hold=0.5, reverse=True)
    make_film(computed, str(tmp_path / "back.mkv"), computed.plan.colouring, reverse, codec="ffv1")
    with av.open(str(tmp_path / "back.mkv")) as container:
        assert np.array_equal(frames[0][::-1], [f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


@pytest.mark.parametrize(
    "name", [name for name in CODECS if name not in ("ffv1", "av1", "hevc")]
)  # two take none so small
def test_a_film_has_the_colours_of_its_keyframes_in_every_codec(name: str, computed: Folder, tmp_path: Path) -> None:
    timing = Timing(Fraction(5), hold=0.2)
    path = tmp_path / (KINDS[name][0] if name in KINDS else "frames")
    for place, codec in ((path, name), (tmp_path / "exact.mkv", "ffv1")):
        make_film(computed, str(place), computed.plan.colouring, timing, codec=codec)
    exact = np.array(by_ffmpeg(tmp_path / "exact.mkv"), float)
    shown = np.array(by_pillow(path) if name == "png" else by_ffmpeg(path), float)
    assert shown.shape == exact.shape
    # In blocks of 16 × 14 pixels, since codecs leave out the finest of a small picture, and a GIF dithers.
    blocks = np.abs((shown - exact).reshape(len(exact), 2, 14, 3, 16, 3).mean(axis=(2, 4)))
    assert blocks.max() <= (0 if name == "png" else 12)


def test_a_film_can_be_stopped(computed: Folder, tmp_path: Path) -> None:
    class Soon:
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 20

    with pytest.raises(CancelledError):
        make_film(computed, str(tmp_path / "a.mp4"), computed.plan.colouring, Timing(), cancel=Soon())
    assert list(tmp_path.iterdir()) == []
