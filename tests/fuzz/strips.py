"""Folders of strips, tampered with: the strip that was computed, or a refusal that leaves the files as they are."""

import shutil
from functools import cache
from pathlib import Path
from random import Random

from tests.fuzz import samples
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import damaged
from tests.fuzz.oracle import fingerprint, require, require_reported

_STRIP = (
    *("zoom", "--strip", "--center", "-0.745", "0.1275", "--to-zoom", "40", "--from-zoom", "20", "--size", "64x7"),
    *("--iterations", "90", "--number", "float", "--quiet"),
)


def strips(ground: Ground) -> None:
    """Tamper with a strip's folder, and have the strip computed into it."""
    random, strip = ground.random, ground.here / "strip"
    right = _files(_whole(ground.lasting))
    shutil.copytree(_whole(ground.lasting), strip)
    tampered = [random.choice(_KINDS) for _ in range(random.choice((1, 1, 2)))]
    for tamper in tampered:
        tamper(strip, random)
    (ground.here / "tampered").write_text(" ".join(tamper.__name__ for tamper in tampered))
    before, own = fingerprint(strip), [f"strip/{name}" for name in (*right, "lock")]
    ground.ready()
    outcome = ground.call(*_STRIP, "-o", "strip", "--device", device().spec)
    require_reported(outcome)
    ground.accepted = outcome.succeeded
    if not outcome.succeeded:
        ground.require_untouched()
        return
    ground.require_untouched(*own)
    found = _files(strip)
    for name, data in right.items():
        require(name in found, f"exit code 0 without {name}")
        require(found[name] == data or name in before, f"{name} is another keyframe")


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@cache
def _whole(lasting: Path) -> Path:
    """Return a folder with a strip, computed once in a process."""
    from click.testing import CliRunner

    from mandelcl.cli import cli

    folder = lasting / "whole-strip"
    result = CliRunner().invoke(cli, [*_STRIP, "-o", str(folder), "--device", device().spec])
    require(result.exit_code == 0, f"the strip could not be computed: {result.output}")
    return folder


def _keyframe(strip: Path, random: Random) -> Path:
    return random.choice(sorted(strip.glob("*.exr")) or [strip / "00000000.exr"])


def _damage(strip: Path, random: Random) -> None:
    path = _keyframe(strip, random)
    if path.is_file():
        path.write_bytes(damaged(path.read_bytes(), random))


def _foreign(strip: Path, random: Random) -> None:
    path = _keyframe(strip, random)
    if path.is_symlink():
        path.unlink()  # it may point to itself
    if not path.is_dir():
        path.write_bytes(random.choice((b"", b"x" * 5000, *(data for _, data in samples.archives()))))


def _exchange(strip: Path, random: Random) -> None:
    one, other = _keyframe(strip, random), _keyframe(strip, random)
    if one != other and one.is_file() and other.is_file():
        one.write_bytes(other.read_bytes())


def _remove(strip: Path, random: Random) -> None:
    path = _keyframe(strip, random)
    if path.is_file():
        path.unlink()


def _link(strip: Path, random: Random) -> None:
    path = _keyframe(strip, random)
    if path.is_file():
        path.unlink()
        path.symlink_to(random.choice(("/dev/null", "../precious.txt", "nothing", path.name)))


def _beside(strip: Path, random: Random) -> None:
    """Put something of others into the folder, or what a killed process leaves."""
    name = random.choice(("notes", "99999999.exr", "1.exr", ".mandelcl-1-abc.tmp", "lock", "folder"))
    if name == "folder":
        (strip / name).mkdir(exist_ok=True)
    else:
        (strip / name).write_bytes(random.choice((b"", b"somebody's")))


_KINDS = (_damage, _damage, _foreign, _exchange, _remove, _remove, _link, _beside)
