"""The page that lies among the tiles of a Deep Zoom picture."""

import io
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

import mandelcl
from mandelcl.files.output import write

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTH, HEIGHT = 700, 500


def shown(page: "Page") -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    """Return what is on the screen, once no tile is missing."""
    page.wait_for_function("[...tiles.values()].every((image) => image.complete)")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    with Image.open(io.BytesIO(page.screenshot())) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.full
def test_the_page_of_a_deep_zoom_picture_shows_its_pixels(browser: "Browser", tmp_path: Path) -> None:
    pytest.importorskip("pyvips")
    job = mandelcl.Job(mandelcl.View.centred("-0.75", 0, "1.3", WIDTH, HEIGHT), 200)
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    field = mandelcl.Field(job, {"counts": ((rows // 3) * 7 + columns // 2).astype(np.uint32) % 200})
    colouring = mandelcl.Colouring(mandelcl.find_palette("coursework"))
    write(tmp_path / "a.dzi", field, colouring.picture(field))
    expected = mandelcl.colourise(field, "coursework")
    with closing(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, offline=True)) as page:
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((tmp_path / "a_files" / "index.html").as_uri())
        assert np.array_equal(shown(page), expected)
        page.mouse.move(100, 50)
        page.mouse.wheel(0, -240)  # twice as large, about the pointer
        twice = shown(page)
        assert np.array_equal(twice[50:250:2, 100:400:2], expected[50:150, 100:250])
        page.keyboard.press("0")
        page.mouse.down()
        page.mouse.move(60, 30)
        page.mouse.up()
        assert np.array_equal(shown(page)[: HEIGHT - 20, : WIDTH - 40], expected[20:, 40:])
        assert complaints == []
