"""Whatever a device does, the picture is right: faults of every kind, at every call, on every implementation."""

import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.settings import Settings
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.crew.worker_pool import StartWorker, start_process
from mandelcl.rendering.render import render
from mandelcl.workers.process import WorkerProcess
from mandelcl.workers.supervised import RestartPolicy
from tests.device.faulty_worker import KINDS, LIES, SITES

JOB = Job(
    View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), 200, 150), 3000, number="float", rounding="separate"
)
POLICY = RestartPolicy(start=30, launch=4)


@cache
def crew_choices() -> list[Choice]:
    devices = [device for device in discover() if "oclgrind" not in device.platform.lower()]
    return choose.several(JOB, devices, required_specs=())[0]


def choice_of(platform: str) -> Choice:
    """Return a choice on a platform; skip the test where none of its devices may take part."""
    for choice in crew_choices():
        if choice.device.platform == platform:
            return choice
    pytest.skip(f"no device of {platform} passes its self-test")


@cache
def clean() -> Field:
    """Return the picture; each device's rate is known then, and a worker makes one launch before it is ready."""
    return [render(JOB, choice.device)[0] for choice in crew_choices()][-1]


@pytest.fixture(autouse=True)
def _enough(exercised: list[str]) -> None:
    if len(crew_choices()) < 2:
        pytest.skip("a crew needs two OpenCL devices")
    clean()
    for choice in crew_choices():
        exercised.append(f"{choice.device.platform}|{choice.device.name}, driver {choice.device.driver}")


@pytest.fixture
def several_platforms() -> None:
    """Skip where all devices are of one platform: what is told to fail is a platform."""
    if len(platforms()) < 2:
        pytest.skip("needs devices of two platforms, one of which goes on")


def shared(
    start_worker: StartWorker = start_process, choices: Sequence[Choice] = (), settings: Settings | None = None
) -> tuple[Field, list[str]]:
    """Return the picture that a crew, by default of all devices, makes, and its faults."""
    with closing(Crew(choices or crew_choices(), settings, policy=POLICY, start_worker=start_worker)) as crew:
        crew.assemble()
        counts = np.zeros((JOB.view.height, JOB.view.width), np.uint32)
        seen = np.zeros_like(counts)
        for block, results, _ in crew.run([Block(0, 0, JOB.view.width, JOB.view.height)]):
            place = np.s_[block.y : block.y + block.height, block.x : block.x + block.width]
            counts[place] = results[0]
            seen[place] += 1
        assert (seen == 1).all()
        return Field(JOB, {"counts": counts}), crew.faults


def faulty(platform: str, site: str, kind: str, at: int, flag: Path | str) -> StartWorker:
    line = (sys.executable, "-m", "tests.device.faulty_worker", platform, site, kind, str(at), str(flag))
    return partial(start_process, command_line=line)


def platforms() -> list[str]:
    """Return the names of the platforms with a device that may take part."""
    return sorted({device.platform for device in discover() if "oclgrind" not in device.platform.lower()})


CASES = [*product(SITES, KINDS), *product(["fetch"], LIES)]
FEW = [("upload", "exit", 1), ("launch", "-5", 1), ("wait", "hang", 2), ("fetch", "kill", 1)]


def check(platform: str, site: str, kind: str, at: int, folder: Path) -> None:
    flag = folder / "flag"
    field, faults = shared(faulty(platform, site, kind, at, flag))
    assert field.counts_sha256() == clean().counts_sha256()
    # Another worker may have done the same block before the fault was noticed: then it cost nothing.
    assert flag.exists() or not faults


@pytest.mark.full
@pytest.mark.parametrize("platform", platforms())
@pytest.mark.parametrize(("site", "kind", "at"), FEW)
def test_fault_costs_seconds_and_picture_is_correct(
    platform: str, site: str, kind: str, at: int, tmp_path: Path
) -> None:
    check(platform, site, kind, at, tmp_path)


def others_are_long() -> list[ParameterSet]:
    """Return the platforms, those but the first for long runs: the host does what is tested."""
    return [
        pytest.param(platform, marks=[pytest.mark.long] if number else [])
        for number, platform in enumerate(platforms())
    ]


@pytest.mark.full
@pytest.mark.parametrize("platform", others_are_long())
@pytest.mark.parametrize(
    ("site", "kind", "at"),
    [
        *(
            pytest.param("fetch", lie, 1 + (lie == "idle"), marks=[] if lie == LIES[0] else [pytest.mark.long])
            for lie in LIES
        ),
        *(("launch", "-14", 1), ("wait", "hang", 2)),
    ],
)
def test_single_faulty_device_is_detected(platform: str, site: str, kind: str, at: int, tmp_path: Path) -> None:
    """Nobody else does its work, so it is begun again, and the fault is told."""
    choice = choice_of(platform)
    field, faults = shared(faulty("", site, kind, at, tmp_path / "flag"), [choice])
    assert field.counts_sha256() == clean().counts_sha256()
    assert len(faults) == 1
    assert "started again" in faults[0]


