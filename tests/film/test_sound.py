"""The sound of films: the samples of the file, from the first frame to the last, and one line where there is none."""

import wave
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.cli import cli
from mandelcl.film.codecs import CODECS
from mandelcl.film.encoding import writing
from mandelcl.film.folder import Folder
from mandelcl.film.sound import encoder_of, require_sound

av = pytest.importorskip("av", reason="the extra `video` is not installed")

RATE = 44_100  # not that of the film
FRAMES, FPS = 25, 25
FILES = {"h264": ".mp4", "hevc": ".mov", "av1": ".webm", "vp9": ".webm", "ffv1": ".mkv", "prores": ".mov"}
SOUNDS = {"h264": "aac", "hevc": "aac", "av1": "opus", "vp9": "opus", "ffv1": "flac", "prores": "pcm_s16le"}


def tones(path: Path, seconds: float) -> Path:
    """Write a sound: 440 Hz at the left and 1000 Hz at the right, half as loud in its first half second."""
    time = np.arange(round(seconds * RATE)) / RATE
    both = np.stack([np.sin(2 * np.pi * pitch * time) for pitch in (440, 1000)], axis=1)
    both *= np.where(time < 0.5, 8_000, 16_000)[:, np.newaxis]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(both.astype("<i2").tobytes())
    return path


def film(path: Path, name: str, sound: Path) -> None:
    with writing(path, name, (64, 64), Fraction(FPS), sound=sound) as sink:
        for k in range(FRAMES):
            sink.put(sink.prepared(np.full((64, 64, 3), 10 * k, np.uint8)))


def heard(path: Path) -> tuple[np.ndarray, str]:
    """Return the samples of a film's sound, left and right, at 48 kHz, and its codec."""
    with av.open(str(path)) as container:
        assert len(list(container.decode(video=0))) == FRAMES
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        resampler = av.AudioResampler(format="fltp", layout="stereo", rate=48_000)
        decoded = [*container.decode(stream), None]
        parts = [part.to_ndarray() for frame in decoded for part in resampler.resample(frame)]
        return np.concatenate(parts, axis=1), stream.codec_context.name


def loudest_pitch(samples: np.ndarray) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * 48_000 / len(samples))


@pytest.mark.parametrize("name", list(FILES))
def test_decoded_sound_is_that_of_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"film{FILES[name]}"
    film(path, name, tones(tmp_path / "long.wav", 3))
    samples, codec = heard(path)
    assert codec in (SOUNDS[name], f"lib{SOUNDS[name]}")
    assert abs(samples.shape[1] - 48_000 * FRAMES / FPS) <= 2048  # as long as the film: codecs have blocks
    early, late = samples[:, 9_600:19_200], samples[:, 31_200:40_800]
    for part in (early, late):
        assert [round(loudest_pitch(side) / 10) for side in part] == [44, 100]
    ratio = float(np.sqrt((late**2).mean() / (early**2).mean()))
    assert 1.8 < ratio < 2.2


def test_a_short_sound_ends_before_the_film(tmp_path: Path) -> None:
    film(tmp_path / "film.mkv", "ffv1", tones(tmp_path / "short.wav", 0.3))
    assert abs(heard(tmp_path / "film.mkv")[0].shape[1] - 0.3 * 48_000) <= 64


@pytest.mark.parametrize("name", ["h264", "vp9", "prores"])
def test_bytes_with_sound_are_reproducible(name: str, tmp_path: Path) -> None:
    sound, path, files = tones(tmp_path / "a.wav", 2), tmp_path / f"film{FILES[name]}", []
    for _ in range(2):
        film(path, name, sound)
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_files_without_sound_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read the sound of .*none\.wav: No such file"):
        require_sound(tmp_path / "none.wav")
    (tmp_path / "text.mp3").write_text("not a sound")
    with pytest.raises(FileError, match=r"cannot read the sound of .*text\.mp3: Invalid data"):
        require_sound(tmp_path / "text.mp3")
    with writing(tmp_path / "mute.mp4", "h264", (64, 64), Fraction(30)) as sink:
        sink.put(sink.prepared(np.zeros((64, 64, 3), np.uint8)))
    with pytest.raises(FileError, match=r"mute\.mp4 has no sound"):
        require_sound(tmp_path / "mute.mp4")
    for name in CODECS.keys() - FILES:
        with pytest.raises(InvalidInputError, match=f"^{name} has no sound; leave --audio out"):
            encoder_of("a", name)


def test_film_has_sound_and_refuses_before_it_computes(computed: Folder, tmp_path: Path) -> None:
    sound, made = tones(tmp_path / "a.wav", 2), tmp_path / "film.mp4"
    result = CliRunner().invoke(cli, ["film", str(computed.path), "-o", str(made), "--audio", str(sound), "--json"])
    assert (result.exit_code, result.stderr) == (0, "")
    with av.open(str(made)) as container:
        assert [stream.type for stream in container.streams] == ["video", "audio"]
    result = CliRunner().invoke(cli, ["zoom", "-o", str(tmp_path / "b.gif"), "--fps", "10", "--audio", str(sound)])
    assert result.exit_code
    assert {path.name for path in tmp_path.iterdir()} == {"a.wav", "film.mp4"}
