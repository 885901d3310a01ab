"""Keyframes: the very fields that renders of their views give, kept whole, and computed no more than once."""

import json
import os
import random
import shutil
import socket
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError, FileError
from mandelcl.base.words import sha256
from mandelcl.cli import cli
from mandelcl.core.field import Field
from mandelcl.files import loading
from mandelcl.film.folder import PLAN, Folder, held
from mandelcl.film.keyframes import compute, nests
from mandelcl.film.path import Stop
from mandelcl.film.plan import FilmPlan
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from tests import posix
from tests.film.conftest import VALLEY, WIDE, film


def digests(field: Field) -> dict[str, str]:
    return {name: sha256(values.view(np.uint32)) for name, values in field.planes.items()}


def check(folder: Folder, session: Session) -> None:
    """Compare each keyframe with an independent render of its job."""
    for number in range(folder.plan.keyframes):
        field = folder.field(number)
        whole, _ = render(field.job, session)
        assert digests(field) == digests(whole), number


OUTSIDE = Stop.of("0.6", "0.6", 10), Stop.of("0.6", "0.6", 40)
ROUND = Stop.of("-0.7452", "0.1275", 20, 30)


@pytest.mark.parametrize(("number", "iterations"), [("float", 60), ("double", 60), ("fp128", 60), ("float", 1 << 33)])
def test_keyframes_are_the_fields_of_renders(device: Device, number: str, iterations: int, tmp_path: Path) -> None:
    if number == "double" and not device.fp64:
        pytest.skip("no double")
    wide = iterations > 60
    plan = film(*(OUTSIDE if wide else ()), number=number, size=(24, 14), iterations=iterations)
    with held(tmp_path / "keys", plan) as folder, Session(device) as session:
        done = compute(folder, session)
        check(folder, session)
    # A quarter of each but the deepest is taken over.
    pixels = sum(plan.keyframe_job(0, k).view.pixels for k in range(plan.keyframes))
    assert done.pixels + done.taken_over == pixels
    assert done.taken_over > 0.2 * (pixels - plan.keyframe_job(0, 0).view.pixels)


@pytest.mark.long
@pytest.mark.parametrize("number", ["float", "double", "fp128", "fixed:6"])
@pytest.mark.parametrize("rounding", ["fused", "separate"])
def test_keyframes_of_long_and_turned_films(device: Device, number: str, rounding: str, tmp_path: Path) -> None:
    if (number == "double" and not device.fp64) or (rounding == "separate" and number not in ("float", "double")):
        pytest.skip("not on this device")
    for name, stops in (
        ("deep", (WIDE, replace(VALLEY, zoom=Fraction(3000 if number == "float" else 10**9)))),
        ("turned", (replace(WIDE, rotation=Fraction(-40)), ROUND)),
        ("beside", (replace(WIDE, rotation=ROUND.rotation), ROUND, WIDE)),
    ):
        changes = {} if number in ("fp128", "fixed:6") else {"rounding": rounding}
        plan = film(*stops, number=number, size=(64, 37), samples=2, **changes)
        with held(tmp_path / name, plan) as folder, Session(device) as session:
            done = compute(folder, session)
            assert done.taken_over or number == "float"
            check(folder, session)


@pytest.mark.usefixtures("usable")
def test_a_deep_film_is_computed_whole(tmp_path: Path) -> None:
    plan = film(Stop.of(0, 1, 10**30), Stop.of(0, 1, 3 * 10**30), size=(16, 9), iterations=300)
    with held(tmp_path / "keys", plan) as folder, Session() as session:
        done = compute(folder, session)
        assert (done.keyframes, done.taken_over) == (3, 0)
        assert folder.field(0).job.method == "perturbation"
        check(folder, session)


@pytest.mark.usefixtures("usable")
def test_keyframe_warnings_are_reported_once(tmp_path: Path) -> None:
    """Whoever settles a job and whoever begins it have the same to say."""
    plan = film(WIDE, replace(VALLEY, zoom=Fraction(10**7)), number="float", size=(8, 5), iterations=50)
    lines: list[str] = []
    with held(tmp_path / "keys", plan) as folder, Session() as session:
        compute(folder, session, on_message=lines.append)
    assert any("float does not resolve pixels" in line for line in lines)
    assert len(lines) == len(set(lines))


def test_only_keyframes_with_the_same_bits_are_reused() -> None:
    plan = film(number="float", rounding="fused", method="direct")
    wider, deeper = plan.keyframe_job(0, 1), plan.keyframe_job(0, 2)
    assert nests(wider, deeper)
    assert not nests(wider, plan.keyframe_job(0, 3))
    for other in (
        replace(deeper, number="double"),
        replace(deeper, rounding="separate"),
        replace(deeper, iterations=201),
        replace(deeper, planes=("counts",)),
    ):
        assert not nests(wider, other)
    far = replace(wider, planes=("counts", "distance")), replace(deeper, planes=("counts", "distance"))
    assert not nests(*far)  # distances are in pixels


