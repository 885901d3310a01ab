"""What shows itself in notebooks and needs a device: jobs as small pictures, sessions as tables."""

import io
from dataclasses import replace
from html.parser import HTMLParser
from typing import NoReturn

import numpy as np
import pytest
from PIL import Image

import mandelcl
from mandelcl.engine import choose
from mandelcl.explore.notebook import display, register
from mandelcl.opencl.device import Device

JOB = mandelcl.Job(mandelcl.View.upright(-3, "1.5625", "1/128", 700, 400), 200)  # every point is a float


def test_a_job_shows_every_third_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "PREVIEW_S", 120.0)  # the machine may be busy
    png = display.png(JOB)
    assert png is not None
    with Image.open(io.BytesIO(png)) as image:
        shown = np.asarray(image.convert("RGB"))
    field, _ = mandelcl.render(replace(JOB, planes=("smooth",)))
    assert shown.shape == (134, 234, 3)
    assert np.array_equal(shown, mandelcl.colourise(field, "classic")[::3, ::3])


def test_a_job_that_takes_too_long_shows_its_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "PREVIEW_S", -1.0)
    assert display.png(replace(JOB, iterations=4_000_000_000)) is None


def test_a_job_that_no_device_can_do_shows_its_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "fastest", _refused)
    assert display.png(JOB) is None


def _refused(*_arguments: object) -> NoReturn:
    raise mandelcl.NoDeviceError("none")


class _Cells(HTMLParser):
    """The texts of a table's cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.feed(html)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_session_shows_its_devices(device: Device) -> None:
    with mandelcl.Session([device]) as session:
        texts = _Cells(display.html(session)).texts
        assert texts[0] == "A session of one device"
        assert {device.spec, device.name, device.platform, device.type} <= set(texts)
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    register(formatter)
    assert _Cells(formatter.format(session)[0]["text/html"]).texts == texts  # when it is closed, too


def test_driver_strings_are_escaped(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "name", "<script>\x1b[31m")
    shown = display.table([device], "one & all")
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "one &amp; all" in shown
