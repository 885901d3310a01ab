"""What `mandelcl explore` refuses before it serves anything."""

import sys

import pytest
from click.testing import CliRunner

from mandelcl.base.errors import MandelclError
from mandelcl.cli import cli


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--at", "whole-set", "--zoom", "1e12000"], "cannot show this"),
        (["--iterations", "1e16"], "1000000000000000"),
        (["--public-name", "http://box"], "NAME:PORT"),
    ],
)
def test_too_large_start_view_is_refused(options: list[str], line: str) -> None:
    result = CliRunner().invoke(cli, ["explore", "--no-browser", *options])
    assert isinstance(result.exception, MandelclError)
    assert line in str(result.exception)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--host", ""], "--host needs an address"),
        (["--host", "0.0.0.0"], "add --allow-remote"),
        (["--save-dir", "no/such/folder"], "does not exist"),
    ],
)
def test_invalid_option_is_refused(options: list[str], line: str) -> None:
    result = CliRunner().invoke(cli, ["explore", "--no-browser", *options])
    assert result.exit_code == 2
    assert line in result.output


@pytest.mark.skipif(sys.platform != "linux", reason="no /proc, in which nobody can make a file")
def test_unwritable_output_folder_is_refused() -> None:
    result = CliRunner().invoke(cli, ["explore", "--no-browser", "--save-dir", "/proc"])
    assert isinstance(result.exception, MandelclError)
    assert "cannot write to the folder /proc" in str(result.exception)
