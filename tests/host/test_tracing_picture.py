"""The picture of what border tracing filled: its colours, and a file that is written as safely as the others."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.errors import FileError
from mandelcl.base.view import View
from mandelcl.base.words import NO_COUNT, Words
from mandelcl.colour.tracing_picture import TracingPicture
from mandelcl.core.block import Block

ITERATIONS = 9
MIXED = NO_COUNT


def words(*values: int) -> Words:
    return np.array(values, np.uint32)


@pytest.fixture
def traced(tmp_path: Path) -> TracingPicture:
    """A picture of 8 × 6 with two rectangles: one filled with the iteration limit, one that was computed."""
    picture = TracingPicture(tmp_path / "how.png", View.centred(Fraction(0), Fraction(0), Fraction(4), 8, 6))
    corners = words(0, 0, 3, 3, 4, 0, 7, 3).reshape(2, 4)
    picture.watch(ITERATIONS, Block(0, 0, 8, 6), corners, words(MIXED, MIXED), words(ITERATIONS, MIXED))
    return picture


def test_filled_rectangles_are_drawn(traced: TracingPicture, tmp_path: Path) -> None:
    traced.write()
    with Image.open(tmp_path / "how.png") as image:
        pixels = np.asarray(image)
    assert pixels.shape == (6, 8, 3)
    filled = (pixels != pixels[5, 7]).any(axis=2)
    assert np.argwhere(filled).tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]], "what is trusted has a computed border"


def test_files_beside_it_are_left_alone(traced: TracingPicture, tmp_path: Path) -> None:
    for name in ("how.png.draft", ".how.png.tmp"):
        (tmp_path / name).write_bytes(b"the user's")
    traced.write()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".how.png.tmp", "how.png", "how.png.draft"]
    assert (tmp_path / "how.png.draft").read_bytes() == b"the user's"


@pytest.mark.usefixtures("links")
def test_symlink_is_kept(traced: TracingPicture, tmp_path: Path) -> None:
    (tmp_path / "how.png").symlink_to("there.png")
    traced.write()
    assert (tmp_path / "how.png").is_symlink()
    with Image.open(tmp_path / "there.png") as image:
        assert image.size == (8, 6)


@pytest.mark.parametrize(
    ("error", "expected"), [(OSError(28, "full"), FileError), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_no_tempfile_remains(
    error: BaseException,
    expected: type[BaseException],
    traced: TracingPicture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def save(_image: Image.Image, tempfile: Path, **_: str) -> None:
        tempfile.write_bytes(b"half")
        raise error

    monkeypatch.setattr(Image.Image, "save", save)
    with pytest.raises(expected):
        traced.write()
    assert list(tmp_path.iterdir()) == []


def test_no_rectangles_draws_all_computed(tmp_path: Path) -> None:
    picture = TracingPicture(tmp_path / "how.png", View.centred(Fraction(0), Fraction(0), Fraction(4), 8, 6))
    picture.write()
    with Image.open(tmp_path / "how.png") as image:
        assert image.size == (8, 6)
        assert len(image.getcolors() or []) == 1
    (tmp_path / "how.png").unlink()
    (tmp_path / "how.png").mkdir()
    with pytest.raises(FileError, match="it is a folder"):
        TracingPicture(tmp_path / "how.png", View.centred(Fraction(0), Fraction(0), Fraction(4), 8, 6))
