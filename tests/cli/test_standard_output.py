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
    ("system", "number", "reported"),
    [
        ("linux", errno.EPIPE, ""),
        ("win32", errno.EPIPE, ""),
        ("win32", errno.EINVAL, ""),
        ("win32", errno.ENOSPC, "mandelcl: cannot write to standard output: full\n"),
    ],
)
def test_formats_refused_on_stdout(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], system: str, number: int, reported: str
) -> None:
    """A reader that has seen enough is no error that anybody has to read of; Windows calls it an invalid argument."""
    refuse(monkeypatch, OSError(number, "full"))
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert (end.value.code, capfd.readouterr().err) == (1, reported)


@pytest.mark.parametrize(("system", "name"), [("linux", None), ("win32", "a.png")])
def test_einval_elsewhere_is_reported(
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
def test_unencodable_characters_are_replaced(encoding: str, text: str, shown: str) -> None:
    standard_output.accept_all()
    assert text.encode(encoding, "mandelcl.plain").decode(encoding) == shown


def test_help_is_printed_in_any_pipe_encoding() -> None:
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


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_tolerated(closed: str, tmp_path: Path) -> None:
    def ended(*words: str) -> int:
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "mandelcl", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        return done.returncode

    assert ended("source", "--size", "8x8") == 0
    assert ended("bench", "--list") == 0
    assert ended("render", "--size", "0x0") == 2
    assert ended("render", "--nonsense") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_no_file_reuses_the_stdout_descriptor(tmp_path: Path) -> None:
    """What a library prints would go into it."""
    look = (
        "import os, sys; from mandelcl.cli.standard_output import open_closed; open_closed();"
        "file = open('a', 'wb'); os.write(1, b'x'); os.write(2, b'x'); print('y'); print('y', file=sys.stderr)"
    )
    subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", look], cwd=tmp_path, check=True)
    assert (tmp_path / "a").read_bytes() == b""
