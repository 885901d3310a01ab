"""What a job leaves open is decided by the job and the classes of devices, and by no rate and no time."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat
from mandelcl.core.reference import FIRST_VERSION, Reference
from mandelcl.engine import choose, selftest
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.iteration_limit import Proofs, surveyed
from mandelcl.engine.resolve import ResolvedJob, resolve
from mandelcl.engine.variant import Variant
from mandelcl.formulas import BurningShip, Formula
from mandelcl.opencl.families import OTHER

WITH = [DeviceClass(fp64=False), DeviceClass()]
WITHOUT = [DeviceClass(fp64=False)]
SLOW = [DeviceClass(slow_double=True)]


def at(zoom: str, **changes: Any) -> Job:
    return Job(View.centred("-0.75", "0.1", zoom, 64, 48), 1000, **changes)


@pytest.mark.parametrize(
    ("zoom", "devices", "method", "number"),
    [
        ("1", WITH, "direct", "float"),
        ("1e10", WITH, "direct", "double"),
        ("1e14", WITH, "perturbation", "double"),
        ("1e1000", WITH, "perturbation", "double"),
        ("1", WITHOUT, "direct", "float"),
        ("1e10", WITHOUT, "perturbation", "float"),
        ("1e14", WITHOUT, "perturbation", "float"),
        ("1", SLOW, "direct", "float"),
        ("1e10", SLOW, "direct", "double"),
        ("1e14", SLOW, "perturbation", "float"),
        ("1e1000", SLOW, "perturbation", "float"),
        ("1e14", [*SLOW, *WITH], "perturbation", "double"),
    ],
)
def test_view_and_device_classes_decide_the_number(
    zoom: str, devices: list[DeviceClass], method: str, number: str
) -> None:
    resolved = resolve(at(zoom), devices)
    job = resolved.job
    assert (job.method, job.number, job.rounding, resolved.warnings) == (method, number, "fused", ())
    assert (job.reference is None) == (method == "direct")
    assert resolve(job, WITH).job == job, "what is resolved stays"


@pytest.mark.parametrize(
    "changes",
    [
        {"number": "double"},
        {"number": "fp128"},
        {"strict": True},
        {"method": "direct"},
        {"formula": Formula.parse("store absx mul add")},
    ],
    ids=str,
)
def test_explicit_choice_is_computed_directly(changes: dict[str, Any]) -> None:
    assert resolve(at("1e30", **changes), WITH).job.method == "direct"


def test_explicit_perturbation() -> None:
    job = resolve(at("10", method="perturbation"), WITH).job
    assert (job.number, job.rounding) == ("double", "fused")
    assert job.reference == Reference.of(job.view).resolved(22, 8)
    job = resolve(at("10", method="perturbation", number="float"), WITH).job
    assert job.number == "float"
    assert job.reference == Reference.of(job.view).resolved(11, 3)


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
    job = resolve(at(zoom, method="perturbation", number=number, **changes), WITH).job
    assert job.reference == Reference.of(job.view).resolved(*bits)


def test_a_shared_reference_decides_the_bits_of_all_its_views() -> None:
    reference = Reference.of(at("1e28").view)
    for zoom in ("1e28", "1e30", "1e300"):
        resolved = resolve(at(zoom, reference=reference), WITH).job
        assert resolved.reference == reference.resolved(22, 8)


def test_bits_named_by_a_reference_are_kept() -> None:
    view = at("1e14").view
    job = resolve(at("1e14", reference=Reference.of(view, 14, 14)), WITH).job
    assert job.reference == Reference.of(view, 14, 14)


def test_counts_are_certified_by_perturbation_at_any_depth() -> None:
    assert resolve(at("2", planes=("certified",)), WITH).job.method == "perturbation"


def test_certification_uses_double_even_if_slow() -> None:
    assert resolve(at("1e14", planes=("certified",)), SLOW).job.number == "double"


def test_explicit_reference_is_kept() -> None:
    job = at("1e40")
    wide = replace(Reference.of(job.view), radius=Reference.of(job.view).radius * 256)
    resolved = resolve(replace(job, reference=wide), WITH)
    assert resolved.job.reference == wide.resolved(15, 12)
    assert not resolved.warnings
    wider = replace(wide, radius=wide.radius * 2)
    resolved = resolve(replace(job, reference=wider), WITH)
    assert resolved.job.reference == wider.resolved(15, 12)
    assert len(resolved.warnings) == 1
    assert "more than 256 times" in resolved.warnings[0]
    far = replace(wide, re=wide.re + Reference.of(job.view).radius * 5)
    assert "more than 4 times as far" in resolve(replace(job, reference=far), WITH).warnings[0]


def test_a_reference_that_does_not_reach_the_view_is_refused() -> None:
    job = at("1e30")
    narrow = replace(Reference.of(job.view), radius=Reference.of(job.view).radius * Fraction(9, 10))
    with pytest.raises(InvalidInputError, match="does not reach all of the view"):
        resolve(replace(job, reference=narrow), WITH)


@pytest.mark.parametrize(
    ("devices", "exponent", "number"), [(WITH, 1024, "double"), (WITHOUT, 128, "float"), (WITH, 4000, "double")]
)
def test_perturbation_refuses_an_escape_radius_beyond_its_number(
    devices: list[DeviceClass], exponent: int, number: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"the escape radius squared is too large for {number}"):
        resolve(at("1e30", radius_squared=Fraction(2) ** exponent), devices)
    assert resolve(at("1e30", radius_squared=Fraction(2) ** 127), devices).job.number == number


def test_parts_and_levels_keep_the_picture_s_reference() -> None:
    job = resolve(at("1e30"), WITH).job
    for view in (job.view.part(10, 10, 20, 20), job.view.finer(2), job.view.coarser(3)):
        assert resolve(job.at(view), WITH).job.reference == job.reference


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
    first = replace(job, reference=replace(Reference.of(job.view), version=FIRST_VERSION))
    assert ["beyond the escape radius" in warning for warning in resolve(first, WITH).warnings] == [True] * warned
    assert resolve(job, WITH).warnings == ()


def test_unsupported_rounding_falls_back_to_direct() -> None:
    assert resolve(at("1e10", rounding="separate"), WITHOUT[:0] + WITH).job.method == "direct"
    with pytest.raises(InvalidInputError, match="leave --rounding separate out"):
        resolve(at("1e30", rounding="separate"), WITH)


def _soft(_number: NumberFormat) -> bool:
    return True


SOFT, GPU, PLAIN = DeviceClass(slow_fma=_soft, label="soft"), DeviceClass(type="gpu", vectors=(1, 1)), (1, 1)


@pytest.mark.parametrize(
    ("devices", "alone", "shared"),
    [
        ([DeviceClass()], "fused", "fused"),
        ([SOFT], "separate", "separate"),
        ([SOFT, DeviceClass()], "fused", "separate"),
        ([replace(GPU, slow_fma=_soft), DeviceClass()], "separate", "separate"),
        ([SOFT, GPU], "fused", "separate"),
        ([SOFT, DeviceClass(vectors=PLAIN)], "separate", "separate"),
        ([SOFT, replace(SOFT, type="gpu", vectors=PLAIN)], "separate", "separate"),
    ],
)
def test_rounding_follows_the_classes_of_all_devices(devices: list[DeviceClass], alone: str, shared: str) -> None:
    """One of them does the job, of those that are likely to be fastest; or all of them do, and must be able to."""
    for order in (devices, devices[::-1]):
        assert resolve(at("1"), order) == ResolvedJob(resolve(at("1"), order).job)
        assert resolve(at("1"), order).job.rounding == alone
        together = resolve(at("1"), order, shared=True)
        assert together.job.rounding == shared
        reported = ("rounding is separate, since fma is software on soft",) if SOFT in order else together.warnings
        assert together.warnings == reported
        assert resolve(at("1", rounding="fused"), order, shared=True).job.rounding == "fused"


def test_rounding_ignores_devices_without_the_number() -> None:
    gpu = replace(GPU, fp64=False, slow_fma=_soft)
    assert resolve(at("1", number="double"), [gpu, DeviceClass()]).job.rounding == "fused"
    assert resolve(at("1", number="fp128"), [SOFT]).job.rounding == "fixed"


@dataclass
class _Survey:
    """Returns made-up counts, and notes the jobs."""

    make: Callable[[int, int], Words]
    asked: list[Job] = field(default_factory=list)

    def counts(self, job: Job) -> Words:
        self.asked.append(job)
        return self.make(job.view.height, job.view.width)

    def proved(self, job: Job) -> Proofs:
        return np.zeros((job.view.height, job.view.width), np.bool_)

    def period(self, _job: Job) -> int:
        return 0


def _inside(rows: int, columns: int) -> Words:
    return np.full((rows, columns), 1000, np.uint32)


def _noise(rows: int, columns: int) -> Words:
    return np.arange(400, 400 + rows * columns, dtype=np.uint32).reshape(rows, columns)


def _traced(job: Job, devices: list[DeviceClass], counts: Callable[[int, int], Words] = _inside) -> str:
    survey = _Survey(counts)
    resolved = resolve(replace(job, algorithm="auto"), devices, survey).job
    for small in survey.asked:
        assert max(small.view.width, small.view.height) <= 64
        assert (small.number, small.rounding) == (resolved.number, resolved.rounding)
        assert (small.algorithm, small.strict) == ("escape", False)
    return resolved.algorithm if survey.asked else f"{resolved.algorithm} unasked"


def test_the_algorithm_follows_from_a_survey_and_the_class() -> None:
    large = replace(at("1"), view=View.centred("-0.75", "0.1", "1", 4096, 3072))
    assert _traced(large, WITH) == "border"
    assert _traced(large, WITH, _noise) == "escape"
    assert _traced(large, [GPU, *WITH]) == "escape unasked", "it would take a GPU no time"
    assert _traced(replace(large, view=View.centred("-0.75", "0.1", "1", 1 << 14, 1 << 14)), [GPU]) == "border"
    assert _traced(at("1"), WITH) == "escape unasked"
    assert _traced(replace(large, formula=BurningShip()), WITH) == "escape unasked"
    assert _traced(replace(large, planes=("counts", "distance")), WITH) == "escape unasked"
    assert _traced(replace(large, iterations=40), WITH) == "escape unasked"
    assert _traced(replace(large, iterations=40, number="fixed:8"), WITH) == "border"


def test_strict_needs_border_tracing() -> None:
    large = Job(View.centred("-0.75", "0.1", "1", 4096, 3072), 1000, algorithm="auto", strict=True)
    for counts, algorithm, strict in ((_inside, "border", True), (_noise, "escape", False)):
        job = resolve(large, WITH, _Survey(counts)).job
        assert (job.algorithm, job.strict) == (algorithm, strict)
    job = resolve(large, WITH).job
    assert (job.algorithm, job.strict) == ("escape", False), "without a survey"


@pytest.mark.parametrize(("width", "height"), [(512, 512), (1000, 700), (575, 64), (4096, 9)])
def test_a_survey_is_of_the_view_s_own_points(width: int, height: int) -> None:
    job = Job(View.centred("-0.75", "0.1", "1", width, height), 100)
    small = surveyed(job).view
    cell = -(-width // 64)
    assert small.width <= 64
    assert small.point(3, 1) == job.view.point(3 * cell, cell)


def test_resolution_does_not_depend_on_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices may be as fast as they like today: another one is chosen, and the job stays the same."""
    chance = random.Random(3)

    def device(spec: str, soft: bool, **facts: Any) -> Any:
        named = {
            "spec": spec,
            "label": spec,
            "type": "cpu",
            "fp64": True,
            "slow_double": False,
            "family": OTHER,
            "soft": soft,
        }
        return SimpleNamespace(**(named | facts), vector_width=lambda double: 4 if double else 8)

    devices = [device("0:0", True), device("1:0", False), device("2:0", False, slow_double=True)]
    monkeypatch.setattr(choose, "default_variant", lambda *_: Variant(1, 1, 1, 1, 1, 1, 1))
    monkeypatch.setattr(choose, "suited", lambda *_: SimpleNamespace(note=""))
    monkeypatch.setattr(selftest, "slow_fma", lambda device, *_: device.soft)

    def result(*_arguments: Any, **_more: Any) -> selftest.SelfTestResult:
        return selftest.SelfTestResult(True, "", True, chance.uniform(1e6, 1e12), 0)

    monkeypatch.setattr(selftest, "result", result)
    for wanted in (at("1"), at("1e10"), at("1e30"), at("1", number="double")):
        made = [choose.fastest(wanted, chance.sample(devices, 3)) for _ in range(100)]
        assert len({choice.device.spec for choice in made}) == 3
        assert len({choice.job for choice in made}) == 1
        assert len({choose.several(wanted, chance.sample(devices, 3))[0][0].job for _ in range(100)}) == 1
