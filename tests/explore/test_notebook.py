"""The notebook among the docs: its cells run, and say what stands there."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_notebook_cells_reproduce_their_output() -> None:
    for module in ("anywidget", "xarray", "ipykernel", "nbclient"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    command = [sys.executable, str(ROOT / "scripts" / "notebook"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
