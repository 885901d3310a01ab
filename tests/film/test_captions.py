"""Captions: what they say at each frame, and that decoded frames show it, at one place and nowhere else."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.errors import InvalidInputError
from mandelcl.film.captions import Caption, require_caption, zoom_text
from mandelcl.film.folder import Folder
from mandelcl.film.making import make_film
from mandelcl.film.path import Stop, log2
from mandelcl.film.timing import Frame, Timing
from tests.film.conftest import film

SIZE = 480, 280


@pytest.mark.parametrize(
    ("zoom", "text"),
    [
        ("1", "1.00"),
        ("1.6", "1.60"),
        ("9.999", "10.0"),
        ("25", "25.0"),
        ("999.4", "999"),
        ("999.6", "1.00e3"),
        ("12345", "1.23e4"),
        ("0.25", "2.50e-1"),
        ("3e1000", "3.00e1000"),
    ],
)
def test_zooms_have_three_digits(zoom: str, text: str) -> None:
    assert zoom_text(log2(Fraction(zoom))) == text


def test_the_caption_follows_the_film_through_its_stops() -> None:
    plan = film(Stop.of(0, 0, 2), Stop.of(0, 0, 64), Stop.of(0, 0, 4))
    caption = Caption("{zoom} at {re} {im}, {iterations}", plan, SIZE)
    frames = (Frame(0, 0.0), Frame(0, 2.0), Frame(0, 5.0), Frame(1, 0.0), Frame(1, 4.0))
    zooms = [caption.text(frame).split(" at ")[0] for frame in frames]
    assert zooms == ["2.00", "8.00", "64.0", "64.0", "4.00"]
    assert caption.text(frames[0]).endswith(" at 0 0, 200")


@pytest.mark.parametrize("text", ["{zom}", "{}", "{zoom:9}", "{zoom.real}", "a\nb", "", "x" * 201])
def test_unknown_fields_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"a caption (has no field|is one line)"):
        require_caption(text)


def test_frames_show_the_caption_at_the_lower_left(computed: Folder, tmp_path: Path) -> None:
    timing = Timing(Fraction(5), hold=0.2)
    for name, caption in (("plain", None), ("written", "zoom {zoom}")):
        make_film(computed, str(tmp_path / name), computed.plan.colouring, timing, caption=caption)
    names = sorted(path.name for path in (tmp_path / "plain").iterdir())
    shown = {
        kind: [np.asarray(Image.open(tmp_path / kind / name)).astype(int) for name in names]
        for kind in ("plain", "written")
    }
    height, width, _ = shown["plain"][0].shape
    written = [np.abs(a - b).max(axis=2) for a, b in zip(shown["plain"], shown["written"], strict=True)]
    for difference in written:
        rows, columns = np.nonzero(difference > 40)
        assert len(rows) > 10
        assert rows.min() >= height // 2  # letters are eight pixels high at least, of a frame of 28
        assert columns.min() < width // 4
    constant = {Caption("{iterations}", computed.plan, SIZE).text(frame) for frame in timing.frames([3.0])}
    assert constant == {"200"}


def test_a_caption_is_as_large_as_the_frame_asks() -> None:
    plan, heights = film(), []
    for height in (280, 560):
        size = height * 16 // 9, height
        picture = Caption("zoom", plan, size).draw(Frame(0, 0.0), np.zeros((size[1], size[0], 3), np.uint8))
        rows = np.nonzero(picture.max(axis=(1, 2)) > 200)[0]
        heights.append(rows.max() - rows.min())
    assert 1.6 < heights[1] / heights[0] < 2.5
