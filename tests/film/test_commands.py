"""`mandelcl zoom` and `mandelcl film` as they are called."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mandelcl.base.errors import CancelledError, MandelclError
from mandelcl.cli import cli
from mandelcl.cli.stops import StopOptions
from mandelcl.core.locations import find_location
from mandelcl.files.loading import read_field
from mandelcl.film.folder import Folder
from mandelcl.film.path import Stop
from tests.interruptible import STOPPED, Interruptible

pytest.importorskip("av", reason="the extra `video` is not installed")
pytestmark = pytest.mark.usefixtures("usable")

SMALL = ("--size", "32x18", "--iterations", "100", "--fps", "10", "--hold", "0.2")
VALLEY = ("--at", "seahorse-valley", "--to-zoom", "50")
TWO_LEGS = ("--from", "0,0,8", "--via", "0,0,2", "--to", "0,0,5,30")
PATIENCE_S = 600.0


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def refused(*arguments: str) -> str:
    """Run what must fail with one line, and return it."""
    result = run(*arguments)
    assert result.exit_code
    if isinstance(result.exception, MandelclError | CancelledError):
        assert "\n" not in str(result.exception)
        return str(result.exception)
    return result.stderr.strip().splitlines()[-1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.full
def test_keyframes_of_a_cluster_are_those_of_a_device(folder: Path) -> None:
    pytest.importorskip("distributed")
    for name, where in (("a", ()), ("b", ("--cluster", "local", "--cluster-wait", "600"))):
        made = run("zoom", *VALLEY, *SMALL, "-o", f"{name}.gif", *where)
        assert made.exit_code == 0, made.output
    one, other = (sorted((folder / f"{name}.keys").glob("k*.npz")) for name in "ab")
    assert [read_field(path).counts_sha256() for path in one] == [read_field(path).counts_sha256() for path in other]
    assert len(one) > 2


def test_zoom_and_film(folder: Path) -> None:
    first = run("zoom", *TWO_LEGS, *SMALL, "-o", "a.mp4", "--json")
    assert first.exit_code == 0, first.output
    report = json.loads(first.stdout)
    assert report["computed"]["keyframes"] == report["keyframes"] == len(list((folder / "a.keys").glob("k*.npz")))
    assert [leg.inward for leg in Folder.opened("a.keys").plan.legs] == [False, True]
    assert (report["width"], report["height"], report["codec"]) == (32, 18, "h264")
    again = json.loads(run("zoom", *TWO_LEGS, *SMALL, "-o", "a.mp4", "--json").stdout)
    assert again["computed"]["keyframes"] == again["computed"]["pixels"] == 0
    assert again["frames"] == report["frames"]
    film = run(
        "film", "a.keys", "-o", "b.webm", "--palette", "ember", "--speed", "2", "--fps", "10", "--hold", "0.2", "--json"
    )
    assert 2 <= json.loads(film.stdout)["frames"] < report["frames"]
    quiet = run("film", "a.keys", "-o", "frames", "--fps", "5", "--size", "16x9", "--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")
    assert len(list((folder / "frames").iterdir())) > 10
    reported = run("film", "a.keys", "-o", "c.mkv", "--reverse")
    assert re.fullmatch(
        r"c\.mkv: \d+ frames of 32x18, [\d.]+ s at 30 frames/s, from \d+ keyframes; made .*\n", reported.stderr
    )


def way(**given: object) -> list[Stop]:
    """Return the stops that options say."""
    nothing = dict.fromkeys(StopOptions.__slots__) | {"via": ()}
    return StopOptions.taken_from(nothing | given).stops(None)


def test_film_paths() -> None:
    """Each way of saying where a film goes."""
    home = Stop.of("-0.75", 0, "1.6")
    fern = find_location("fern")
    at_fern = Stop.of(fern.re, fern.im, fern.zoom)
    assert way(at="fern") == way(end="fern") == [home, at_fern]
    assert way(at="fern", to_zoom="1e9") == [home, replace(at_fern, zoom=Fraction(10**9))]
    assert way(center=("0", "1"), to_zoom="9", from_zoom="1/3") == [Stop.of(0, 1, "1/3"), Stop.of(0, 1, 9)]
    assert way(center=("7", "0"), to_zoom="9") == [Stop.of(7, 0, "1.6"), Stop.of(7, 0, 9)]  # outside the home view
    assert way(begin="0,0,1", via=("fern", "0, 0, 2, 45"), end="0,0,4,-90", rotate="10") == [
        Stop.of(0, 0, 1, 10),
        replace(at_fern, rotation=Fraction(10)),
        Stop.of(0, 0, 2, 55),
        Stop.of(0, 0, 4, -80),
    ]
    turned = way(at="fern", turn="90", rotate="20")
    assert [stop.rotation for stop in turned] == [-70, 20]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "no end of the film"),
        (("--at", "fern", "--to", "fern"), "each define the end of the film"),
        (("--to", "fern", "--to-zoom", "5"), "leave --to-zoom out"),
        (("--at", "nowhere"), "unknown location"),
        (("--to", "1,2"), "must be the name of a location"),
        (("--to", "1,x,2"), "is not a number"),
        (("--from", "0,0,5", "--to", "3,3,9"), "add a wider view"),
        ((*VALLEY, "--size", "33x18"), "even width and height"),
        ((*VALLEY, "--fps", "0"), "frames per second"),
        ((*VALLEY, "--fps", "1e400"), "frames per second, not 1.00000e+400"),
        ((*VALLEY, "--fps", "1e-9"), "frames per second, not 1e-9"),
        ((*VALLEY, "--fps", "29.970029970029"), "a ratio of numbers up to"),
        ((*VALLEY, "--hold", "1e308"), "too long"),
        ((*VALLEY, "--size", "0x0"), "pixels, not 0x0"),
        ((*VALLEY, "--size", "2x2", "--codec", "av1"), "pixels, not 2x2"),
        ((*VALLEY, "-o", "y.mp4", "--codec", "png"), "a name without a suffix"),
        ((*VALLEY, "--speed", "0"), "speed"),
        ((*VALLEY, "--speed", "0.00001"), "too long"),
        ((*VALLEY, "--seconds", "1"), "no time to move"),
        ((*VALLEY, "--samples", "0"), "samples"),
        ((*VALLEY, "-o", "a.avi"), "the suffix of a film must be"),
        ((*VALLEY, "-o", "nowhere/a.mp4"), "no folder"),
        ((*VALLEY, "--quality", "99"), "quality"),
        ((*VALLEY, "--json", "--quiet"), "not both"),
        ((*VALLEY, "--device", "no such device"), "no device matches"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_refused_in_one_line(words: tuple[str, ...], line: str, folder: Path) -> None:
    assert line in refused("zoom", *words)
    assert list(folder.rglob("*.npz")) == []


def test_film_refuses_what_it_cannot_do(computed: Folder, folder: Path) -> None:
    assert "no such folder" in refused("film", "nowhere", "-o", "a.mp4")
    keys = str(computed.path)
    assert "to compute larger ones" in refused("film", keys, "-o", "a.mp4", "--size", "96x56")
    assert "pixels, not 0x0" in refused("film", keys, "-o", "a.mp4", "--size", "0x0")
    assert "needs the plane distance" in refused("film", keys, "-o", "a.mp4", "--light", "135")
    shutil.copytree(computed.path, folder / "some.keys")
    (folder / "some.keys" / "k00001.npz").unlink()
    assert "lacks 1 of" in refused("film", "some.keys", "-o", "a.mp4")
    assert [path.name for path in folder.iterdir()] == ["some.keys"]


LONGER = ("--at", "seahorse-valley", "--to-zoom", "1e4", "--size", "160x90", "--iterations", "3000", "--fps", "10")


def finished(folder: Path) -> dict[str, Any]:
    """Make the film in this process, and return its report."""
    result = run("zoom", *LONGER, "-o", str(folder / "a.mkv"), "--codec", "ffv1", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    report: dict[str, Any] = json.loads(result.stdout)
    return report


# Makes a film, and notes in a file which keyframes it has begun to compute.
NOTING = """
from pathlib import Path
from mandelcl.__main__ import main
from mandelcl.film import keyframes

