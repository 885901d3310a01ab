"""Limits of a process: what is refused and said where it may have too few addresses or open files."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from mandelcl.base import process_limits
from mandelcl.base.errors import FileError, NoDeviceError
from mandelcl.files.paths import one_line
from mandelcl.opencl.naming import named
from tests.posix import resource

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such limits")


def limit(monkeypatch: pytest.MonkeyPatch, value: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (value, -1))


@pytest.mark.parametrize(("value", "words"), [(900 << 20, "0.9 GiB of addresses (ulimit -v)"), (8 << 30, ""), (-1, "")])
def test_few_addresses_are_warned_of(value: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, value)
    assert [words in line for line in process_limits.remarks()] == [True] * bool(words)
    process_limits.require_addresses()


def test_no_device_is_told_apart_from_too_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda _name: 5)
    with pytest.raises(NoDeviceError, match=r"only 5 files open \(ulimit -n\); 64 are enough for most"):
        named((), ())
    monkeypatch.setattr(os, "sysconf", lambda _name: 1024)
    with pytest.raises(NoDeviceError, match="`mandelcl devices` lists what was tried"):
        named((), ())


def test_too_many_open_files_are_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", lambda _name: 6)
    begins = r"^cannot write x: Too many open files: this process may have only 6 files"
    with pytest.raises(FileError, match=begins), one_line("cannot write", "x"):
        raise OSError(24, "Too many open files")


def _limited(what: int, value: int) -> None:
    resource.setrlimit(what, (value, value))


@pytest.mark.parametrize(
    ("mib", "command"), [(200, "render"), (500, "render"), (600, "render"), (780, "render"), (700, "devices")]
)
def test_a_process_with_few_addresses_ends_in_a_line(mib: int, command: str, tmp_path: Path) -> None:
    """Drivers would end it by a signal."""
    done = _mandelcl(command, partial(_limited, resource.RLIMIT_AS, mib << 20), tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"{mib / 1024:.1f} GiB of addresses (ulimit -v)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("files", [4, 5])
def test_a_process_with_few_files_ends_in_a_line(files: int, tmp_path: Path) -> None:
    done = _mandelcl("render", partial(_limited, resource.RLIMIT_NOFILE, files), tmp_path)
    assert f"only {files} files open (ulimit -n)" in done.stderr
    if done.returncode:
        assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mandelbrot.png"] * (done.returncode == 0)


def _mandelcl(command: str, prepare: "partial[None]", folder: Path) -> "subprocess.CompletedProcess[str]":
    words = [command, "--size", "8x8"] if command == "render" else [command]
    line = [sys.executable, "-S", "-c", _STARTED.format(path=sys.path), *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, preexec_fn=prepare)


# Without `site`, which would itself end where only four files may be open.
_STARTED = "import sys; sys.path[:] = {path!r}; from mandelcl.__main__ import main; main()"
