"""Folders of films, tampered with: the very frames of the film that was computed, or a refusal."""

import io
import json
import shutil
import wave
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.film.folder import PLAN
from mandelcl.film.plan import FilmPlan
from tests import posix
from tests.fuzz import samples
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.libraries import encoders_missing
from tests.fuzz.mutations import as_json, changed, damaged
from tests.fuzz.oracle import require, require_reported

_TIMES = ("--fps", "5", "--hold", "0.2", "--ease", "0.2", "--quiet")
_ZOOM = (
    "zoom",
    "--at",
    "seahorse-valley",
    "--to-zoom",
    "6",
    "--size",
    "16x10",
    "--iterations",
    "60",
    "--number",
    "float",
)
_USUAL: tuple[Any, ...] = (
    1,
    2,
    4,
    16,
    10,
    60,
    "1/2",
    "-3/4",
    "12",
    "float",
    "fused",
    "direct",
    "classic",
    "ice",
    0.5,
    [],
)
_SOUND = "sound.wav"
_FRAMES = (("frames",), ("frames",))
_MKV = ("film.mkv", "--codec", "ffv1")
_ENCODED = (("film.gif",), _MKV, (*_MKV, "--caption", "{zoom}"), (*_MKV, "--audio", _SOUND))
_OUTPUTS = _FRAMES if encoders_missing("ffv1") else (*_FRAMES, *_ENCODED)


def films(ground: Ground) -> None:
    """Tamper with a folder of keyframes, and have a film made of it, or its keyframes computed."""
    random = ground.random
    keys = ground.here / "keys"
    shutil.copytree(_film(ground.lasting), keys)
    tampered = [random.choice(_KINDS) for _ in range(random.choice((1, 1, 2)))]
    own = [*(f"keys/{path.name}" for path in keys.iterdir()), "keys/lock", f"keys/{PLAN}.new"]
    own += [f"{name}.new" for name in own if name.endswith(".npz")]  # what a killed process leaves
    for tamper in tampered:
        tamper(keys, random)
    (ground.here / "tampered").write_text(" ".join(tamper.__name__ for tamper in tampered))
    zooms = random.random() < 0.4
    output, *codec = random.choice(_OUTPUTS)
    command = (*_ZOOM, "--keys", "keys") if zooms else ("film", "keys")
    sound = _sound() if random.random() < 0.5 else damaged(_sound(), random)
    if _SOUND in codec:
        (ground.here / _SOUND).write_bytes(sound)
    plan_before = _plan(keys)
    ground.ready()
    outcome = ground.call(*command, "-o", output, *codec, *_TIMES, "--device", device().spec)
    require_reported(outcome)
    made = [output, *(f"{output}/{name}" for name in _content(ground.here / output))] if outcome.succeeded else []
    kept = own if zooms else []  # whoever computes keyframes adds what is missing
    if not outcome.succeeded:
        require(not (ground.here / output).exists(), f"exit code {outcome.code}, and {output} is there")
        ground.require_untouched(*kept)
        return
    ground.accepted = True
    ground.require_untouched(*made, *kept)
    if sound != _sound() and _SOUND in codec:
        return
    if zooms or plan_before == _plan(_film(ground.lasting)):
        require(_content(ground.here / output) == _right(ground, output, codec), f"{output} is another film")


def _content(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return {each.name: each.read_bytes() for each in path.iterdir()}
    return {path.name: path.read_bytes()}


_films: dict[str, dict[str, bytes]] = {}


def _right(ground: Ground, output: str, codec: list[str]) -> dict[str, bytes]:
    """Return what a film is that is made of the folder as it was."""
    key = " ".join((output, *codec))
    if key not in _films:
        path = ground.lasting / str(len(_films)) / output
        path.parent.mkdir()
        (ground.here / _SOUND).write_bytes(_sound())
        options = ("-o", str(path), *codec, *_TIMES, "--device", device().spec)
        outcome = ground.call("film", str(_film(ground.lasting)), *options)
        require_reported(outcome, (0,))
        _films[key] = _content(path)
    return _films[key]


@cache
def _sound() -> bytes:
    """Return the bytes of a short sound."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(range(256)) * 20)
    return file.getvalue()


@cache
def _film(lasting: Path) -> Path:
    """Return a folder with a film's keyframes, computed once in a process."""
    from click.testing import CliRunner

    from mandelcl.cli import cli

    keys = lasting / "film.keys"
    options = [*_ZOOM, "--keys", str(keys), "-o", str(lasting / "first"), *_TIMES, "--device", device().spec]
    result = CliRunner().invoke(cli, options)
    require(result.exit_code == 0, f"the film could not be computed: {result.output}")
    return keys


def _plan(keys: Path) -> FilmPlan | None:
    try:
        return FilmPlan.from_json((keys / PLAN).read_text("utf-8")) if (keys / PLAN).is_file() else None
    except (OSError, ValueError, FileError, InvalidInputError):
        return None


def _keyframe(keys: Path, random: Random) -> Path:
    return keys / f"k{random.randrange(len(list(keys.glob('k*.npz'))) or 1):05d}.npz"


def _damage(keys: Path, random: Random) -> None:
    path = _keyframe(keys, random)
    if path.is_file():
        path.write_bytes(damaged(path.read_bytes(), random))


def _exchange(keys: Path, random: Random) -> None:
    paths = random.sample([path for path in sorted(keys.glob("k*.npz")) if path.is_file()], 2)
    first, second = (path.read_bytes() for path in paths)
    paths[0].write_bytes(second)
    if random.random() < 0.5:
        paths[1].write_bytes(first)


def _foreign(keys: Path, random: Random) -> None:
    path = _keyframe(keys, random)
    if path.is_file():
        path.write_bytes(random.choice(samples.archives())[1])


def _remove(keys: Path, random: Random) -> None:
    path = _keyframe(keys, random)
    if not path.is_dir():
        path.unlink(missing_ok=True)


def _replace(keys: Path, random: Random) -> None:
    """Put something else in the place of a keyframe or of the plan."""
    path = random.choice((_keyframe(keys, random), keys / PLAN))
    if path.is_dir():
        return
    path.unlink(missing_ok=True)
    kind = random.randrange(4)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        path.symlink_to(random.choice(("/dev/null", "../precious.txt", "nothing", path.name, "../../beside/precious")))
    elif kind == 2:
        posix.os.mkfifo(path)
    else:
        path.write_bytes(random.choice((b"", b"\0" * 100, b"x" * (2 << 20))))


def _beside(keys: Path, random: Random) -> None:
    """Put something of others into the folder, or what a process leaves behind that was killed."""
    name = random.choice(("notes", "k99999.npz", "k00000.npz.new", f"{PLAN}.new", "lock", "k0000.npz", "folder"))
    if name == "folder":
        (keys / name).mkdir(exist_ok=True)
    else:
        (keys / name).write_bytes(random.choice((b"", b"somebody's")))


def _damage_plan(keys: Path, random: Random) -> None:
    path = keys / PLAN
    if path.is_file():
        path.write_bytes(damaged(path.read_bytes(), random))


def _change_plan(keys: Path, random: Random) -> None:
    path = keys / PLAN
    try:
        values = json.loads(path.read_text("utf-8")) if path.is_file() else None
    except (OSError, ValueError):
        values = None
    if values is not None:
        path.write_text(as_json(changed(values, random, _USUAL), random), "utf-8", "surrogatepass")


_KINDS: tuple[Callable[[Path, Random], None], ...] = (
    *(_damage, _damage, _exchange, _foreign, _remove, _replace, _beside, _damage_plan, _change_plan, _change_plan),
)
