"""The text by which an installation of runtimes is told from another."""

import os
from collections import UserDict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mandelcl.opencl import installation as module
from mandelcl.opencl.installation import installation
from mandelcl.opencl.runtimes import prepare
from tests.host.conftest import Machine

PACKAGE = Path(module.__file__).parents[1]


def text(machine: Machine) -> str:
    """What another process would read."""
    return installation(machine.again())


@pytest.fixture
def installed(machine: Machine) -> Machine:
    """A machine with a runtime by its name, one by its path, and a folder of devices."""
    machine.add("drivers/libpocl.so.2", "pocl")
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    machine.add("venv/lib/libintelocl.so", "intel")
    machine.add("boot", "first")
    machine.add("dev/card0")
    machine.patch.setattr(module, "_DEVICE_FOLDERS", (str(machine.root / "dev"), str(machine.root / "none")))
    machine.patch.setattr(module, "_FACTS", (str(machine.root / "boot"), str(machine.root / "none")))
    machine.patch.setattr(module, "_LINKER", str(machine.add("ld.so.cache")))
    return machine


def _newer(path: Path) -> None:
    os.utime(path, (1, 1))


@pytest.mark.parametrize(
    "change",
    [
        lambda machine: machine.add("etc/OpenCL/vendors/other.icd", "libother.so"),
        lambda machine: (machine.system / "pocl.icd").unlink(),
        lambda machine: machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.3"),
        lambda machine: machine.add("drivers/libpocl.so.2", "a newer one"),
        lambda machine: _newer(machine.root / "drivers/libpocl.so.2"),
        lambda machine: (machine.prefix / "lib/libintelocl.so").unlink(),
        lambda machine: _newer(machine.prefix / "lib/libintelocl.so"),
        lambda machine: machine.add("venv/lib/libintelocl_needs_this.so"),
        lambda machine: _newer(machine.root / "ld.so.cache"),
        lambda machine: machine.add("boot", "second"),
        lambda machine: machine.add("dev/card1"),
        lambda machine: (machine.root / "dev/card0").unlink(),
        lambda machine: machine.patch.setenv("POCL_MAX_WORK_GROUP_SIZE", "8"),
        lambda machine: machine.patch.setenv("CUDA_VISIBLE_DEVICES", ""),
        lambda machine: machine.patch.setenv("OCL_ICD_VENDORS", str(machine.system)),
        lambda machine: machine.patch.setenv("RUSTICL_ENABLE", "zink"),
        lambda machine: machine.patch.setenv("LD_LIBRARY_PATH", "/opt/lib"),
        lambda machine: machine.patch.setattr(module, "__version__", "99"),
        lambda machine: machine.patch.setattr(os, "getgroups", lambda: [4711], raising=False),
    ],
)
def test_fingerprint_changes_with_anything_that_may_change_devices(
    installed: Machine, change: Callable[[Machine], object]
) -> None:
    before = text(installed)
    change(installed)
    assert text(installed) != before


def test_fingerprint_is_otherwise_stable(installed: Machine) -> None:
    before = text(installed)
    installed.patch.setenv("TERM", "another")
    installed.patch.setenv("HOME", "/elsewhere")
    installed.patch.chdir(installed.root)
    assert text(installed) == before


def test_loader_configured_by_user_opens_no_single_library(installed: Machine) -> None:
    assert not prepare().takes_library  # the machine made of files has no wheel
    installed.patch.setattr("mandelcl.opencl.runtimes.find_loader", lambda: ("a wheel's", installed.root / "wheel"))
    assert installed.again().takes_library
    installed.patch.setenv("OCL_ICD_VENDORS", str(installed.system))
    assert not installed.again().takes_library


@pytest.mark.parametrize("name", module.CODE)
def test_fingerprint_contains_every_module_that_chooses_devices(installed: Machine, name: str) -> None:
    found = text(installed)
    modules = sorted((PACKAGE / name).rglob("*.py"))
    assert modules
    assert [path for path in modules if f"{path} " not in found] == []


class _Vanishing(UserDict[str, str]):
    """An environment of which another thread removes a variable after its name was read."""

    def __iter__(self) -> Iterator[str]:
        yield from [*self.data, "GONE"]


def test_variables_may_vanish_meanwhile(installed: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    before = text(installed)
    monkeypatch.setattr(os, "environ", _Vanishing(dict(os.environ)))
    assert text(installed) == before
