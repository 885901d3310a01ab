"""A render that is killed at any moment, and gone on with until it ends, gives the same bytes as an undisturbed one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from mandelcl.engine import choose
from tests import posix
from tests.device import render_child

if not hasattr(signal, "SIGKILL"):
    pytest.skip("nothing to kill with", allow_module_level=True)

LIMIT_S = 120
SEED = 4


@pytest.fixture(scope="module")
def spec() -> str:
    """The device that a render chooses by itself."""
    return choose.fastest(render_child.job(), choose.matching(())).device.spec


class Undisturbed:
    """What a run without a kill leaves, and how long it takes, from `ready` and from the beginning of its store on."""

    def __init__(self, folder: Path, spec: str) -> None:
        for _ in range(2):  # the first builds and measures
            child = start(folder, spec)
            ready = time.monotonic()
            wait_for_store(child, folder)
            stored = time.monotonic()
            assert child.wait(LIMIT_S) == 0
            self.seconds, self.seconds_stored = time.monotonic() - ready, time.monotonic() - stored
        self.files = contents(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, spec: str) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"), spec)


def start(folder: Path, spec: str, *deadly: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    """Start a render and wait until it is ready."""
    command = [sys.executable, "-m", "tests.device.render_child", str(folder), spec, *deadly]
    root = Path(__file__).parents[2]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=os.environ | (env or {}))
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == "ready\n"
    return child


def wait_for_store(child: "subprocess.Popen[str]", folder: Path) -> None:
    """Return when the render keeps what it finishes, or has ended."""
    while child.poll() is None and not store(folder).exists():
        time.sleep(0.001)


def store(folder: Path) -> Path:
    return folder / "picture.png.part" / "manifest.json"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def phase(folder: Path) -> str:
    """Return how far a killed render had come."""
    part = folder / "picture.png.part"
    if not part.exists() and len(list(folder.iterdir())) == 2:
        return "done, and ending"
    if not store(folder).exists():
        return "before the store"
    if len(list(part.glob("band-*"))) < render_child.SIDE // render_child.BLOCK_ROWS - 3:  # the first are not kept
        return "computing"
    return "putting in place" if (folder / "picture.png").exists() else "writing"


def finish(folder: Path, spec: str, undisturbed: Undisturbed) -> None:
    child = start(folder, spec)
    assert child.wait(LIMIT_S) == 0
    assert contents(folder) == undisturbed.files
    assert sorted(path.name for path in folder.iterdir()) == sorted(undisturbed.files), "nothing else is left"


def kill_often(folder: Path, kills: int, spec: str, undisturbed: Undisturbed) -> Counter[str]:
    """Kill renders at random moments until it was done so often, and twice before there was a store and after.

    Each goes on with what the one before has left.
    """
    chance, hits, attempt = random.Random(SEED), Counter[str](), 0
    while hits.total() < kills or not 2 <= hits["before the store"] <= hits.total() - 2:
        attempt += 1
        assert attempt < 4 * kills + 20, f"too few kills hit: {hits}"
        cold = {"MANDELCL_CACHE": str(folder.parent / f"cache{attempt}")} if attempt % 6 == 0 else None
        fresh = not store(folder).exists()
        child = start(folder, spec, env=cold)
        if fresh and (hits["before the store"] < 2 or chance.random() < 0.5):
            time.sleep(chance.uniform(0, 0.8 * (undisturbed.seconds - undisturbed.seconds_stored)))
        elif fresh:  # a fast device has a store only for moments
            wait_for_store(child, folder)
            time.sleep(chance.uniform(0, 1.05 * undisturbed.seconds_stored))
        else:
            time.sleep(chance.uniform(0, 1.05 * undisturbed.seconds))
        child.send_signal(posix.signal.SIGKILL)
        ended = child.wait(LIMIT_S)
        assert ended in (0, -posix.signal.SIGKILL)
        reached = "done" if ended == 0 else phase(folder)
        if reached.startswith("done"):
            assert contents(folder) == undisturbed.files
            for path in folder.iterdir():
                path.unlink()
        else:
            hits[reached] += 1
    finish(folder, spec, undisturbed)
    return hits


def in_use(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


@pytest.mark.long
def test_kills_at_random_moments(tmp_path: Path, spec: str, undisturbed: Undisturbed) -> None:
    print(dict(kill_often(in_use(tmp_path), 4, spec, undisturbed)))


@pytest.mark.long
def test_resume_after_200_random_kills(tmp_path: Path, spec: str, undisturbed: Undisturbed) -> None:
    hits = kill_often(in_use(tmp_path), 200, spec, undisturbed)
    print(dict(hits))
    assert min(hits["before the store"], hits["computing"]) >= 10


@pytest.mark.full
@pytest.mark.parametrize(
    ("what", "turn"),
    [
        ("Device.build", 1), ("Store.write", 9), ("put_in_place", 2),
        *(
            pytest.param(what, turn, marks=pytest.mark.long)
            for what, turn in [
                ("Store.begin", 1), ("Path.replace", 1), ("Path.replace", 4), ("write_tempfile", 2), ("fsync", 1),
                ("fsync", 3), ("put_in_place", 1), ("Path.unlink", 3), ("Store.remove", 1),
            ]
        ),
    ],
)  # fmt: skip
def test_kills_at_chosen_calls(tmp_path: Path, spec: str, undisturbed: Undisturbed, what: str, turn: int) -> None:
    """While compiling, writing, flushing, renaming, putting in place and removing the store."""
    folder = in_use(tmp_path)
    cold = {"MANDELCL_CACHE": str(tmp_path / "cache")} if what == "Device.build" else None
    child = start(folder, spec, what, str(turn), env=cold)
    assert child.wait(LIMIT_S) == -posix.signal.SIGKILL, "the call was not made so often"
    finish(folder, spec, undisturbed)