def test_existing_keyframes_are_not_recomputed(computed: Folder, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    shutil.copytree(computed.path, path)
    before = {name.name: name.read_bytes() for name in path.glob("*.npz")}
    for lost in ((1,), (0, 3), tuple(range(computed.plan.keyframes))):
        for number in lost:
            (path / f"k{number:05d}.npz").unlink()
        with held(path, computed.plan) as folder, Session() as session:
            assert folder.missing() == list(lost)
            assert compute(folder, session).keyframes == len(lost)
            assert folder.missing() == []
        assert {name.name: name.read_bytes() for name in path.glob("*.npz")} == before
    assert sorted(name.name for name in path.iterdir()) == sorted([PLAN, *before])


class Soon:
    """A token that is set once it has been asked so many times."""

    def __init__(self, asked: int) -> None:
        self._left = asked

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


def test_stopped_film_is_resumed(computed: Folder, tmp_path: Path) -> None:
    keyframes, stops, asked = 0, 0, 4
    while True:
        with held(tmp_path / "keys", computed.plan) as folder, Session() as session:
            missing = len(folder.missing())
            try:
                keyframes += compute(folder, session, cancel=Soon(asked)).keyframes
                break
            except CancelledError:
                keyframes += missing - len(folder.missing())
                stops, asked = stops + 1, asked + 3
        assert not list((tmp_path / "keys").glob("*.new"))
    assert stops
    assert keyframes == computed.plan.keyframes
    for number in range(keyframes):
        name = f"k{number:05d}.npz"
        assert (tmp_path / "keys" / name).read_bytes() == (computed.path / name).read_bytes()


def test_a_keyframe_is_an_ordinary_field(computed: Folder, tmp_path: Path) -> None:
    from click.testing import CliRunner

    out = tmp_path / "k.png"
    result = CliRunner().invoke(cli, ["recolour", str(computed.keyframe_path(2)), "-o", str(out), "--palette", "ice"])
    assert (result.exit_code, out.exists()) == (0, True)


def test_a_plan_is_read_as_it_was_written() -> None:
    plan = film(Stop.of("-1/3", "1e-40", "1e300", "12.5"), Stop.of("-1/3", "1e-40", "1e301", 372), samples=3)
    assert FilmPlan.from_json(plan.to_json()) == plan


WRONG: list[Any] = [
    *(b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 10_000, b"0" * 5_000_000),
    *(b'{"mandelcl film": 1}', b'{"mandelcl film": 99}'),
]


@pytest.mark.parametrize("data", WRONG, ids=range(len(WRONG)))
def test_invalid_plan_is_refused_in_one_line(data: bytes, tmp_path: Path) -> None:
    (tmp_path / PLAN).write_bytes(data)
    with pytest.raises(FileError) as error:
        Folder.opened(tmp_path)
    assert PLAN in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        {"stops": []},
        {"stops": [["0", "0", "1", "0"]] * 2},
        {"stops": [["0", "0", "1"], ["0", "0", "2"]]},
        {"stops": [["0", "0", "-1", "0"], ["0", "0", "2", "0"]]},
        {"stops": [["0", "0", "1", "0"], ["9", "9", "2", "0"]]},
        {"stops": [["0", "0", "1", "0"], ["0", "0", "x", "0"]]},
        {"stops": [["0", "0", "1", "0"], ["0", "0", "0x1" + "0" * 30_000, "0"]]},
        {"stops": [["0", "0", "1", "0"], ["0", "0", "1" + "0" * 20_000, "0"]]},
        {"stops": [["0", "0", "1", "1" + "0" * 400], ["0", "0", "2", "0"]]},
        {"stops": [[0, 0, 1, 0], [0, 0, 2, 0]]},
        {"stops": 7},
        {"size": [0, 5]},
        {"size": [1 << 40, 5]},
        {"size": "64x36"},
        {"size": [64.5, 36]},
        {"samples": 0},
        {"samples": 10**9},
        {"job": {}},
        {"job": "x"},
        {"colouring": {}},
        {"colouring": None},
        {"mandelcl film": "1"},
    ],
    ids=lambda change: str(change)[:40],
)
def test_a_plan_with_a_wrong_value_is_refused_in_one_line(change: dict[str, Any], tmp_path: Path) -> None:
    values = json.loads(film().to_json())
    (tmp_path / PLAN).write_text(json.dumps(values | change))
    with pytest.raises(FileError) as error:
        Folder.opened(tmp_path)
    assert "\n" not in str(error.value)


