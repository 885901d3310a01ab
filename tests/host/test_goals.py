"""The script that measures a checkout, on one that is made for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "scripts" / "goals"
_SOURCES = {
    "__init__.py": "from mandelcl.core.job import Job\n",
    "job.py": "class Job:\n    pass\n",
    "engine/__init__.py": "",
    "engine/choose.py": (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from mandelcl.rendering.streaming import Job\n"
        'def number(job):\n    return "float" if job.number == "auto" else job.number\n' + "\n" * 40
    ),
    "formulas/__init__.py": "",
    "formulas/square.py": "",
    "rendering/__init__.py": "",
    "rendering/streaming.py": (
        "from .. import job\n\n"
        "def render_to():\n    from mandelcl.engine import choose\n    return choose\n\nclass Job:\n    pass\n"
    ),
}


@pytest.fixture
def measured(tmp_path: Path) -> dict[str, tuple[int, list[str]]]:
    for name, text in _SOURCES.items():
        path = tmp_path / "mandelcl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-I", "-S", str(_SCRIPT), "--json", str(tmp_path)]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {what: (row["number"], row["names"]) for what, row in rows.items()}


@pytest.mark.parametrize(
    ("what", "number", "names"),
    [
        ("packages", 3, ["engine", "formulas", "rendering"]),
        ("modules at the root", 1, ["job"]),
        ("modules", 8, []),
        ("modules under 40 lines, besides __init__ and values", 2, ["job (2)", "rendering.streaming (8)"]),
        ("lines of Python", 57, []),
        ("modules that an import of `render_to` loads", 4, ["", "job", "rendering", "rendering.streaming"]),
        ("modules that decide what `auto` is", 1, ["engine.choose"]),
        ("import cycles between packages", 1, ["engine rendering"]),
        ("import cycles of modules across packages", 1, ["engine.choose rendering.streaming"]),
        ("public class names with two meanings", 1, ["Job: job rendering.streaming"]),
    ],
)
def test_the_script_measures_a_checkout(
    measured: dict[str, tuple[int, list[str]]], what: str, number: int, names: list[str]
) -> None:
    assert measured[what] == (number, names)


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-I", str(_SCRIPT), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{tmp_path} holds no mandelcl/" in done.stderr
