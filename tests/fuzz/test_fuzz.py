"""3 000 cases, and that the suite can fail: planted faults are found."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.categories import CATEGORIES, WHOLE, Block, schedule
from tests.fuzz.planted import PLANTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc, limits, signals")
_ROOT = Path(__file__).resolve().parents[2]
_CASES, _SEED = 3000, 20261122
_PARTS = 4  # that may run side by side, each in one process


def fuzz(*arguments: str, keep: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.fuzz", "--seed", str(_SEED), "--jobs", "1", "--keep", str(keep), *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("part", range(_PARTS))
def test_cases(part: int, tmp_path: Path) -> None:
    done = fuzz("--cases", str(_CASES), "--part", f"{part + 1}/{_PARTS}", keep=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path) -> None:
    """Among the 3 000 cases, with a line that says which, and its input kept."""
    plant = PLANTS[name]
    cases = {block.category: block.first + block.count for block in schedule(_CASES)}
    done = fuzz("--cases", str(cases[plant.category]), "--only", plant.category, "--plant", name, keep=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"FAILED {plant.category}/\d+: .*({plant.shows})", done.stdout, re.DOTALL), done.stdout
    assert re.search(r"again: scripts/fuzz --seed \d+ --case [a-z]+/\d+", done.stdout)
    (kept,) = tmp_path.iterdir()
    assert (kept / "FAULT").read_text()


def test_a_schedule_has_each_case_once() -> None:
    blocks = schedule(_CASES)
    cases = [(block.category, number) for block in blocks for number in range(block.first, block.first + block.count)]
    assert len(set(cases)) == len(cases)
    assert abs(len(cases) - _CASES) < len(CATEGORIES)
    assert sum(category.share for category in CATEGORIES.values()) == WHOLE
    assert {category for category, _ in cases} == set(CATEGORIES)
    assert sum(block.count for block in schedule(WHOLE) if CATEGORIES[block.category].processes) <= 3000
    assert schedule(50, ("fields",)) == [Block("fields", 0, 25), Block("fields", 25, 25)]
