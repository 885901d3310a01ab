"""Run the command line: in this process where that will do, in one of its own for signals and pipes."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mandelcl import cli
from tests.interruptible import Interruptible


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line of an error."""
        lines = self.err.strip().splitlines()
        assert lines, "nothing on standard error"
        assert len(lines) == 1, self.err
        return lines[0]


Run = Callable[..., Result]
SMALL = ("--size", "8x8")


def refused(run: Run, folder: Path, *arguments: str, code: int = 2) -> str:
    """Return the one line with which bad input was refused; nothing was printed beside it, and no file was left."""
    before = sorted(folder.rglob("*"))
    result = run(*arguments)
    assert result.code == code, result
    assert result.out == ""
    assert sorted(folder.rglob("*")) == before
    assert result.line.startswith("mandelcl: ")
    assert len(result.line) < 600
    return result.line


def wait_for(path: Path, process: "subprocess.Popen[str]", seconds: float = 600) -> None:
    """Return once a process has made a file; it is a failure where the process ends before, or takes too long."""
    limit = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, f"it was over before there was {path.name}: {process.communicate()}"
        assert time.monotonic() < limit, f"no {path.name} within {seconds:g} s"
        time.sleep(0.02)


def best_device() -> tuple[str, str]:
    """Return the option that takes one device, with double where there is one."""
    from mandelcl.opencl.device import discover

    return ("--device", max(discover(), key=lambda device: (device.fp64, device.spec)).spec)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's cache out of it, unless somebody has seen to that."""
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("MANDELCL_CACHE"):
            patch.setenv("MANDELCL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.delenv("MANDELCL_DEBUG", raising=False)
    return here


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Call `mandelcl` with arguments, in this process: all runtimes are opened first, or the first command might."""
    from mandelcl.opencl.device import discover

    discover()

    def call(*arguments: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["mandelcl", *arguments])
        monkeypatch.setattr(sys.modules["__main__"], "__package__", None, raising=False)  # `python -m pytest` has one
        capfd.readouterr()
        code: object = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        assert isinstance(code, int)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)

    return call


@pytest.fixture
def draw(run: Run, request: pytest.FixtureRequest) -> Run:
    """Call a command that must succeed, on a device."""
    request.getfixturevalue("usable")

    def call(*arguments: str) -> Result:
        result = run(*arguments)
        assert result.code == 0, result.err
        return result

    return call


def start(*arguments: str, **settings: Any) -> Interruptible:
    """Start `mandelcl` in a process of its own."""
    return Interruptible(
        "-m", "mandelcl", *arguments, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    )
