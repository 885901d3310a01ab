"""What shows itself in notebooks, without a device: fields as pictures and as labelled arrays."""

import io
import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from PIL import Image

import mandelcl
from mandelcl.base.errors import MandelclError
from mandelcl.base.view import View
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.labelled import _ABOUT
from mandelcl.core.planes import PLANES
from mandelcl.explore.notebook import display, register


def a_field(width: int, height: int, planes: tuple[str, ...] = ("counts", "smooth"), **place: Any) -> Field:
    """Return a field of arbitrary values."""
    rng = np.random.default_rng(3)
    re, im = place.get("center", ("-0.75", "0.1"))
    view = View.centred(re, im, place.get("zoom", 3), width, height, place.get("rotation", 0))
    job = Job(view, 500, planes=planes)
    values = {
        name: rng.integers(0, 2 if name == "certified" else 501, (height, width)).astype(PLANES[name].dtype)
        for name in job.planes
    }
    return Field(job, values)


def pixels(png: bytes | None) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    assert png is not None
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize("planes", [("counts",), ("counts", "smooth"), ("counts", "smooth", "distance")])
def test_a_field_shows_its_default_colours(planes: tuple[str, ...]) -> None:
    field = a_field(64, 40, planes)
    assert np.array_equal(pixels(display.png(field)), mandelcl.colourise(field, "classic"))


def test_a_large_field_shows_every_third_pixel() -> None:
    field = a_field(2100, 35)
    small = pixels(display.png(field))
    assert small.shape == (12, 700, 3)
    assert np.array_equal(small, mandelcl.colourise(field, "classic")[::3, ::3])


@pytest.mark.full
def test_huge_field_is_painted_subsampled() -> None:
    side = 1 << 20
    counts = np.broadcast_to(np.uint32(7), (side, side))  # four terabytes, if anything made them
    shown = pixels(display.png(Field(Job(View.centred(0, 0, 1, side, side), 50), {"counts": counts})))
    assert shown.shape == (1024, 1024, 3)
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) == 1


def test_a_field_that_cannot_be_painted_shows_its_repr() -> None:
    whole = a_field(16, 8)
    broken = Field(whole.job, {"counts": np.zeros((3, 2)), "smooth": np.zeros(1)})
    assert display.png(broken) is None
    assert repr(broken) == "<Field of 16x8: counts, smooth; iteration limit 500>"


def test_a_field_becomes_labelled_arrays() -> None:
    pytest.importorskip("xarray")
    field = a_field(6, 4, ("counts", "smooth", "distance", "last"))
    labelled = field.to_xarray()
    assert tuple(labelled.data_vars) == field.job.planes
    for name, values in field.planes.items():
        assert labelled[name].dims == ("y", "x")
        assert np.shares_memory(labelled[name].values, values)
        assert labelled[name].dtype == values.dtype
        assert labelled[name].attrs == _ABOUT[name]
    assert labelled.x.values.tolist() == [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
    assert labelled.y.values.tolist() == [1.5, 0.5, -0.5, -1.5]
    assert labelled.distance.attrs["units"] == labelled.x.attrs["units"] == labelled.y.attrs["units"] == "pixel"
    view = field.job.view
    assert labelled.re.values.tolist() == [float(view.point(column, 0)[0]) for column in range(6)]
    assert labelled.im.values.tolist() == [float(view.point(0, row)[1]) for row in range(4)]
    assert Job.from_json(labelled.attrs["job"]) == field.job
    assert (labelled.attrs["formula"], labelled.attrs["iterations"]) == ("mandelbrot", 500)


@pytest.mark.parametrize("rotation", [0, "30", "-12.5"])
@pytest.mark.parametrize("zoom", [3, "1e14", "1e400"])
def test_attributes_give_each_point_exactly(zoom: Any, rotation: Any) -> None:
    pytest.importorskip("xarray")
    digits = "1" * 390
    field = a_field(5, 3, center=(f"-0.7{digits}", f"0.{digits}"), zoom=zoom, rotation=rotation)
    labelled = field.to_xarray()
    view, attrs = field.job.view, labelled.attrs
    right, up = ([Fraction(part) for part in attrs[name]] for name in ("step_right", "step_up"))
    for row, y in enumerate(labelled.y.values):
        for column, x in enumerate(labelled.x.values):
            steps = [Fraction(x) * right[part] + Fraction(y) * up[part] for part in (0, 1)]
            point = Fraction(attrs["centre_re"]) + steps[0], Fraction(attrs["centre_im"]) + steps[1]
            assert point == view.point(column, row)
    assert Fraction(attrs["pitch"]) == view.pitch
    assert ("re" in labelled.coords, "im" in labelled.coords) == (zoom == 3 and not rotation,) * 2


def test_coordinates_are_present_if_double_resolves_them() -> None:
    pytest.importorskip("xarray")
    for zoom, held in (("1e10", True), ("1e11", False)):  # there they are a 900th of a pixel apart
        field = a_field(4, 400, center=("-0.75", "0.1"), zoom=zoom)
        assert ("re" in field.to_xarray().coords) is held


def test_every_plane_is_described() -> None:
    assert set(_ABOUT) == set(PLANES)
    assert all({"long_name", "units"} <= set(about) for about in _ABOUT.values())


@pytest.mark.parametrize("missing", ["xarray"])
def test_missing_extra_is_one_line(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MandelclError, match=r"^a labelled field needs xarray: .*install.*notebook\]") as caught:
        a_field(4, 4).to_xarray()
    assert len(str(caught.value).splitlines()) == 1


def test_importing_mandelcl_loads_nothing_of_notebooks() -> None:
    code = """
import sys, json, mandelcl
from mandelcl import Field, Job, Session, render
print(json.dumps([name for name in ("IPython", "anywidget", "ipywidgets", "traitlets", "xarray", "pandas", "PIL",
                                    "mandelcl.explore.notebook", "mandelcl.explore") if name in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_ipython_shows_fields_and_jobs_as_pictures() -> None:
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    field = a_field(40, 30)
    assert "image/png" not in formatter.format(field)[0]
    register(formatter)
    assert formatter.format(field)[0]["image/png"] == display.png(field)
