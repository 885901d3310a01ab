"""Views, by a page without a browser."""

import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import mandelcl
from mandelcl.core.job import Job
from mandelcl.core.reference import MAPPED_VERSION
from tests.explore.page import HOME, Page, Picture, Server
from tests.explore.quick import QuickPage

DEEP = {
    "lattice": {
        "re": "-0.743643887037195207484989608704343541896955772",
        "im": "0.131825904205502535702776235826836965793229029",
        "pitch": "1e-42",
    },
    "origin": [-48, -27],
    "size": [96, 54],
    "iterations": 20000,
}

DEEP_JULIA = {
    **DEEP,
    "lattice": {
        "re": "0.287582135103377418089356107846775496087229255112839598349431",
        "im": "0.243338729702857815306378245101117727458424754326248890911057",
        "pitch": "1e-42",
    },
    "formula": {"name": "julia", "re": "-0.12", "im": "0.74"},
}


def same_as_rendered(picture: Picture) -> None:
    """Check that the counts and fractions are those of the job that the server named."""
    assert picture.came.all()
    job = Job.from_json(picture.of("settled")["job"])
    field, report = mandelcl.render(job)
    assert report.counts_sha256 == picture.sha256 == picture.of("complete")["sha256"]
    if "smooth" in job.planes:
        assert field.smooth is not None
        assert np.array_equal(field.smooth, picture.smooth)


@pytest.mark.full
@pytest.mark.parametrize(
    "wanted",
    [
        HOME,
        {**HOME, "lattice": {**HOME["lattice"], "rotation": "30"}},
        {**HOME, "formula": {"name": "julia", "re": "-0.4", "im": "3/5"}},
        pytest.param({**HOME, "formula": {"name": "burning-ship"}, "planes": ["counts"]}, marks=pytest.mark.long),
        pytest.param(
            {
                **HOME,
                "number": "fixed:3",
                "origin": [1000, -2000],
                "lattice": {"re": "-1.5", "im": "1/7", "pitch": "1e-4"},
            },
            marks=pytest.mark.long,
        ),
        DEEP,
        DEEP_JULIA,
    ],
    ids=["home", "turned", "julia", "ship", "fixed", "deep", "deep-julia"],
)
def test_view_at_rest_equals_its_rendered_job(page: Page, wanted: dict[str, object]) -> None:
    picture = page.view(wanted)
    same_as_rendered(picture)
    assert picture.of("complete")["inside"] == int((picture.counts == wanted["iterations"]).sum())


@pytest.mark.full
@pytest.mark.usefixtures("usable_double")
def test_coarse_pixels_come_first_and_are_those_of_the_view(page: Page) -> None:
    picture = page.view(HOME, size=[640, 360], origin=[-320, -180], iterations=20000, number="double")
    assert picture.levels == sorted(picture.levels, reverse=True)
    assert picture.levels[-1] == 0
    assert set(picture.levels) <= {3, 0}  # a device that makes all of them at once leaves the coarse ones out
    same_as_rendered(picture)


def test_pan_sends_only_new_pixels(page: Page) -> None:
    first = page.view(HOME)
    key, have = first.of("settled")["key"], [[-80, -45, 160, 90]]
    second = page.begin(HOME, origin=[-60, -40], have={"key": key, "rectangles": have})
    page.finish(second)
    assert second.of("settled")["key"] == key
    assert second.came[:-5, :-20].sum() == 0
    assert second.came[-5:].all()
    assert second.came[:, -20:].all()
    job = replace(Job.from_json(first.of("settled")["job"]), view=Job.from_json(second.of("settled")["job"]).view)
    assert mandelcl.render(job)[1].counts_sha256 == second.of("complete")["sha256"]


def test_pixels_with_another_key_are_resent(page: Page) -> None:
    page.view(HOME)
    again = page.view(HOME, have={"key": "another", "rectangles": [[-80, -45, 160, 90]]})
    assert again.came.all()


