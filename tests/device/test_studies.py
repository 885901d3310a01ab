"""Every study runs to its end on every device, and catches a device that is off by one in one pixel."""

import json
from collections import deque
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.errors import CancelledError, DeviceError, InvalidInputError
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop.subdivision import DivisionPlan
from mandelcl.lab.studies import (
    STUDIES,
    find_study,
    hpc_published,
    jobs,
    native,
    plots,
    rules,
    scaling,
    scaling_devices,
    variations,
    workgroup,
)
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl.api import Event
from mandelcl.opencl.device import Device
from tests.device.targets import devices as found_devices

_SCALE, _ITERATIONS = Fraction(1, 2048), 30
# What a device may lack; anything else is a failure of the test.
_LACKS = (
    "no double",
    "partition",
    "groups have at most",
    "only a CPU device can be kept to one core",
    "C compiler",
    "compiled on Linux and macOS only",
    "works on Linux only",
    "does not promise that square roots",
    "ends loops after",
)


class WrongDevice(Device):
    """A device that is off by one in one pixel of whatever it hands out."""

    shares_memory = False  # so that all of it is fetched

    def fetch(self, buffer: Any, array: npt.NDArray[Any]) -> Event:
        event = super().fetch(buffer, array)
        event.wait()
        array.flat[array.size // 2] += 1
        return event


def tiny(*devices: Device) -> Bench:
    return Bench(list(devices), repeat=1, scale=_SCALE, max_iterations=_ITERATIONS)


@pytest.fixture(autouse=True)
def fewer_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study of work-groups takes 4 of them, not 25, that of schedules a chunk or two, that of variations two."""
    monkeypatch.setattr(workgroup, "SIDES", (1, 16))
    monkeypatch.setattr(scaling_devices, "_CHUNKS", (3,))
    monkeypatch.setattr(scaling, "_CHUNKS", (16,))
    monkeypatch.setattr(variations, "CASES", variations.CASES[-2:])


@pytest.fixture(scope="module")
def best() -> Device:
    """A device with double that can be partitioned, where there is one."""
    every = [found for parameter in found_devices() if isinstance(found := parameter.values[0], Device)]
    if not every:
        pytest.skip("no OpenCL device")
    return min(every, key=lambda device: (not device.fp64, not _divides(device), device.spec))


def _divides(device: Device) -> bool:
    try:
        return len(device.partition([1])) == 1
    except DeviceError:
        return False


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name == "scaling")) for name in STUDIES]
)
def test_study(device: Device, name: str, tmp_path: Path) -> None:
    study = find_study(name)
    rows = list(study.run(tiny(device)))
    assert rows
    for row in rows:
        if row.error:
            assert any(lack in row.error for lack in _LACKS), row
        else:
            assert row.validation == "ok", row
            assert row.kernel_s is not None
            assert row.wall_s is not None
            assert row.samples >= 1
    assert any(not row.error for row in rows) or not device.fp64
    document = Document(study, rows, "test", "2026-01-01", "0.0")
    assert len({(row["case"], row["spec"]) for row in document.as_dict()["rows"]}) == len(rows)
    assert json.loads(document.to_json())["study"] == name
    pytest.importorskip("matplotlib")
    path = tmp_path / "plot.png"
    plots.save(study, document.as_dict()["rows"], path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [entry.name for entry in tmp_path.iterdir()] == ["plot.png"]


@pytest.mark.full
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in ("scaling", "sizes"))) for name in STUDIES]
)
def test_wrong_device_is_detected(best: Device, name: str) -> None:
    rows = [row for row in find_study(name).run(tiny(WrongDevice(best.spec, best.handle))) if not row.error]
    rows = [row for row in rows if row.spec != native.SPEC]
    assert rows
    for row in rows:
        assert row.validation == "WRONG", row
        assert row.differing_pixels is not None
        one_block = row.launches == 1 and "static" not in row.case and "dynamic" not in row.case
        assert row.differing_pixels == 1 if one_block else row.differing_pixels >= 1
        assert "WRONG" in Document(find_study(name), [row], "", "", "").to_markdown()


@pytest.mark.full
def test_wrong_device_is_detected_beside_a_correct_one(best: Device) -> None:
    rows = list(find_study("hybridizer").run(tiny(best, WrongDevice(best.spec, best.handle))))
    validations = [row.validation for row in rows if not row.error and row.spec != native.SPEC]
    assert validations == ["ok", "WRONG"] * (len(validations) // 2)


def test_too_slow_case_is_a_row_with_its_reason(best: Device) -> None:
    bench = Bench([best], repeat=1, patience=1e-9)
    row = bench.row(best, "a", jobs.hybridizer_job(64))
    assert "--patience" in row.error
    assert row.kernel_s is None


def test_a_failed_device_is_a_row_with_its_reason(best: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> Any:
        raise DeviceError(f"{best.label} is out of memory (-4); try a smaller picture")

    monkeypatch.setattr(best, "allocate", fail)
    rows = list(find_study("workgroup").run(tiny(best)))
    assert all(row.error == "is out of memory (-4); try a smaller picture" for row in rows)


def test_study_stops_on_cancel(best: Device) -> None:
    bench = tiny(best)
    rows: list[Row] = []

    def stop(row: Row) -> None:
        rows.append(row)
        bench.cancel.set()

    with pytest.raises(CancelledError):
        deque(map(stop, find_study("hybridizer").run(bench)))
    assert len(rows) == 1


def test_parts_of_a_device(device: Device) -> None:
    if not _divides(device):
        with pytest.raises(DeviceError, match="cannot be"):
            device.partition([1])
        return
    (part,) = device.partition([1])
    assert part.compute_units == 1
    assert part.spec == f"{device.spec}/0"
    assert [each.compute_units for each in device.partition([1] * device.compute_units)] == [1] * device.compute_units
    with pytest.raises(DeviceError, match="cannot be cut into"):
        device.partition([device.compute_units, 1])


@pytest.mark.parametrize("resolution", [500, pytest.param(1000, marks=pytest.mark.long)])
def test_the_published_counts_of_differing_pixels(device: Device, resolution: int) -> None:
    """In the report's own order of operations exactly as many pixels differ as it says."""
    if not device.fp64:
        pytest.skip("no double precision")
    from mandelcl.lab.studies.jobs import published_order

    found = []
    for number in ("float", "double"):
        work = published_order(jobs.hpc_job(resolution, number), device, lambda: None)
        work.run()
        found.append(work.counts)
    assert int(np.count_nonzero(found[0] != found[1])) == hpc_published.DIFFERING[resolution]


WIDE_DUST = next(case for case in variations.CASES if case.name == "wide Julia dust")
FINE = rules.DivisionRule("fine", lambda _plan: DivisionPlan(smallest=4, steps=0, trust="all"), proves=False)


def traced_by(device: Device, rule: rules.DivisionRule, job: Job, measured_on: Device) -> Row:
    """Return the row of a job that is traced by a rule, beside what escape time gives on a device."""
    bench = Bench([device], repeat=1)
    timed = Timed(job, measured_on, None, bench.cancel)
    row = bench.measured(Row.of(measured_on, "escape", {}), timed, timed)
    assert row.validation == "ok"
    return rules.by_rule(bench, device, job, rule, rules.Measure(timed.counts, row), Row.of(device, "rule", {}))


def test_wrong_pixels_of_a_rule_do_not_fail_the_row(device: Device) -> None:
    """Pieces of dust lie in rectangles whose border has one count; what is wrong there is found, every pixel of it."""
    row = traced_by(device, FINE, WIDE_DUST.job(512, 40), device)
    assert (row.validation, row.error) == ("ok", "")
    assert row.extra["wrong_pixels"] == 13
    computed = row.extra["computed"]
    assert isinstance(computed, float)
    assert 0.1 < computed < 0.3
    assert row.extra["speed_up"]
    assert "against their rectangles" in row.checked


@pytest.mark.full
def test_wrong_device_is_not_counted_as_wrong_rule(best: Device) -> None:
    wrong = WrongDevice(best.spec, best.handle)
    row = traced_by(wrong, rules.STRICT, variations.CASES[-1].job(8, 30), best)
    assert row.validation == "WRONG"
    assert row.differing_pixels
    assert "wrong_pixels" not in row.extra


def test_failed_escape_run_leaves_nothing_to_compare(best: Device) -> None:
    rows = list(
        find_study("variations").run(Bench([best], repeat=1, scale=_SCALE, max_iterations=_ITERATIONS, patience=1e-9))
    )
    assert "--patience" in rows[0].error
    assert all(row.error for row in rows)
    assert {row.error for row in rows[1:3]} == {"escape time has no counts here to compare with"}


def test_strict_job_is_traced_by_the_strict_rule_only(best: Device) -> None:
    job = jobs.report_job(32, 50, "border")
    resolved = replace(job, method="direct")
    assert rules.ALONE.traced(choose.fastest(job, [best]), Settings()).job == resolved
    with pytest.raises(InvalidInputError, match="a strict job fills what is proved"):
        rules.ALONE.traced(choose.fastest(replace(job, strict=True), [best]), Settings())
