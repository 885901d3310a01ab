"""What a process opens and loads: a second `render` the runtime of its device alone, and nothing superfluous."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from mandelcl.files import cache
from mandelcl.opencl.device import discover
from mandelcl.opencl.runtimes import prepare
from tests.cli.conftest import SMALL
from tests.warm import share

pytestmark = [
    pytest.mark.usefixtures("usable"),
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"),
]

# Runs a command, without the runtimes of pip where that is asked for, then prints the runtimes whose libraries are
# mapped into this process.
# Packages and modules that the picture of one device, by escape, does without.
ON_DEMAND = (
    *("engine.loop.border", "colour.tracing_picture"),
    *("rendering.crew", "rendering.certify", "perturbation", "lab", "workers"),
)
CHILD = """
import json, os, sys
from pathlib import Path
from mandelcl.cli import main
from mandelcl.opencl import runtimes
if os.environ.get("WITHOUT_PIP"):
    runtimes.pip_vendors = lambda _folder: []
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
mapped = Path("/proc/self/maps").read_text()
opened = [vendor.library for vendor in runtimes.prepare().vendors if Path(vendor.library).name in mapped]
print(json.dumps({"opened": opened, "loaded": list(sys.modules)}))
"""


@dataclass(frozen=True)
class Ran:
    opened: list[str]
    loaded: list[str]
    report: dict[str, Any]


class Command:
    """Runs `mandelcl` in a process of its own, on a copy of this machine's runtimes, with nothing chosen before."""

    def __init__(self, root: Path) -> None:
        self.vendors, self.cache = root / "vendors", root / "cache"
        self.vendors.mkdir()
        share(self.cache)
        for vendor in prepare().vendors:
            if vendor.origin == "system":
                (self.vendors / vendor.icd.name).write_bytes(vendor.icd.read_bytes())
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("OCL_", "MANDELCL_"))
        }
        self.environment |= {"MANDELCL_CACHE": str(self.cache), "OPENCL_VENDOR_PATH": str(self.vendors)}

    def __call__(self, *arguments: str, **variables: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, *arguments],
            env=self.environment | variables,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if variables.get("MANDELCL_CACHE") is None:
            share(self.cache)
        *report, last = done.stdout.splitlines()
        return Ran(**json.loads(last), report=json.loads(report[0]) if report else {})

    def render(self, *arguments: str, **variables: str) -> Ran:
        return self("render", *SMALL, "--json", *arguments, **variables)


def same(one: Ran, other: Ran) -> bool:
    """Whether two runs gave the same counts on the same device, settled alike."""
    names = ("device", "platform", "driver", "number", "rounding", "counts_sha256", "job")
    return all(one.report.get(name) == other.report.get(name) for name in names)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    made = Command(tmp_path)
    if len(made.render().opened) < 2:
        pytest.skip("needs two runtimes, and the loader of pyopencl's wheel")
    return made


@pytest.mark.full
def test_a_second_render_opens_one_runtime(command: Command) -> None:
    first, second = command.render("--no-shortcuts", "--number", "double"), command.render()
    assert len(first.opened) > 1
    assert len(second.opened) == 1
    full = command.render(POCL_MANDELCL_TEST="1")  # a full look, with the same results of self-tests
    assert len(full.opened) > 1
    assert same(second, full)
    assert len(command.render("--iterations", "50", "-o", "other.npz").opened) == 1
    assert len(command("coursework", "8", "8").opened) > 1  # it takes another number
    assert len(command("coursework", "8", "8").opened) == 1


@pytest.mark.long
def test_samples_in_another_number_open_all_runtimes(command: Command) -> None:
    """Another device may be the fastest for them; so the device cannot depend on what an earlier run has remembered."""
    single = next((device for device in discover() if not device.fp64), None)
    if single is None:
        pytest.skip("every device has double")
    words = ("--at", "lightning", "--size", "16x9", "--device", single.spec, "-o", "deep.png")
    first, second = (command("render", *words) for _ in range(2))
    assert len(first.opened) > 1
    assert len(second.opened) > 1


