"""What device tests share."""

import pytest

from mandelcl.core.numbers import by_name
from mandelcl.opencl.device import Device
from mandelcl.workers.process import WorkerProcess
from tests.device.targets import name_of


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[WorkerProcess]:
    """Return a list to which every worker process that a crew starts is added."""
    started: list[WorkerProcess] = []

    class Recorded(WorkerProcess):
        def __init__(self, *arguments: object, **settings: object) -> None:
            super().__init__(*arguments, **settings)  # type: ignore[arg-type]
            started.append(self)

    monkeypatch.setattr("mandelcl.rendering.crew.worker_pool.WorkerProcess", Recorded)
    return started


@pytest.fixture
def builds_perturbation(request: pytest.FixtureRequest, device: Device) -> None:
    """Skip where a driver takes long over the kernels of perturbation, unless the tests may take long."""
    if not (device.fp64 or request.config.getoption("--long")):
        pytest.skip("rusticl compiles each kernel of perturbation for ten seconds and more: run with --long")


@pytest.fixture(params=["double", "float"])
def number(request: pytest.FixtureRequest, device: Device) -> str:
    """Return each number that a device has."""
    name: str = request.param
    if by_name(name).needs_fp64 and not device.fp64:
        pytest.skip(f"{name_of(device)} has no double precision")
    return name
