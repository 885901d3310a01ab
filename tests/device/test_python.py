"""`mandelcl.render` as users call it: from scripts without a guard, notebooks, several threads at once; cancelled."""

import asyncio
import gc
import io
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import mandelcl
from mandelcl import Job, View
from mandelcl.base.errors import CancelledError, InvalidInputError, NoDeviceError
from mandelcl.base.system import system
from mandelcl.core.numbers import FLOAT
from mandelcl.engine.computing.settings import Progress, Settings
from mandelcl.engine.variant import default_variant
from mandelcl.opencl.device import discover
from mandelcl.workers.process import WorkerProcess
from tests import posix

JOB = Job(View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), 90, 60), 2000, number="float", rounding="separate")
SCRIPT = """
import mandelcl
from mandelcl import Job
with open({job!r}) as file:
    job = Job.from_json(file.read())
field, report = mandelcl.render(job, {devices!r})
print(field.counts_sha256(), len(report.device))
"""


@pytest.fixture(autouse=True)
def _exercise(exercised: list[str]) -> None:
    exercised += [f"{device.platform}|{device.name}, driver {device.driver}" for device in several()]


@cache
def clean() -> str:
    return mandelcl.render(JOB)[0].counts_sha256()


def several() -> list[mandelcl.opencl.device.Device]:
    """Return the devices that a crew is made of here: all, but Oclgrind, which takes its time."""
    return [device for device in discover() if "oclgrind" not in device.platform.lower()]


def specs() -> list[str]:
    return [device.spec for device in several()]


def test_devices_are_specs_or_devices() -> None:
    first = discover()[0]
    for devices in (first, [first], first.spec, [first.spec]):
        field, report = mandelcl.render(JOB, devices)
        assert (field.counts_sha256(), report.platform) == (clean(), [first.platform])
    field, report = mandelcl.render(JOB, first.platform.upper())
    assert field.counts_sha256() == clean()
    assert set(report.platform) == {first.platform}
    with pytest.raises(NoDeviceError, match="no device matches 'nonsense'"):
        mandelcl.render(JOB, "nonsense")


@pytest.mark.parametrize("kind", [str, Path])
def test_an_output_is_a_path_or_several(tmp_path: Path, kind: Callable[[Path], str | Path]) -> None:
    colouring = mandelcl.Colouring(mandelcl.find_palette("coursework"))
    report = mandelcl.render_to(kind(tmp_path / "one.png"), JOB, colouring, digest=True)
    assert report.counts_sha256 == clean()
    mandelcl.render_to([kind(tmp_path / name) for name in ("two.png", "two.npz")], JOB, colouring)
    mandelcl.render_to(kind(tmp_path / "one.npz"), JOB)
    for suffix in ("png", "npz"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_single_device_runs_in_process(workers: list[WorkerProcess]) -> None:
    mandelcl.render(JOB, specs()[0])
    assert workers == []


@pytest.mark.full
def test_script_without_main_guard_works(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(JOB.to_json(), encoding="utf-8")
    script = SCRIPT.format(job=str(tmp_path / "job.json"), devices=specs())
    for how in (["-c", script], ["-"]):
        done = subprocess.run(
            [sys.executable, *how], input=script, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr
        expected = f"{clean()} {len(specs())}" if len(specs()) > 1 else clean()
        assert done.stdout.startswith(expected)


@pytest.mark.full
def test_render_in_a_notebook_without_stdout_and_with_an_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, stream, io.StringIO())

    async def cell() -> str:
        return mandelcl.render(JOB, specs())[0].counts_sha256()

    with ThreadPoolExecutor(1) as pool:  # this thread may have a loop already: Playwright's
        assert pool.submit(asyncio.run, cell()).result() == clean()


@pytest.mark.full
def test_several_threads_at_once() -> None:
    every = specs()
    with ThreadPoolExecutor(6) as pool:
        wanted: list[list[str]] = [every, every, *[[spec] for spec in every], [], []]
        found = list(pool.map(lambda devices: mandelcl.render(JOB, devices)[0].counts_sha256(), wanted))
    assert set(found) == {clean()}


def test_several_devices_refuse_single_device_options() -> None:
    if len(specs()) < 2:
        pytest.skip("sharing needs two OpenCL devices")
    with pytest.raises(InvalidInputError, match="blocks need a single device"):
        mandelcl.render(JOB, specs(), Settings(blocks=(2, 2)))
    with pytest.raises(InvalidInputError, match="variants need a single device"):
        mandelcl.render(JOB, specs(), Settings(variant=default_variant(several()[0], FLOAT)))


@pytest.mark.full
@pytest.mark.parametrize("how", ["alone", "together"])
def test_progress_grows_to_the_end(how: str) -> None:
    seen: list[Progress] = []
    mandelcl.render(
        JOB, specs() if how == "together" else specs()[:1], Settings(block_pixels=500), progress=seen.append
    )
    done = [step.pixels for step in seen]
    assert done == sorted(set(done))
    assert done[-1] == seen[-1].pixels_total == JOB.view.pixels


@pytest.mark.full
@pytest.mark.parametrize("how", ["alone", "together"])
def test_a_render_can_be_cancelled(how: str, workers: list[WorkerProcess]) -> None:
    """At any moment: before it begins, from the callback, and from another thread in the middle of a long block."""
    devices = specs() if how == "together" else specs()[:1]
    long = Job(JOB.view, 200_000_000, number="float", rounding="separate")

    def from_another_thread(cancel: threading.Event) -> Callable[[Progress], None]:
        threading.Timer(1.5, cancel.set).start()
        return lambda _progress: None

    for job, arrange in (
        (JOB, lambda cancel: cancel.set()),
        (JOB, lambda cancel: lambda _progress: cancel.set()),
        (long, from_another_thread),
    ):
        cancel, settings = threading.Event(), Settings(block_pixels=500, shortcuts=False)
        with pytest.raises(CancelledError, match="stopped"):
            mandelcl.render(job, devices, settings, progress=arrange(cancel), cancel=cancel)
    assert not any(worker.running for worker in workers)


def _held() -> tuple[int, int, int]:
    """Return this process's open files, threads, and bytes in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    resident = pages * posix.os.sysconf("SC_PAGE_SIZE")
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), resident


def _grows(devices: list[str], renders: int, most_bytes: int) -> None:
    if system() != "linux":
        pytest.skip("there is no /proc to ask for open files and memory")
    expected = clean()
    for _ in range(max(2, renders // 10)):  # drivers keep pools, which fill at first
        mandelcl.render(JOB, devices)
    before = _held()
    for _ in range(renders):
        assert mandelcl.render(JOB, devices)[0].counts_sha256() == expected
    gc.collect()
    after = _held()
    print(f"{renders} renders on {', '.join(devices)}: files, threads, bytes {before} before, {after} after")
    assert after[0] <= before[0] + 2
    assert after[1] <= before[1] + 2
    assert after[2] <= before[2] + most_bytes


@pytest.mark.full
@pytest.mark.parametrize("how", ["alone", "together"])
def test_renders_leave_nothing_behind(how: str) -> None:
    _grows(specs() if how == "together" else specs()[:1], 3, 64 << 20)


@pytest.mark.long
@pytest.mark.parametrize("devices", [*[[spec] for spec in specs()], specs()], ids=",".join)
def test_a_thousand_renders_leave_nothing_behind(devices: list[str]) -> None:
    _grows(devices, 1000, 32 << 20)
