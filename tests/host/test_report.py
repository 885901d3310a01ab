"""A render's report: of one device or of several."""

import json
from dataclasses import replace

import pytest

from mandelcl.core.report import Report

ONE = Report(
    device=["GPU"], platform=["Maker"], driver=["1.0"], number="float", rounding="fused", method="direct",
    algorithm="escape", width=8, height=4, iterations_cap=100, iterations_total=6_000_000_000,
    iterations_run=6_000_000_000, pixels_computed=32, launches=3, median_launch_ms=1.0, p99_launch_ms=1.0,
    longest_launch_ms=1.0, build_s=0.0, kernel_s=2.0, copy_s=0.0, compute_s=2.5, wall_s=3.0, counts_sha256="",
)  # fmt: skip
TWO = replace(ONE, device=["GPU", "CPU"], platform=["Maker", "Other"], driver=["1.0", "2.0"], kernel_s=4.0)


def test_speed_of_one_device_uses_kernel_time() -> None:
    assert (ONE.timed_s, ONE.giter_per_s) == (2.0, 3.0)


def test_speed_of_several_devices_uses_elapsed_time() -> None:
    assert TWO.timed_s == 2.5
    assert TWO.giter_per_s == pytest.approx(2.4)


def test_resumed_bands_do_not_count_for_speed() -> None:
    assert replace(ONE, iterations_run=2_000_000_000).giter_per_s == 1


def test_zero_time_has_no_speed() -> None:
    assert replace(ONE, kernel_s=0.0).giter_per_s == 0


def test_share_at_the_limit_counts_pixels_or_samples() -> None:
    assert replace(ONE, at_limit=8).share_at_limit == 8 / (ONE.width * ONE.height)
    assert replace(ONE, at_limit=ONE.width * ONE.height * 2, samples=2.0).share_at_limit == 1


def test_json_has_a_text_for_one_device_and_lists_for_several() -> None:
    for report, device, driver in ((ONE, "GPU", "1.0"), (TWO, ["GPU", "CPU"], ["1.0", "2.0"])):
        values = json.loads(json.dumps(report.as_dict()))
        assert (values["device"], values["driver"]) == (device, driver)
        assert list(values) == list(Report.__dataclass_fields__)


def test_devices_are_normalised_to_lists() -> None:
    assert replace(ONE, device="GPU").device == ["GPU"]
    assert replace(TWO, device=("GPU", "CPU")).device == ["GPU", "CPU"]


def test_devices_are_named_with_their_platforms() -> None:
    assert ONE.devices_text == "GPU (Maker)"
    assert TWO.devices_text == "GPU (Maker) and CPU (Other)"


def test_report_summary() -> None:
    from mandelcl.cli.render import _summary

    assert "6,000 Miter in 2.000 s (3.0 Giter/s) on GPU (Maker)" in _summary(ONE, auto_samples=False)
    assert "6,000 Miter in 2.500 s (2.4 Giter/s) on GPU (Maker) and CPU (Other)" in _summary(TWO, auto_samples=False)
