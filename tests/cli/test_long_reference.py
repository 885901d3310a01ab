"""A deep view whose reference orbit takes hours: a line says so, and Ctrl-C ends it at once and leaves nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_resume import ENVIRONMENT

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
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_an_interrupt_ends_it(folder: Path) -> None:
    command = [sys.executable, "-c", CHILD, *RENDER, "-o", "a.png"]
    with subprocess.Popen(command, env=ENVIRONMENT, text=True, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        before = time.monotonic()
        rest = process.stderr.read()
    assert time.monotonic() - before < 10
    assert "of at most 4,294,967,294 iterations" in line
    assert "Ctrl-C stops" in line
    assert (process.returncode, rest) == (1, "mandelcl: stopped\n")
    assert list(folder.iterdir()) == []