def test_a_plan_with_flipped_bits_or_without_its_end_is_refused_in_one_line(tmp_path: Path) -> None:
    whole = film().to_json().encode()
    chance = random.Random(22)
    refused = 0
    for number in range(200):
        data = bytearray(whole)
        if number % 2:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            del data[chance.randrange(len(data) - 2) :]
        (tmp_path / PLAN).write_bytes(data)
        line = ""
        try:
            assert Folder.opened(tmp_path).plan.keyframes > 1  # a digit may be another one
        except FileError as error:
            line = str(error)
        assert "\n" not in line
        refused += bool(line)
    assert refused >= 150


def test_name_that_is_not_a_path_is_refused(computed: Folder) -> None:
    with pytest.raises(FileError, match="is not a path"), held("k\0", computed.plan):
        pass


def test_foreign_folders_are_left_alone(computed: Folder, tmp_path: Path) -> None:
    other = film(WIDE, replace(VALLEY, zoom=Fraction(21)))
    with pytest.raises(FileError, match="keyframes of another film"), held(computed.path, other):
        pass
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "k00000.npz").write_bytes(b"")
    with pytest.raises(FileError, match="has files that are not a film's"), held(mine, other):
        pass
    assert [path.name for path in mine.iterdir()] == ["k00000.npz"]
    with pytest.raises(FileError, match=r"has no film\.json"):
        Folder.opened(mine)
    with pytest.raises(FileError, match="no such folder"):
        Folder.opened(tmp_path / "nowhere")
    with (
        held(tmp_path / "new", other),
        pytest.raises(FileError, match="is in use"),
        held(tmp_path / "new", other),
    ):
        pass


TO_DO = "; delete it and run the same `mandelcl zoom` again"


def test_keyframes_of_another_film_are_refused(computed: Folder, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    shutil.copytree(computed.path, path)
    folder = Folder(path, computed.plan)
    shutil.copy(path / "k00001.npz", path / "k00002.npz")
    with pytest.raises(FileError, match=r"k00002\.npz is not a keyframe of this film"):
        folder.missing()
    whole = (computed.path / "k00002.npz").read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], whole.replace(b"counts", b"c0unts")):
        (path / "k00002.npz").write_bytes(damaged)
        with pytest.raises(FileError, match=rf"k00002\.npz.*{TO_DO}"):
            folder.field(2)
    (path / "k00002.npz").write_bytes(whole[:100])
    with pytest.raises(FileError, match=rf"k00002\.npz.*{TO_DO}"):  # as `mandelcl zoom` looks at it
        folder.missing()
    (path / "k00002.npz").unlink()
    with pytest.raises(FileError, match="lacks 1 of"):
        folder.require_whole()
    assert loading.read_job(path / "k00001.npz") == folder.job(1)


def _identity(path: Path) -> tuple[int, int, int]:
    """Return what a file is and when it was written; when it was looked at may change."""
    status = path.lstat()
    return status.st_mode, status.st_ino, status.st_mtime_ns


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link"])
def test_non_file_is_not_replaced_by_a_keyframe(
    kind: str, computed: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets have to be short
    path = Path("keys")
    shutil.copytree(computed.path, path)
    place = path / "k00001.npz"
    field = Folder(path, computed.plan).field(1)
    place.unlink()
    with socket.socket(posix.socket.AF_UNIX) as server:
        if kind == "pipe":
            posix.os.mkfifo(place)
        elif kind == "socket":
            server.bind(str(place))
        elif kind == "folder":
            place.mkdir()
        else:
            place.symlink_to("nowhere")
        before = _identity(place)
        with held(path, computed.plan) as folder:
            for ask in (folder.missing, folder.require_whole):
                with pytest.raises(
                    FileError, match=r"k00001\.npz is not a file, but has the name of a keyframe; move it away"
                ):
                    ask()
            if kind != "link":  # which appears while keyframes are computed
                with pytest.raises(FileError, match=r"cannot write keys.k00001\.npz: it is a"):
                    folder.keep(1, field)
        assert _identity(place) == before
    assert not list(path.glob("*.new"))


@pytest.mark.usefixtures("usable")
@pytest.mark.parametrize(("iterations", "dark"), [(8, True), (200, False)])
def test_dark_keyframes_are_reported_once(tmp_path: Path, iterations: int, dark: bool) -> None:
    lines: list[str] = []
    with held(tmp_path / "a.keys", film(iterations=iterations)) as folder, Session() as session:
        compute(folder, session, on_message=lines.append)
    reported = [
        line for line in lines if "keyframes are dark: pixels reached the iteration limit of 8 and are not" in line
    ]
    assert len(reported) == dark
    assert len([line for line in lines if "limit" in line]) == dark
