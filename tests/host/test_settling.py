"""Which method a job gets is decided by its view, its cap and whether devices have double, and by nothing else."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from mandelcl.engine.settling import settle_method
from mandelcl.errors import InvalidInputError
from mandelcl.formulas import BurningShip
from mandelcl.job import Job
from mandelcl.reference import Reference
from mandelcl.view import View

WITH: Any = [SimpleNamespace(fp64=False, slow_double=False), SimpleNamespace(fp64=True, slow_double=False)]
WITHOUT: Any = [SimpleNamespace(fp64=False, slow_double=False)]
SLOW: Any = [SimpleNamespace(fp64=True, slow_double=True)]


def at(zoom: str, **changes: Any) -> Job:
    return Job(View.centred("-0.75", "0.1", zoom, 64, 48), 1000, **changes)


@pytest.mark.parametrize(
    ("zoom", "devices", "method", "number"),
    [
        ("1", WITH, "direct", "auto"),
        ("1e10", WITH, "direct", "auto"),
        ("1e14", WITH, "perturbation", "double"),
        ("1e1000", WITH, "perturbation", "double"),
        ("1", WITHOUT, "direct", "auto"),
        ("1e10", WITHOUT, "perturbation", "float"),
        ("1e14", WITHOUT, "perturbation", "float"),
        ("1", SLOW, "direct", "auto"),
        ("1e10", SLOW, "direct", "auto"),
        ("1e14", SLOW, "perturbation", "float"),
        ("1e1000", SLOW, "perturbation", "float"),
        ("1e14", (*SLOW, *WITH), "perturbation", "double"),
    ],
)
def test_the_view_and_the_devices_decide(zoom: str, devices: Any, method: str, number: str) -> None:
    job, warnings = settle_method(at(zoom), devices)
    assert (job.method, job.number, warnings) == (method, number, ())
    assert (job.reference is None) == (method == "direct")
    assert settle_method(job, WITH)[0] == job, "what is settled stays"


@pytest.mark.parametrize(
    "changes",
    [
        {"number": "double"},
        {"number": "fp128"},
        {"rounding": "separate"},
        {"strict": True},
        {"method": "direct"},
        {"formula": BurningShip()},
    ],
    ids=str,
)
def test_a_job_that_says_how_is_computed_directly(changes: dict[str, Any]) -> None:
    assert settle_method(at("1e30", **changes), WITH)[0].method == "direct"


def test_perturbation_that_is_asked_for() -> None:
    job, _ = settle_method(at("10", method="perturbation"), WITH)
    assert (job.number, job.rounding) == ("double", "fused")
    assert job.reference == Reference.of(job.view).settled(22, 8)
    job, _ = settle_method(at("10", method="perturbation", number="float"), WITH)
    assert job.number == "float"
    assert job.reference == Reference.of(job.view).settled(11, 3)


@pytest.mark.parametrize(
    ("zoom", "number", "changes", "bits"),
    [
        ("1e14", "double", {}, (22, 8)),
        ("1e28", "double", {}, (22, 8)),
        ("1e30", "double", {}, (15, 12)),
        ("1e1000", "double", {}, (15, 12)),
        ("1e28", "float", {}, (11, 3)),
        ("1e30", "float", {}, (10, 4)),
        ("1e14", "double", {"planes": ("counts", "certified")}, (14, 14)),
        ("1e30", "float", {"planes": ("counts", "certified")}, (10, 4)),
    ],
)
def test_bits_follow_from_the_depth(zoom: str, number: str, changes: dict[str, Any], bits: tuple[int, int]) -> None:
    job, _ = settle_method(at(zoom, method="perturbation", number=number, **changes), WITH)
    assert job.reference == Reference.of(job.view).settled(*bits)


def test_a_shared_reference_decides_the_bits_of_all_its_views() -> None:
    reference = Reference.of(at("1e28").view)
    for zoom in ("1e28", "1e30", "1e300"):
        settled, _ = settle_method(at(zoom, reference=reference), WITH)
        assert settled.reference == reference.settled(22, 8)


def test_bits_that_a_reference_names_are_kept() -> None:
    view = at("1e14").view
    job, _ = settle_method(at("1e14", reference=Reference.of(view, 14, 14)), WITH)
    assert job.reference == Reference.of(view, 14, 14)


def test_counts_are_certified_by_perturbation_at_any_depth() -> None:
    assert settle_method(at("2", planes=("certified",)), WITH)[0].method == "perturbation"


def test_proofs_take_double_where_it_is_slow() -> None:
    assert settle_method(at("1e14", planes=("certified",)), SLOW)[0].number == "double"


def test_a_reference_of_its_own_is_kept() -> None:
    job = at("1e40")
    wide = replace(Reference.of(job.view), radius=Reference.of(job.view).radius * 16)
    settled, warnings = settle_method(replace(job, reference=wide), WITH)
    assert settled.reference == wide.settled(15, 12)
    assert not warnings
    wider = replace(wide, radius=wide.radius * 2)
    settled, warnings = settle_method(replace(job, reference=wider), WITH)
    assert settled.reference == wider.settled(15, 12)
    assert len(warnings) == 1
    assert "more than 16 times" in warnings[0]


def test_a_reference_that_does_not_reach_the_view_is_refused() -> None:
    job = at("1e30")
    narrow = replace(Reference.of(job.view), radius=Reference.of(job.view).radius * Fraction(9, 10))
    with pytest.raises(InvalidInputError, match="does not reach all of the view"):
        settle_method(replace(job, reference=narrow), WITH)


def test_parts_and_levels_keep_the_picture_s_reference() -> None:
    job, _ = settle_method(at("1e30"), WITH)
    for view in (job.view.part(10, 10, 20, 20), job.view.finer(2), job.view.coarser(3)):
        assert settle_method(job.at(view), WITH)[0].reference == job.reference


@pytest.mark.parametrize(
    ("re", "im", "zoom", "changes", "warned"),
    [
        ("-2", "0", "1e400", {}, True),
        ("0", "2", "1e20", {"number": "float"}, True),
        ("-2", "0", "1e400", {"radius_squared": 9}, False),
        ("-2", "0", "1e400", {"planes": ("certified",)}, False),
        ("-1.99", "0", "1e400", {}, False),
        ("-2", "0", "1", {}, False),
        ("5", "0", "1e400", {"radius_squared": 25}, True),
    ],
)
def test_a_view_on_the_circle_of_escape_is_warned_of(
    re: str, im: str, zoom: str, changes: dict[str, Any], warned: bool
) -> None:
    job = Job(View.centred(re, im, zoom, 8, 6), 1000, method="perturbation", **changes)
    _, warnings = settle_method(job, WITH)
    assert ["beyond the escape radius" in warning for warning in warnings] == [True] * warned
