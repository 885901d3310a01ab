"""What cannot be written to standard output: errors as systems say them, characters that its encoding lacks."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from mandelcl import cli
from mandelcl.cli import standard_output


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


@pytest.mark.parametrize(
    ("encoding", "text", "shown"),
    [
        ("cp1252", "512² × 3 – 4 ms … 5·µs", "512² × 3 – 4 ms … 5·µs"),
        ("cp1252", "|z|⁴ ≥ −1", "|z|^4 >= -1"),
        ("cp437", "2048² … 3 × 4", "2048² ... 3 x 4"),
        ("ascii", "|z|² ≥ 4, z³, ±1", "|z|^2 >= 4, z^3, +-1"),
        ("ascii", "Jörg 東", "J\\xf6rg \\u6771"),
    ],
)
def test_what_an_encoding_lacks_is_written_plainly(encoding: str, text: str, shown: str) -> None:
    standard_output.accept_all()
    assert text.encode(encoding, "mandelcl.plain").decode(encoding) == shown


def test_all_help_can_be_read_in_the_encoding_of_a_pipe_on_windows() -> None:
    code = (
        "import sys; from mandelcl import cli; from click.testing import CliRunner; "
        "cli.standard_output.accept_all(); "
        "[print(CliRunner().invoke(cli.cli, [name, '--help']).output) for name in cli._COMMANDS]"
    )
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, timeout=600, check=True
    )
    shown = done.stdout.decode("cp1252")
    assert "root4" in shown
    assert "\\u" not in shown
    assert "\\x" not in shown
