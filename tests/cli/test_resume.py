"""Renders that are stopped, run out of disk or may not write: one line says how to go on, and then the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, wait_for
from tests.interruptible import STOPPED, Interruptible

_PATHS = filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")))
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(_PATHS)}
pytestmark = pytest.mark.usefixtures("usable")
LONG = ("--size", "320x200", "--palette", "coursework", "--number", "float")
ITERATIONS = "1000000"
CHILD = """
import sys
{prepare}
from mandelcl.rendering import streaming
from mandelcl import cli
streaming.render_to.__wrapped__.__kwdefaults__["store_after"] = 0
sys.argv = ["mandelcl", *sys.argv[1:]]
cli.main()
"""
SMALL_BLOCKS = "from mandelcl.engine.loop import sizing as s; s._CPU_CORE_PIXELS = 1600; s._GPU_BLOCK_PIXELS = 3200"
posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--budget", "0"), "x>0"),
        (("--budget", "-5"), "x>0"),
        (("--budget", "soon"), "must be a number"),
        (("--budget", "100", "--blocks", "2x2"), "give one of them"),
    ],
)
def test_budgets(run: Run, folder: Path, arguments: tuple[str, ...], why: str) -> None:
    result = run("render", "--size", "8x8", *arguments)
    assert result.code == 2
    assert why in result.line
    assert list(folder.iterdir()) == []


@pytest.mark.full
def test_resume_without_a_part_file_starts_afresh(draw: Run, folder: Path) -> None:
    draw("render", "--size", "8x8", "-o", "a.png", "--resume", "--budget", "5")
    draw("render", "--size", "8x8", "-o", "a.ppm", "--resume", "--device", "cpu")
    assert sorted(path.name for path in folder.iterdir()) == ["a.png", "a.ppm"]


@pytest.mark.full
@pytest.mark.usefixtures("usable_double")
def test_the_coursework_may_be_resumed(draw: Run, folder: Path) -> None:
    draw("coursework", "8", "8", "-o", "a.ppm", "--resume", "--device", "cpu")
    assert [path.name for path in folder.iterdir()] == ["a.ppm"]


def test_interrupt_keeps_finished_results(draw: Run, run: Run, folder: Path) -> None:
    """Ctrl-C after the store has begun: a hint; then refused, resumed, the same bytes."""
    render = ("render", *LONG, "--iterations", ITERATIONS, "-o", "a.png")
    command = ("-c", CHILD.format(prepare=SMALL_BLOCKS), *render, "--no-shortcuts")
    process = Interruptible(*command, env=ENVIRONMENT, stderr=subprocess.PIPE)
    wait_for(folder / "a.png.part" / "band-0000001", process)  # the first is written before there is a store
    process.interrupt()
    _, err = process.communicate(timeout=600)
    assert process.returncode == STOPPED
    assert "Traceback" not in err
    assert "--resume" in err or err.strip() == "mandelcl: stopped"  # the latter where the machine is too busy
    refused = run("render", *LONG, "--iterations", ITERATIONS, "-o", "a.png")
    assert refused.code == 1
    assert "to continue it, add --resume" in refused.line
    other = run("render", *LONG, "--iterations", "77", "-o", "a.png", "--resume")
    assert other.code == 1
    assert "differs in iterations" in other.line
    assert "resuming with" in draw(*render, "--resume").err
    draw(*render[:-1], "b.png")
    assert (folder / "a.png").read_bytes() == (folder / "b.png").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["a.png", "b.png"]


RENDER = ("render", "--size", "200x200", "--iterations", "500", "--palette", "ice", "-o", "a.ppm", "--quiet")
QUOTA = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))"
NOBODY = "import os; os.setgid(65534); os.setuid(65534)"


def child(prepare: str, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", CHILD.format(prepare=prepare), *arguments]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, text=True, capture_output=True, timeout=600)


@pytest.mark.full
@posix
def test_quota_error_keeps_the_part_file(draw: Run, folder: Path) -> None:
    """A file that may not grow: one line; with more room it goes on and ends in the same bytes."""
    draw(*RENDER)
    whole = (folder / "a.ppm").read_bytes()
    (folder / "a.ppm").unlink()
    failed = child(QUOTA, *RENDER, cwd=folder)
    assert failed.returncode == 1
    lines = [line for line in failed.stderr.splitlines() if "software.intel.com" not in line]  # its signal handler
    assert len(lines) == 1, failed.stderr
    assert "File too large" in failed.stderr
    assert [path.name for path in folder.iterdir()] in ([], ["a.ppm.part"])
    again = child("", *RENDER, "--resume", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert (folder / "a.ppm").read_bytes() == whole
    assert [path.name for path in folder.iterdir()] == ["a.ppm"]


SMALL_DISK = """
mount -t tmpfs -o size=1m tmpfs "$0" || exit 77
cd "$0" || exit 77
head -c 920k /dev/zero > ballast
"$@"; first=$?
ls -A > "$OUT/left"; rm ballast
"$@" --resume || exit 3
cp a.ppm "$OUT/a.ppm"; ls -A > "$OUT/last"
exit $first
"""
NO_FORESIGHT = "import mandelcl.rendering.streaming as s; s.require_space = lambda *_: None"


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_full_disk_keeps_the_part_file(draw: Run, folder: Path) -> None:
    draw(*RENDER)
    disk = folder / "disk"
    disk.mkdir()
    command = [sys.executable, "-c", CHILD.format(prepare=NO_FORESIGHT), *RENDER]
    environment = ENVIRONMENT | {"OUT": str(folder / "out")}
    (folder / "out").mkdir()
    try:
        shell = ["unshare", "-m", "sh", "-c", SMALL_DISK, str(disk), *command]
        done = subprocess.run(shell, env=environment, text=True, capture_output=True, timeout=600)
    except FileNotFoundError:
        pytest.skip("no unshare")
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert (folder / "out" / "left").read_text().split() in (["a.ppm.part", "ballast"], ["ballast"])
    assert (folder / "out" / "last").read_text().split() == ["a.ppm"]
    assert (folder / "out" / "a.ppm").read_bytes() == (folder / "a.ppm").read_bytes()


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to become nobody")
def test_a_folder_without_permission() -> None:
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folders are closed to others
        place = Path(name)
        place.chmod(0o555)
        modules = "difflib, secrets, tempfile, mandelcl.cli.render, mandelcl.rendering.streaming"
        modules += ", mandelcl.colour.tracing_picture"
        prepared = f"import {modules}\n{NOBODY}"
        failed = child(prepared, *RENDER, cwd=place)
        assert failed.returncode == 1, failed.stderr
        assert failed.stderr.strip() == "mandelcl: cannot write a.ppm: Permission denied"
        assert list(place.iterdir()) == []
