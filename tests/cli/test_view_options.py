"""What to draw, as people write it: a place at another zoom, and numbers with commas between them."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import pytest

from mandelcl.base.exact import parse_number
from mandelcl.cli import cli, separated
from mandelcl.cli.job_options import JobOptions
from mandelcl.core.locations import LOCATIONS
from tests.cli.conftest import SMALL, Run, refused

NONE: dict[str, Any] = dict.fromkeys(JobOptions.__dataclass_fields__)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("--center -0.75,0.1 --zoom 2", "--center -0.75 0.1 --zoom 2"),
        ("--center=-0.75,0.1 --zoom 2", "--center -0.75 0.1 --zoom 2"),
        ("--center -0.75, 0.1 --zoom 2", "--center -0.75 0.1 --zoom 2"),
        ("--zoom 2 --center .5,1e-3", "--zoom 2 --center .5 1e-3"),
        ("--center -7/4,+1 -o a,b.png", "--center -7/4 +1 -o a,b.png"),
        ("--region -2,1,-1,1 --julia 0,1", "--region -2 1 -1 1 --julia 0 1"),
        ("--reference 0,1,1e-9", "--reference 0 1 1e-9"),
        ("--center -0.75 0.1 --zoom 2", "--center -0.75 0.1 --zoom 2"),
        ("--center=-0.75 0.1", "--center=-0.75 0.1"),
        ("--center 0,5 1 --zoom 2", "--center 0,5 1 --zoom 2"),
        ("--center 0,5 -.1", "--center 0,5 -.1"),
        ("--center 1,2,3 --zoom 2", "--center 1,2,3 --zoom 2"),
        ("--zoom 2,5 -o --center", "--zoom 2,5 -o --center"),
        ("--center -0.75+0.1i --zoom 2", "--center -0.75 0.1 --zoom 2"),
        ("--julia=-1e-3-1/3*i", "--julia -1e-3 -1/3"),
        ("--center (-0.75,0.1) --zoom 2", "--center -0.75 0.1 --zoom 2"),
    ],
)
def test_comma_separated_numbers(written: str, read: str) -> None:
    render = cli.get_command(click.Context(cli), "render")
    assert render is not None
    assert separated(render, written.split()) == read.split()


def test_comma_separated_numbers_in_one_argument() -> None:
    render = cli.get_command(click.Context(cli), "render")
    assert render is not None
    assert separated(render, ["--center", "-0.75, 0.1"]) == ["--center", "-0.75", "0.1"]


def test_a_centre_with_a_comma_draws_the_same(draw: Run, folder: Path) -> None:
    draw("render", *SMALL, "--center", "-0.75", "0.1", "--zoom", "20", "-o", "a.npz")
    draw("render", *SMALL, "--center", "-0.75,0.1", "--zoom", "20", "-o", "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


def test_a_decimal_comma_is_refused(run: Run, folder: Path) -> None:
    line = refused(run, folder, "render", *SMALL, "--center", "-0,75", "0,1", "--zoom", "20")
    assert line == "mandelcl: center '-0,75' is not a number; write it like -0.75, 1.5e-30 or 1/3"


def test_a_place_at_another_zoom() -> None:
    place = LOCATIONS["fern"]
    job = JobOptions(**NONE | {"at": "fern", "zoom": "12.5", "size": "32x18"}).job(("smooth",))
    assert job.view.lattice.pitch == Fraction(4) / Fraction("12.5") / 18
    assert job.iterations == place.iterations
    middle = (a + b for a, b in zip(job.view.point(0, 0), job.view.point(31, 17), strict=True))
    assert list(middle) == [2 * parse_number(place.re), 2 * parse_number(place.im)]


@pytest.mark.usefixtures("usable_double")
def test_place_at_another_zoom_and_limit(run: Run) -> None:
    zoomed = ("render", "--at", "lightning", "--zoom", "100", *SMALL)
    assert json.loads(run(*zoomed, "--json").out)["iterations_cap"] == 3000
    assert json.loads(run(*zoomed, "--iterations", "300", "--json").out)["iterations_cap"] == 300
    assert json.loads(run("locate", "--at", "thorn-star", "--zoom", "200000", "--json").out)["period"] == 26


def test_invalid_zoom_names_what_is_needed(run: Run, folder: Path) -> None:
    for zoom in ("x", "0"):
        assert "zoom" in refused(run, folder, "render", *SMALL, "--at", "fern", "--zoom", zoom)
    assert "--center RE IM or --at NAME" in refused(run, folder, "render", "--zoom", "2", code=2)
    assert "leave --zoom out" in refused(run, folder, "locate", "--in", *"0101", "--zoom", "2", code=2)


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        (("--method", "direct"), "perturbation has no such limit: leave --method direct out"),
        (("--rounding", "separate"), "perturbation has no such limit: leave --rounding separate out"),
        (("--strict", "--algorithm", "border"), "perturbation has no such limit: leave --strict out"),
    ],
)
@pytest.mark.usefixtures("usable")
def test_a_view_that_only_perturbation_resolves(run: Run, folder: Path, options: tuple[str, ...], way_out: str) -> None:
    deep = ("render", *SMALL, "--center", "0", "1", "--zoom", "1e301", *options)
    line = refused(run, folder, *deep)
    assert "(its limit: " in line
    assert line.endswith(way_out)


@pytest.mark.full
@pytest.mark.parametrize("formula", ["store absx mul add", "store negy mul add"])
@pytest.mark.usefixtures("usable")
def test_the_zoom_that_is_named_as_the_limit_is_resolved(run: Run, folder: Path, formula: str) -> None:
    folded = ("--formula", formula)  # z is multiplied by a folded z: without perturbation
    view = (*folded, "--center", "0", "1", "--size", "16x9", "--iterations", "5000")
    line = refused(run, folder, "render", *view, "--zoom", "1e301")
    limit = re.search(r"; zoom in to at most (1e\d+) at this size$", line)
    assert limit
    assert run("render", *view, "--zoom", limit[1], "--quiet", "--no-self-test").code == 0
    assert "no number resolves" in refused(run, folder, "render", *view, "--zoom", limit[1] + "0")


def test_all_inside_picture_is_reported(draw: Run) -> None:
    inside = ("render", "--center", "-0.1", "0", "--zoom", "100", *SMALL)
    assert draw(*inside).err.splitlines()[:1] == [
        "mandelcl: all of the pixels never escape: the surveyed points are proved inside the set"
    ]
    assert "proved inside" in draw(*inside, "--json").err
    assert draw(*inside, "--quiet").err == ""
    assert "proved inside" not in draw("render", *SMALL).err


@pytest.mark.parametrize("max_iterations", [300, 3000])
@pytest.mark.usefixtures("usable")
def test_higher_limit_shows_pixels_hidden_by_a_low_one(draw: Run, max_iterations: int) -> None:
    deep = draw("render", "--center", "0", "1", "--zoom", "1e140", *SMALL, "--iterations", str(max_iterations))
    line = (
        "all of the pixels reached the iteration limit of 300 and are not proved inside; a higher limit may show more"
    )
    assert (line in deep.err) == (max_iterations == 300)