@pytest.mark.skipif(os.name == "nt", reason="it is for measurements elsewhere")
def test_measuring_page_receives_the_same_counts(server: Server) -> None:
    with QuickPage(server) as page:
        same_as_rendered(page.view(HOME))


def test_a_pan_at_depth_keeps_the_reference(page: Page) -> None:
    first, second = page.view(DEEP), page.view(DEEP, origin=[-30, -20])
    assert first.of("settled")["key"] == second.of("settled")["key"]
    same_as_rendered(second)


@pytest.mark.usefixtures("usable_double")
def test_long_orbits_take_return_maps_as_render_does(page: Page) -> None:
    chart = {"re": "-1.7687788190", "im": "0.0017389047", "pitch": "1e-14"}
    picture = page.view({"lattice": chart, "origin": [-16, -9], "size": [32, 18], "iterations": 2_000_000})
    reference = Job.from_json(picture.of("settled")["job"]).reference
    assert reference is not None
    assert reference.version == MAPPED_VERSION
    same_as_rendered(picture)


def test_the_newest_view_wins(page: Page) -> None:
    slow = {**HOME, "size": [1280, 720], "iterations": 5_000_000, "number": "fixed:4"}
    for _ in range(5):
        page.begin(slow)
    picture = page.view(HOME)
    same_as_rendered(picture)
    generations = {message["generation"] for message in picture.reported if message["say"] == "complete"}
    assert generations == {page.generation}


def test_panes_do_not_disturb_each_other(page: Page) -> None:
    one = page.begin(HOME, 0)
    first = page.generation
    two = page.begin(HOME, 1, number="fp128")
    while not (one.reported and two.reported and one.reported[-1]["say"] == two.reported[-1]["say"] == "complete"):
        message = page.receive()
        if isinstance(message, bytes):
            (one if message[12:16] == first.to_bytes(4, "little") else two).take(message)
        elif message.get("pane") is not None:
            (one, two)[message["pane"]].reported.append(message)
    same_as_rendered(one)
    same_as_rendered(two)
    assert two.of("settled")["number"] == "fp128"


@pytest.mark.full
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"lattice": {"re": "x", "im": "0", "pitch": "1"}}, "re 'x' is not a number"),
        ({"lattice": {"re": "0", "im": "0", "pitch": "0"}}, "distance between pixels"),
        ({"size": [100_000, 100_000]}, "size"),
        ({"size": [32_000, 32_000]}, "pixels"),
        ({"iterations": 10**15 + 1}, "iterations"),
        ({"devices": ["no such device"]}, "no device matches"),
        ({"number": "decimal"}, "decimal"),
        ({"formula": {"name": "lambda"}}, "lambda"),
    ],
)
def test_invalid_view_is_answered_in_one_line(page: Page, changes: dict[str, object], why: str) -> None:
    page.generation += 1
    page.send("view", pane=0, generation=page.generation, **{**HOME, **changes})
    reported = page.receive()
    while reported["say"] not in ("problem", "failed"):
        reported = page.receive()
    assert why in reported.get("line", reported.get("why", ""))
    same_as_rendered(page.view(HOME))


def test_zoom_memory_is_freed(page: Page) -> None:
    """A hundred zooms in and back, in the smallest of views: what they leave behind would show."""
    psutil = pytest.importorskip("psutil", reason="psutil, which comes with the extra `cluster`, is not installed")

    def resident() -> int:
        return int(psutil.Process(page.server.process.pid).memory_info().rss)

    def zoomed(step: int) -> Picture:
        pitch = Fraction(1, 64) * Fraction(8, 9) ** step
        chart = {**HOME["lattice"], "re": "-0.7436", "im": "0.1318", "pitch": f"{pitch.numerator}/{pitch.denominator}"}
        return page.view(HOME, lattice=chart, size=[64, 36], origin=[-32, -18])

    first = zoomed(0)
    for step in (*range(20), *range(20, 0, -1)):
        zoomed(step)
    before = resident()
    for step in (*range(50), *range(50, 0, -1)):
        zoomed(step)
    assert zoomed(0).sha256 == first.sha256
    assert resident() - before < 20_000_000
