"""What cannot be written to standard output, as systems say it."""

import errno
import os
import sys
from pathlib import Path

import click
import pytest

from mandelcl import cli


def refuse(monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    """Have all that commands print fail so."""

    def fail(*_arguments: object, **_settings: object) -> None:
        raise error

    monkeypatch.setattr(click, "echo", fail)
    monkeypatch.setattr(sys, "argv", ["mandelcl", "locations"])
    monkeypatch.setattr(os, "dup2", lambda *_descriptors: 1)


@pytest.mark.parametrize(
    ("system", "number", "said"),
    [
        ("linux", errno.EPIPE, ""),
        ("win32", errno.EPIPE, ""),
        ("win32", errno.EINVAL, ""),
        ("win32", errno.ENOSPC, "mandelcl: cannot write to standard output: full\n"),
    ],
)
def test_what_standard_output_does_not_take(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], system: str, number: int, said: str
) -> None:
    """A reader that has seen enough is no error that anybody has to read of; Windows calls it an invalid argument."""
    refuse(monkeypatch, OSError(number, "full"))
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert (end.value.code, capfd.readouterr().err) == (1, said)


@pytest.mark.parametrize(("system", "name"), [("linux", None), ("win32", "a.png")])
def test_an_invalid_argument_elsewhere_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, name: str | None
) -> None:
    refuse(monkeypatch, OSError(errno.EINVAL, "invalid", *([] if name is None else [str(tmp_path / name)])))
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(OSError, match="invalid"):
        cli.main()