@pytest.mark.long
@pytest.mark.parametrize("at", [1, 4])
@pytest.mark.parametrize("platform", platforms())
@pytest.mark.parametrize(("site", "kind"), CASES)
def test_every_fault_at_every_call(platform: str, site: str, kind: str, at: int, tmp_path: Path) -> None:
    check(platform, site, kind, at, tmp_path)


@pytest.mark.full
@pytest.mark.usefixtures("several_platforms")
@pytest.mark.parametrize(("site", "kind"), [("fetch", "wrong"), ("wait", "-36")])
def test_a_device_that_always_fails_is_retired(site: str, kind: str) -> None:
    platform = crew_choices()[0].device.platform
    field, faults = shared(faulty(platform, site, kind, 1, "always"))
    assert field.counts_sha256() == clean().counts_sha256()
    mine = [fault for fault in faults if platform in fault]
    assert len(mine) <= POLICY.faults_in_a_row * sum(c.device.platform == platform for c in crew_choices())
    if len(mine) == POLICY.faults_in_a_row:
        assert "retired" in mine[-1]


@pytest.mark.full
def test_long_launch_within_budget_is_not_a_fault(tmp_path: Path) -> None:
    """The budget is half of what a launch may take without one, and a launch of three times as long is waited for."""
    flag = tmp_path / "flag"
    settings = Settings(budget=POLICY.launch / 2)
    field, faults = shared(faulty("", "wait", "slow", 2, flag), crew_choices()[:1], settings)
    assert flag.exists()
    assert faults == []
    assert field.counts_sha256() == clean().counts_sha256()


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="there is no sleep that holds the interpreter")
@pytest.mark.parametrize("platform", others_are_long())
def test_driver_that_compiles_at_first_launch_is_not_timed_out(platform: str, tmp_path: Path) -> None:
    """It holds the interpreter for longer than a launch may take; the kernel is one that no start has launched."""
    choice = choice_of(platform)
    flag = tmp_path / "flag"
    field, faults = shared(faulty("", "survivors", "compile", 1, flag), [choice])
    assert flag.exists()
    assert faults == []
    assert field.counts_sha256() == clean().counts_sha256()


@pytest.mark.full
@pytest.mark.usefixtures("several_platforms")
def test_another_device_checks_if_the_host_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.rendering.crew.checking._CHECK_ITERATIONS", {"separate": 0})
    monkeypatch.setattr("mandelcl.rendering.crew.crosscheck._MOST_WAITING", 1000)
    monkeypatch.setattr("mandelcl.rendering.crew.judging._GRACE_S", 60)
    # One that lies; two of a kind with the same lie would confirm each other.
    choices = {choice.device.platform: choice for choice in crew_choices()}
    lies = next(iter(choices.values())).device
    field, faults = shared(faulty(lies.platform, "fetch", "wrong", 1, "always"), [*choices.values()])
    assert field.counts_sha256() == clean().counts_sha256()
    assert faults
    assert all(fault.startswith(f"{lies.label}: returned a wrong count") for fault in faults)


@pytest.mark.full
@pytest.mark.usefixtures("several_platforms")
def test_retired_device_does_not_delay_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """All counts are too high for the host to check, so each device waits for the other, of which one always ends."""
    monkeypatch.setattr("mandelcl.rendering.crew.checking._CHECK_ITERATIONS", {"separate": 0})
    kept, ends = crew_choices()[-1], crew_choices()[0]
    found: list[tuple[Field, list[str]]] = []
    how = faulty(ends.device.platform, "fetch", "exit", 1, "always")
    thread = threading.Thread(target=lambda: found.append(shared(how, [kept, ends])), daemon=True)
    thread.start()
    thread.join(600)
    assert found, "it hangs"
    assert found[0][0].counts_sha256() == clean().counts_sha256()


@pytest.mark.full
def test_no_device_left_is_an_error() -> None:
    with pytest.raises(DeviceError, match="no device is left"):
        shared(faulty("", "launch", "exit", 1, "always"))


@pytest.mark.full
def test_healthy_workers_report_no_fault() -> None:
    field, faults = shared()
    assert field.counts_sha256() == clean().counts_sha256()
    assert faults == []


def kill_at_random(workers: list[WorkerProcess], kills: int) -> None:
    """Render, with a worker killed at a random moment of each picture, until so many kills have struck a live one."""
    chance, struck = np.random.default_rng(kills), 0
    while struck < kills:
        workers.clear()
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(shared)
            time.sleep(float(chance.uniform(0, 1.5)))
            if workers and not result.done():
                victim = workers[int(chance.integers(len(workers)))]
                struck += victim.running
                victim.kill()
            assert result.result(120)[0].counts_sha256() == clean().counts_sha256()


@pytest.mark.full
def test_killed_workers(workers: list[WorkerProcess]) -> None:
    kill_at_random(workers, 3)


@pytest.mark.long
def test_a_hundred_killed_workers(workers: list[WorkerProcess]) -> None:
    kill_at_random(workers, 100)


@pytest.mark.full
def test_devices_by_python(exercised: list[str]) -> None:
    devices: list[Device] = [choice.device for choice in crew_choices()]
    field, report = render(JOB, devices)
    assert field.counts_sha256() == clean().counts_sha256()
    assert report.device == [device.name for device in devices]
    assert exercised
