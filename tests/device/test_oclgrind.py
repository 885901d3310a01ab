"""Oclgrind sees no access out of bounds, no race and no use of uninitialised memory in any kernel."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base.names import PERTURBED_NUMBERS
from mandelcl.core.numbers import NUMBERS
from mandelcl.opencl import oclgrind
from tests.device.targets import oracle_follows

_ROOT = Path(__file__).parents[2]
# pyopencl asks for every property of a device, also those that Oclgrind does not know; that is no fault of ours.
_HARMLESS = re.compile(
    r"\nOclgrind - OpenCL runtime error detected\n\tFunction: clGet\w+Info\n(\t.*\n|For argument.*\n)*"
)


def run(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Return what `oclgrind_jobs` printed and what Oclgrind complained of."""
    found = oclgrind.library()
    if found is None:
        pytest.skip("Oclgrind is not installed")
    (folder / "vendors").mkdir()
    log = folder / "log"
    settings = {
        **oclgrind.alone(found, folder / "vendors"),
        **oclgrind.checking(log),
        "MANDELCL_CACHE": str(folder / "cache"),
        "OCLGRIND_CHECK_API": "1",
        # Oclgrind's check for uninitialised memory does not know all instructions that its optimiser makes.
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH")))),
    }
    command = [sys.executable, "-m", "tests.device.oclgrind_jobs", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=_ROOT, env=os.environ | settings)
    complaints = log.read_text(errors="replace") if log.exists() else ""
    assert done.returncode == 0, f"{done.stderr[-3000:]}\n{complaints[-3000:]}"
    return json.loads(done.stdout.splitlines()[-1]), complaints


def complaints_of(done: str) -> str:
    return _HARMLESS.sub("", done).strip()


def _level_of(what: str, number: str, rounding: str) -> list[pytest.MarkDecorator]:
    if number == "double" or rounding == "separate":
        return [pytest.mark.long]
    return [] if what == "check-first-version" else [pytest.mark.full]


@pytest.mark.parametrize(
    ("what", "number", "rounding"),
    [
        # Texts in double differ from those in float by types alone, those in `separate` by single operations, and
        # Oclgrind takes minutes for each.
        pytest.param(*case, marks=_level_of(*case))
        for case in [
            *(
                ("check", name, rounding)
                for name, number in NUMBERS.items()
                if oracle_follows(number)
                for rounding in number.roundings
            ),
            *(("check-fixed", "fp128", "fixed"), ("check-first-version", "fp128", "fixed")),
            *(("check-perturbation", name, "fused") for name in PERTURBED_NUMBERS),
        ]
    ],
)
def test_kernels_are_clean(tmp_path: Path, what: str, number: str, rounding: str, exercised: list[str]) -> None:
    found, log = run(tmp_path, what, number, rounding)
    exercised.append(f"{found['platform']}|{found['device']}, driver {found['driver']}")
    assert found["platform"] == "Oclgrind"
    assert complaints_of(log) == ""
    assert found["wrong"] == []
    assert found["passed"], found["reason"]
    least = {"check": 100, "check-fixed": 20, "check-first-version": 8, "check-perturbation": 12}
    assert found["launches"] > least[what], "no survivors were made"


def test_oclgrind_reports_a_planted_error(tmp_path: Path, exercised: list[str]) -> None:
    found, log = run(tmp_path, "break", "float", "separate")
    exercised.append(f"{found['platform']}|{found['device']}, driver {found['driver']}")
    complaints = complaints_of(log)
    assert "Invalid write of size 4 at global memory address" in complaints
    assert re.search(r"data race", complaints)
    assert "ninitialized value" in complaints
    assert "Kernel: broken" in complaints
