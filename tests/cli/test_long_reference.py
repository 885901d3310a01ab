"""A deep view whose reference orbit takes hours: a line says so, and Ctrl-C ends it at once and leaves nothing."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.test_resume import ENVIRONMENT
from tests.interruptible import STOPPED, Interruptible

CHILD = """
import sys
from mandelcl.rendering import waiting
from mandelcl import cli
waiting._LONG_S = 0
sys.argv = ["mandelcl", *sys.argv[1:]]
cli.main()
"""
# At the cusp of the cardioid, where neither a period nor a proof ends a reference.
RENDER = ("render", "--center", "0.25", "0", "--zoom", "1e40", "--size", "8x8", "--iterations", str(2**32 - 2))


@pytest.mark.usefixtures("usable")
def test_interrupt_stops_a_long_reference(folder: Path) -> None:
    with Interruptible("-c", CHILD, *RENDER, "-o", "a.png", env=ENVIRONMENT, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        process.interrupt()
        rest = process.stderr.read()
    assert "of at most 4,294,967,294 iterations" in line
    assert "press Ctrl-C to stop" in line
    assert (process.returncode, rest) == (STOPPED, "mandelcl: stopped\n")
    assert list(folder.iterdir()) == []
