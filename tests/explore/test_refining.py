"""Antialiasing at rest: the pixels of the picture that `render` draws with further samples."""

import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.explore.page import HEADER, HOME, Page

COLOURING = {"palette": "ember", "cycle": None, "offset": 0.25}


def test_refined_view_equals_its_copied_command(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mandelcl.cli import cli

    page.view(HOME)
    refined, before = page.ask("refine", "refined", pane=0, colouring=COLOURING)
    assert refined["samples"] == "auto"
    assert 1 < refined["mean"] <= 16
    width, height = HOME["size"]
    pixels = np.zeros((height, width, 3), np.uint8)
    for frame in (message for message in before if isinstance(message, bytes)):
        _, kind, *_, column, row, wide, high = HEADER.unpack_from(frame)
        assert kind == 2
        x, y = column - HOME["origin"][0], row - HOME["origin"][1]
        part = np.frombuffer(frame, np.uint8, offset=HEADER.size).reshape(high, wide, 3)
        pixels[y : y + high, x : x + wide] = part
    copied, _ = page.ask("copy", "copied", pane=0, colouring={**COLOURING, "samples": refined["samples"]})
    monkeypatch.chdir(tmp_path)
    cli([*shlex.split(copied["command"])[1:], "--quiet"], standalone_mode=False)
    with Image.open("mandelbrot.png") as picture:
        assert np.array_equal(np.asarray(picture.convert("RGB")), pixels)


def test_refining_is_stopped(page: Page) -> None:
    page.view(HOME)
    page.send("refine", id=5000, pane=0, colouring=COLOURING)
    page.send("stop", id=5000)
    assert page.wait_for("stopped")["id"] == 5000
    page.view(HOME)  # the page goes on


def test_incomplete_view_is_not_refined(page: Page) -> None:
    page.send("refine", id=5001, pane=3, colouring=COLOURING)
    assert "no view" in page.wait_for("problem")["line"]
