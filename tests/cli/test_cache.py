"""`mandelcl cache`: what is kept where, and nothing else is removed."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import mandelcl
from mandelcl.cli import cli
from mandelcl.files import cache
from mandelcl.opencl import caches
from tests.cli.conftest import SMALL, Run

KEYS = ["0123456789abcdef" * 2, "f" * 32]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "some" / "cache"
    monkeypatch.setenv("MANDELCL_CACHE", str(place))
    for _, variable, _ in caches._CACHES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return place


def shown(*arguments: str) -> str:
    """Return what the command prints; the fixture `run` opens runtimes first, which is noted in the cache."""
    result = CliRunner().invoke(cli, ["cache", *arguments])
    assert result.exit_code == 0, result
    return result.output


def test_cache_lists_its_contents(root: Path) -> None:
    assert shown() == f"{root}: 0 files, 0.0 KiB\n"
    assert not root.exists()
    for key in KEYS:
        cache.write("binaries", key, bytes(3 << 20))
    cache.write("tuning", KEYS[0], bytes(1024 - 32))
    lines = shown().splitlines()
    assert lines == [
        f"{root}: 3 files, 6.0 MiB",
        "  binaries      2     6.0 MiB  built kernels",
        "  tuning        1     1.0 KiB  kernel shapes that `mandelcl tune` found",
    ]


@pytest.mark.usefixtures("links")
def test_clear_removes_only_cache_entries(root: Path) -> None:
    for kind in cache.KINDS:
        cache.write(kind, KEYS[0], b"kept")
    (root / "vendors").rename(root / "vendors-0123456789abcdef")
    (root / "binaries" / f".{KEYS[1]}.draft").write_bytes(b"of a killed process")
    foreign = [root / name for name in ("notes.txt", "binaries/notes.txt", f"photos/{KEYS[0]}", "vendors-mine/a.icd")]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    (root / "orbits" / KEYS[1]).symlink_to(foreign[0])
    assert shown("--clear").startswith(f"Removed {len(cache.KINDS) + 1} files, ")
    left = sorted(path for path in root.rglob("*") if not path.is_dir())
    assert left == sorted([*foreign, root / "orbits" / KEYS[1]])
    assert not (root / "tuning").exists()
    assert shown("--clear").startswith("Removed 0 files, 0.0 KiB, from ")


def test_emptied_folder_is_removed(root: Path) -> None:
    cache.write("rates", KEYS[0], b"kept")
    shown("--clear")
    assert not root.exists()
    assert root.parent.exists()


@pytest.mark.parametrize("arguments", [(), ("--clear",)])
def test_disabled_cache_stores_nothing(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.setenv("MANDELCL_CACHE", "off")
    assert shown(*arguments) == "The cache is off because MANDELCL_CACHE is set to off.\n"


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
def test_caches_of_runtimes_are_named_where_they_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    (tmp_path / "caches" / "pocl").mkdir(parents=True)
    (tmp_path / ".nv" / "ComputeCache").mkdir(parents=True)
    monkeypatch.setenv("NEO_CACHE_DIR", str(tmp_path))
    assert shown().splitlines()[2:] == [
        "OpenCL runtimes keep their own caches, which mandelcl does not change:",
        f"  PoCL     {tmp_path}/caches/pocl",
        f"  NVIDIA   {tmp_path}/.nv/ComputeCache",
        f"  Intel    {tmp_path}",
    ]
    monkeypatch.setattr("sys.platform", "win32")
    assert len(shown().splitlines()) == 1


@pytest.mark.usefixtures("usable")
def test_every_cache_kind_is_listed(draw: Run, root: Path) -> None:
    draw("render", *SMALL)
    kinds = {path.name.partition("-")[0] for path in root.iterdir()}
    assert kinds <= set(cache.KINDS)
    files = [path for path in root.rglob("*") if path.is_file()]
    assert files
    assert sum(stored.files for stored in cache.contents()) == len(files)
    assert sum(stored.bytes for stored in cache.contents()) == sum(path.stat().st_size for path in files)
    kind = re.compile(r"cache\.(?:read|write|remove|holds)\(\"(\w+)\"|^_KIND(?:, _KEY)? = \"(\w+)\"", re.MULTILINE)
    named: set[str] = set()
    for module in Path(mandelcl.__file__).parent.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        if "import cache" in text:
            named |= {one or other for one, other in kind.findall(text)}
    assert named == set(cache.KINDS) - {"vendors"}
