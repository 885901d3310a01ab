"""The explorer in a notebook: the same modules over a widget's comm, and what Python has of what they show."""

import base64
import io
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import mandelcl
from mandelcl.base.words import sha256
from mandelcl.files.output import JOB_KEY
from tests.explore.browser.notebook import Notebook, notebook

pytest.importorskip("anywidget", reason="anywidget is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_COUNTS = """(explorer) => {
    const { counts } = explorer.panes[0].frame.counted();
    return btoa(Array.from(new Uint8Array(counts.buffer), (byte) => String.fromCharCode(byte)).join(""));
}"""
_PIXELS = "(explorer) => explorer.panes[0].resting.toDataURL('image/png')"


def check(shown: Notebook, session: mandelcl.Session) -> None:
    """What rests in the page is what Python has of it, and what a session renders."""
    shown.rests()
    field = shown.widget.field
    rendered, _ = mandelcl.render(shown.widget.job, session)
    in_page = np.frombuffer(base64.b64decode(shown.run(_COUNTS)), "<u4")
    assert sha256(in_page) == field.counts_sha256() == rendered.counts_sha256()
    assert np.array_equal(field.planes["smooth"], rendered.planes["smooth"])
    with Image.open(io.BytesIO(base64.b64decode(shown.run(_PIXELS).partition(",")[2]))) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), mandelcl.colourise(rendered, "classic"))


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_widget_at_rest_equals_a_session_render(browser: "Browser", monkeypatch: pytest.MonkeyPatch) -> None:
    with notebook(browser, monkeypatch, size=(320, 200)) as shown, mandelcl.Session() as session:
        check(shown, session)
        before = shown.widget.place
        assert before == {"center": ("-0.75", "0"), "zoom": "1.6", "rotate": "0"}
        mouse = shown.page.mouse
        corner = shown.page.locator(".pane").first.bounding_box()
        assert corner is not None
        mouse.move(corner["x"] + 200, corner["y"] + 60)
        mouse.wheel(0, -200)
        shown.until("explorer.atRest === false")
        check(shown, session)
        zoomed = shown.widget.place
        assert Fraction(zoomed["zoom"]) > 1
        assert zoomed["center"] != before["center"]
        mouse.down()
        mouse.move(corner["x"] + 150, corner["y"] + 90, steps=3)
        mouse.up()
        shown.until("explorer.atRest === false")
        check(shown, session)
        assert shown.widget.place["zoom"] == zoomed["zoom"]
        shown.page.keyboard.press("r")  # the pane has the focus now
        shown.until("explorer.atRest === false")
        check(shown, session)
        assert shown.widget.place["rotate"] == "15"
        assert mandelcl.explore(size=(320, 200), **shown.widget.place).place == shown.widget.place


_UPLOAD = """(text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    explorer().client.upload('given.png', bytes).then((opened) => explorer().open(opened));
}"""


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_widget_is_isolated_and_restores_its_view(browser: "Browser", monkeypatch: pytest.MonkeyPatch) -> None:
    with notebook(browser, monkeypatch, at="seahorse-valley", size=(300, 160)) as shown:
        page, max_iterations = shown.page, shown.widget.job.iterations
        page.evaluate("() => { window.keys = 0; document.addEventListener('keydown', () => { window.keys++; }); }")
        page.locator("#theirs").focus()
        page.keyboard.press("i")
        styles = "(selector) => getComputedStyle(selector).cursor"
        assert page.locator("#theirs").evaluate(styles) == "default"
        assert page.locator(".bar button").first.evaluate(styles) == "pointer"
        page.locator(".pane").first.focus()
        page.keyboard.press("h")
        assert page.evaluate("keys") == 1  # the notebook's own
        assert shown.run("(explorer) => explorer.state.job.iterations") == max_iterations
        page.evaluate(_UPLOAD, base64.b64encode(_given()).decode())
        shown.until("explorer.link.includes('zoom=77')")
        shown.rests()
        place, field = shown.widget.place, shown.widget.field
        assert (place["center"], place["zoom"]) == (("-0.5", "0.625"), "77")
        page.evaluate("end()")
        assert shown.widget._pages._service is None
        assert page.locator(".mandelcl").count() == 0
        shown.show()
        assert shown.widget.place == place
        assert shown.widget.field.counts_sha256() == field.counts_sha256()


def _given() -> bytes:
    """Return a PNG that carries a job."""
    texts, file = PngInfo(), io.BytesIO()
    view = mandelcl.View.centred("-0.5", "0.625", 77, 300, 160)
    texts.add_text(JOB_KEY, mandelcl.Job(view, 400).to_json())
    Image.new("RGB", (300, 160)).save(file, "PNG", pnginfo=texts)
    return file.getvalue()