@pytest.mark.full
def test_each_device_choice_is_cached_separately(command: Command) -> None:
    listed = json.loads(
        subprocess.run(
            [sys.executable, "-m", "mandelcl", "devices", "--no-self-test", "--json"],
            env=command.environment,
            text=True,
            capture_output=True,
            check=True,
        ).stdout
    )["devices"]
    for device in listed:
        first, second = command.render("--device", device["spec"]), command.render("--device", device["spec"])
        assert len(first.opened) > 1
        assert len(second.opened) == 1
        assert same(first, second)
        assert second.report["device"] == device["name"]
        assert second.report["platform"] == device["platform"]


@pytest.mark.full
def test_several_devices_and_device_list_open_all_runtimes(command: Command) -> None:
    command.render("--device", "all")
    assert len(command.render("--device", "all").opened) > 1
    assert len(command("devices", "--no-self-test", "--json").opened) > 1


@pytest.mark.full
def test_removed_runtime_is_ignored(command: Command) -> None:
    if len(prepare().vendors) < 3:
        pytest.skip("needs two runtimes of the system beside one of pip")
    command.render(WITHOUT_PIP="1")
    (used,) = command.render(WITHOUT_PIP="1").opened
    for icd in command.vendors.iterdir():
        if icd.read_text().strip() == used:
            icd.unlink()
    left = command.render(WITHOUT_PIP="1").opened
    assert left
    assert used not in left


def _other_variable(command: Command) -> None:
    command.environment["POCL_MANDELCL_TEST"] = "1"


def _entries(command: Command, kind: str) -> list[Path]:
    return list((command.cache / kind).iterdir())


def _damage(command: Command) -> None:
    for path in _entries(command, "choices"):
        path.write_bytes(path.read_bytes()[:-1])


def _other_facts(command: Command) -> None:
    """Have the device look as if another were in its place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MANDELCL_CACHE", str(command.cache))
        for path in _entries(command, "choices"):
            values = json.loads(cache.read("choices", path.name) or b"")
            cache.write("choices", path.name, json.dumps(values | {"facts": "another device"}).encode())


def _forget_tests(command: Command) -> None:
    for path in _entries(command, "selftest"):
        path.unlink()


def _one_more(command: Command) -> None:
    (command.vendors / "more.icd").write_text("libnone.so.7")


@pytest.mark.full
@pytest.mark.parametrize(
    "change",
    [
        _other_variable,
        _damage,
        *(pytest.param(each, marks=pytest.mark.long) for each in (_other_facts, _forget_tests)),
        _one_more,
    ],
)
def test_unknown_choice_opens_all_runtimes(command: Command, change: Callable[[Command], None]) -> None:
    first = command.render()
    assert len(first.opened) == 1
    change(command)
    second = command.render()
    assert len(second.opened) > 1
    if change is not _forget_tests:  # which measures the speeds anew
        assert same(first, second)
    assert len(command.render().opened) == 1


@pytest.mark.full
@pytest.mark.parametrize("cached", ["off", "no folder"])
def test_disabled_cache_opens_all_runtimes(command: Command, tmp_path: Path, cached: str) -> None:
    if cached == "no folder":
        cached = str(tmp_path / "a file" / "cache")
        (tmp_path / "a file").write_text("")
    for _ in range(2):
        ran = command.render("--no-self-test", MANDELCL_CACHE=cached)
        assert len(ran.opened) > 1


@pytest.mark.full
def test_single_device_loads_no_crew_modules(command: Command) -> None:
    loaded = command("render", *SMALL, "-o", "picture.png").loaded
    assert not {"rich", "PIL", "gmpy2", "matplotlib", "numpy.random", "ssl", "subprocess"} & set(loaded)
    for name in ON_DEMAND:
        assert find_spec(f"mandelcl.{name}")  # a name that was changed would be found nowhere
        assert not [module for module in loaded if module.startswith(f"mandelcl.{name}")]
    assert "mandelcl.engine.loop.border" in command("render", *SMALL, "--algorithm", "border").loaded
