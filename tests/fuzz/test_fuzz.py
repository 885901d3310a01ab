"""A hundred of 3 000 cases (`--long`: all), and that the suite can fail: planted faults are found."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.categories import CATEGORIES, WHOLE, Block, schedule
from tests.fuzz.planted import PLANTS
from tests.fuzz.running import Failure, Piece, Tally
from tests.fuzz.state import OtherRunError, State
from tests.warm import share

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc, limits, signals")
_ROOT = Path(__file__).resolve().parents[2]
_CASES, _SEED = 3000, 20261122
_SMALL_PART, _LARGER_PART = "1/60", "1/30"
_QUARTERS = [f"{k}/4" for k in (1, 2, 3, 4)]  # that may run side by side, each in one process


def fuzz(*arguments: str, keep: Path, path: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.fuzz", "--seed", str(_SEED), "--jobs", "1", "--keep", str(keep), *arguments]
    paths = os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH"))))
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths})


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return a folder that the processes of a test run share, for kernels and self-tests."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder if worker_id == "master" else folder.parent) / "fuzz-cache"
    folder.mkdir(mode=0o700, exist_ok=True)
    share(folder)
    return folder


@pytest.mark.parametrize(
    "part",
    [
        _SMALL_PART,
        pytest.param(_LARGER_PART, marks=pytest.mark.full),
        *(pytest.param(part, marks=pytest.mark.long) for part in _QUARTERS),
    ],
)
def test_cases(part: str, tmp_path: Path, shared: Path) -> None:
    done = fuzz("--cases", str(_CASES), "--shard", part, "--cache", str(shared), keep=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


_QUICK = ("traceback", "leftover", "wrong")


@pytest.mark.full
@pytest.mark.parametrize(
    "name", [name if name in _QUICK else pytest.param(name, marks=pytest.mark.long) for name in PLANTS]
)
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


@pytest.mark.full
def test_what_needs_a_library_that_is_missing_is_left_out(tmp_path: Path, shared: Path) -> None:
    """It is said once, and no case fails for it."""
    without = {"OpenEXR": ".exr", "pyvips": ".dzi", "tifffile": ".tif", "av": "encoded films", "websockets": "explorer"}
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for name in without:
        (libraries / f"{name}.py").write_text(f"raise ModuleNotFoundError('No module named {name}', name='{name}')")
    kinds = [word for name in ("interrupts", "foreign", "pictures", "explorer") for word in ("--only", name)]
    done = fuzz("--cases", "40", *kinds, "--cache", str(shared), keep=tmp_path / "kept", path=str(libraries))
    assert done.returncode == 0, done.stdout + done.stderr
    for what in without.values():
        assert done.stdout.count(f"without {what}: ") == 1
    assert "| interrupts: " in done.stdout
    assert "| explorer: " not in done.stdout


def test_a_schedule_has_each_case_once() -> None:
    blocks = schedule(_CASES)
    cases = [(block.category, number) for block in blocks for number in range(block.first, block.first + block.count)]
    assert len(set(cases)) == len(cases)
    assert abs(len(cases) - _CASES) < len(CATEGORIES)
    assert sum(category.share for category in CATEGORIES.values()) == WHOLE
    assert {category for category, _ in cases} == set(CATEGORIES)
    assert sum(block.count for block in schedule(WHOLE) if CATEGORIES[block.category].processes) <= 3000
    assert schedule(50, ("fields",)) == [Block("fields", 0, 25), Block("fields", 25, 25)]


FACTS = {"seed": 7, "cases": 100, "only": ["fields", "jobs"]}


def test_run_resumes_from_its_state(tmp_path: Path) -> None:
    """Shards add up; of one that was killed while it wrote, all lines count but the last."""
    one, other, again = (State(tmp_path, FACTS) for _ in range(3))
    one.begin("1/2")
    other.begin("2/2")
    failure = Failure("fields", 27, "what was wrong", "where")
    one.note(Piece("fields", 0, 25, Tally(25, 3, 1.5)))
    one.note(Piece("fields", 25, 3, Tally(3, 1, 0.5), [failure]))
    other.note(Piece("jobs", 25, 25, Tally(25, 2, 1.0)))
    with pytest.raises(OtherRunError, match="in use"):
        again.begin("2/2")
    other.close()
    (done,) = tmp_path.glob("done-2-*")
    done.write_bytes(done.read_bytes() + b'{"category": "jobs", "fir')
    again.begin("2/2")
    again.note(Piece("jobs", 0, 25, Tally(25, 5, 1.0)))
    blocks = [Block("fields", 0, 25), Block("fields", 25, 25), Block("jobs", 0, 25), Block("jobs", 50, 10)]
    assert again.left(blocks) == [Block("fields", 28, 22), Block("jobs", 50, 10)]
    result = again.result()
    assert result.tallies == {"jobs": Tally(50, 7, 2.0), "fields": Tally(28, 4, 2.0)}
    assert result.failures == [failure]
    one.close()
    again.close()


def test_state_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    State(tmp_path, FACTS)
    with pytest.raises(OtherRunError, match="holds a run of seed 7; give that, or another --state"):
        State(tmp_path, FACTS | {"seed": 8})


@pytest.mark.full
def test_finished_run_has_no_cases_left(tmp_path: Path) -> None:
    command = ("--cases", "10", "--only", "jobs", "--state", str(tmp_path / "state"))
    done = [fuzz(*command, keep=tmp_path) for _ in range(2)]
    assert [one.returncode for one in done] == [0, 0], done
    assert [re.search(r"\d+ cases, 1 processes", one.stdout)[0][:2] for one in done] == ["10", "0 "]  # type: ignore[index]
    report = fuzz("--state", str(tmp_path / "state"), "--report", keep=tmp_path)
    assert report.returncode == 0
    assert "0 of 10 cases failed\n" in report.stdout