compute, begun = keyframes._keyframe, Path("begun").open("a", buffering=1)

def noted(job, *rest):
    begun.write(f"{job.view.lattice.scale}\\n")
    return compute(job, *rest)

keyframes._keyframe = noted
main()
"""


def started(folder: Path) -> Interruptible:
    arguments = ("zoom", *LONGER, "-o", "a.mkv", "--codec", "ffv1", "--json")
    return Interruptible("-c", NOTING, *arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_keyframes(process: "subprocess.Popen[str]", folder: Path, count: int) -> bool:
    """Wait until there are so many keyframes; return False where the process ends before."""
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit and process.poll() is None:
        if len(list((folder / "a.keys").glob("k*.npz"))) >= count:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.full
def test_ctrl_c_keeps_complete_keyframes_and_prints_one_line(folder: Path) -> None:
    process = started(folder)
    assert wait_for_keyframes(process, folder, 2)
    process.interrupt()
    _, errors = process.communicate(timeout=PATIENCE_S)
    if process.returncode == 0:
        pytest.skip("it was done before the signal came")
    assert process.returncode == STOPPED
    assert re.fullmatch(r"mandelcl: stopped[^\n]*\n", errors)
    left = {path.name for path in folder.rglob("*") if path.is_file()}
    assert all(re.fullmatch(r"k\d{5}\.npz|film\.json|begun", name) for name in left), left
    kept = {path: path.stat().st_mtime_ns for path in (folder / "a.keys").glob("k*.npz")}
    report = finished(folder)
    assert report["computed"]["keyframes"] == report["keyframes"] - len(kept)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def pictures(film: Path) -> list[str]:
    """Return a digest of each frame of a film."""
    import av

    with av.open(str(film)) as container:
        return [sha256(frame.to_ndarray(format="rgb24").tobytes()).hexdigest() for frame in container.decode(video=0)]


def killed(folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill a film so many times at some moment, go on each time, and compare it with one that nobody stopped."""
    whole = folder / "whole"
    whole.mkdir()
    first = time.monotonic()
    finished(whole)
    lasts = time.monotonic() - first
    frames = pictures(whole / "a.mkv")
    expected = {path.name: path.read_bytes() for path in (whole / "a.keys").glob("k*.npz")}
    for number in range(rounds):
        place = folder / str(number)
        place.mkdir()
        process = started(place)
        at = chance.random()
        if chance.random() < 0.7:
            wait_for_keyframes(process, place, int(at * len(expected)))
        else:
            time.sleep(at * lasts)
        process.kill()
        process.communicate()
        kept = {path.name for path in (place / "a.keys").glob("k*.npz")}
        begun = (place / "begun").read_text().splitlines() if (place / "begun").exists() else []
        assert len(begun) - len(kept) in (0, 1), "of what was begun, one is lost at most"
        report = finished(place)
        assert report["computed"]["keyframes"] == len(expected) - len(kept)
        assert {path.name: path.read_bytes() for path in (place / "a.keys").glob("k*.npz")} == expected
        assert pictures(place / "a.mkv") == frames
        left = {path.name for path in (place / "a.keys").iterdir()}
        assert left == {*expected, "film.json"}
        assert sys.platform != "linux" or not list(place.glob(".mandelcl-*")), "no half of a film is left"
        shutil.rmtree(place)


@pytest.mark.full
def test_killed_film_is_resumed(folder: Path) -> None:
    killed(folder, 1, random.Random(7))


@pytest.mark.long
def test_killed_twenty_times(folder: Path) -> None:
    seed = int(os.environ.get("MANDELCL_TEST_SEED", "22"))
    killed(folder, 20, random.Random(seed))
