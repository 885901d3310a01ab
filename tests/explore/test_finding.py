"""What a page asks of a place."""

import base64
import threading
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.explore.orbits import orbit_of
from mandelcl.formulas import formula_named
from tests.explore.page import HOME, Page
from tests.return_maps import MINIBROT, NEAR_NEUTRAL, real_minibrot


def _view(zoom: str = "1") -> View:
    return View.centred(0, 0, zoom, 64, 36)


@pytest.mark.parametrize(
    ("re", "im", "period"),
    [("0", "0", 1), ("-1", "0", 2), ("-0.1225611668", "0.7448617666", 3), ("-1.7548776662", "0", 3)],
)
def test_the_period_of_a_nucleus(re: str, im: str, period: int) -> None:
    found = orbit_of(Job(_view()), Fraction(re), Fraction(im), 100)
    assert (found.period, found.escaped) == (period, None)
    assert len(found.points) == 100


def test_the_period_within_a_minibrot_is_not_that_of_what_lies_around_it() -> None:
    nucleus, size = real_minibrot()
    job = Job(View.centred(nucleus, 0, 1 / abs(size), 64, 36))
    for share, period in (("0.1", 40), ("-1.1", 80)):
        assert orbit_of(job, nucleus + Fraction(share) * size, Fraction(0), 100).period == period
    for place in (NEAR_NEUTRAL, MINIBROT):  # both stay near cycles for longer than is looked
        view = place.view(64, 36)
        assert orbit_of(Job(view), *view.lattice.point(32, 18), 100).period is None


def test_an_orbit_ends_where_it_escapes() -> None:
    found = orbit_of(Job(_view()), Fraction(1), Fraction(0), 100)
    assert found.points.tolist() == [0, 1, 2, 5]  # 2 is on the circle, not beyond it
    assert (found.escaped, found.period) == (3, None)


@pytest.mark.parametrize("name", ["mandelbrot", "julia", "multibrot-3"])
def test_orbits_are_those_of_doubles_while_these_are_exact(name: str) -> None:
    job = Job(_view(), formula=formula_named(name))
    c = complex(-0.40625, 0.25)
    z = {"julia": c}.get(name, 0j)
    found = orbit_of(job, Fraction(c.real), Fraction(c.imag), 5).points
    for k in range(5):
        assert abs(found[k] - z) < 1e-12
        z = z**3 + c if name == "multibrot-3" else z * z + (0 if name == "julia" else c)


def test_orbit_outside_double_range() -> None:
    """Beside c = −2, whose orbit stays at 2: 10⁻³⁰⁰ away it takes 4³⁰⁰ᐟ… steps, some 500, to leave."""
    job = Job(_view("1e300"))
    found = orbit_of(job, Fraction(-2) - Fraction(1, 10**300), Fraction(0), 2000)
    assert found.escaped == 1
    inner = orbit_of(job, Fraction(-2) + Fraction(1, 10**300), Fraction(0), 400)
    assert inner.escaped is None
    assert np.allclose(inner.points[2:400], 2)


def test_a_probe_knows_count_place_and_period(page: Page) -> None:
    picture = page.view(HOME)
    probed, _ = page.ask("probe", "probed", pane=0, at=[-16, 0])  # −1
    assert (probed["count"], probed["inside"], probed["period"]) == (300, True, 2)
    assert Fraction(probed["re"]) == -1
    probed, _ = page.ask("probe", "probed", pane=0, at=[60, -40])
    assert probed["count"] == picture.counts[5, 140]
    assert probed["smooth"] == pytest.approx(float(picture.smooth[5, 140]))
    assert (probed["inside"], probed["period"]) == (False, None)
    outside, _ = page.ask("probe", "probed", pane=0, at=[1000, 0])
    assert outside["count"] is None


def test_an_orbit_is_sent_as_doubles(page: Page) -> None:
    page.view(HOME)
    found, _ = page.ask("orbit", "orbit", pane=0, at=[-16, 0], most=4)
    points = np.frombuffer(base64.b64decode(found["points"]), "<c16")
    assert points.tolist() == [0, -1, 0, -1]
    assert (found["period"], found["escaped"]) == (2, None)


def test_a_minibrot_is_found_in_a_box(page: Page) -> None:
    page.view(HOME)
    found, _ = page.ask("nucleus", "nucleus", pane=0, box=[-70, -5, 12, 11])
    assert found["period"] == 3
    assert found["re"].startswith("-1.754877666")
    assert found["command"].startswith("mandelcl render --center")
    page.send("nucleus", id=900, pane=0, box=[100, 0, 4, 4])
    answer = page.receive()
    while not (isinstance(answer, dict) and answer.get("id") == 900 and answer["say"] == "problem"):
        answer = page.receive()
    assert "no nucleus" in answer["line"]


def test_a_minibrot_is_found_in_any_formula(page: Page) -> None:
    page.view({**HOME, "formula": {"name": "tricorn"}})
    found, _ = page.ask("nucleus", "nucleus", pane=0, box=[-70, -5, 12, 11])
    assert (found["formula"], found["period"]) == ("tricorn", 3)


def test_places_have_thumbnails(page: Page) -> None:
    placed, _ = page.ask("place", "placed", name="seahorse-valley", size=[160, 90])
    names = ("lattice", "origin", "size", "iterations", "formula")
    picture = page.view({name: placed[name] for name in names})
    assert placed["colouring"]["palette"] == "classic"
    again, _ = page.ask("place", "placed", job=picture.of("settled")["job"], size=[320, 90])
    assert again["size"] == [320, 90]
    page.send("thumbnails", names=["whole-set", "seahorse-valley"])
    came: dict[str, bytes] = {}
    while len(came) < 2:
        message = page.receive()
        if isinstance(message, dict) and message["say"] == "thumbnail":
            came[message["name"]] = base64.b64decode(message["png"])
    assert all(png.startswith(b"\x89PNG") for png in came.values())


def test_bookmarks_are_saved_by_the_server(page: Page) -> None:
    job = page.view(HOME).of("settled")["job"]
    before = page.welcome["bookmarks"]
    add = {"name": "Ä place", "job": job, "colouring": {"palette": "ember"}}
    kept, _ = page.ask("bookmark", "bookmarks", add=add)
    assert [one["name"] for one in kept["bookmarks"]] == [*(one["name"] for one in before), "Ä place"]
    assert kept["bookmarks"][-1]["job"] == job
    with page.server.page() as other:
        assert other.welcome["bookmarks"] == kept["bookmarks"]
        left, _ = other.ask("bookmark", "bookmarks", remove="Ä place")
    assert left["bookmarks"] == before


def test_abandoned_orbit_is_cancelled() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(CancelledError):
        orbit_of(Job(_view("1e1000")), Fraction(0), Fraction(0), 2000, cancel)
