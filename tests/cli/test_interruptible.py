"""Ctrl-C while the work is in a call that does not come back: the process ends within its patience, without drafts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interruptible import STOPPED

WORK = """
import os, signal, time
from fractions import Fraction
from pathlib import Path
from mandelcl.cli.interruptible import interruptible
from mandelcl.core.job import Job
from mandelcl.files.paths import tempfile_for
from mandelcl.rendering.resuming import locked
from mandelcl.rendering.manifest import Manifest
from mandelcl.rendering.store import BandStore
from mandelcl.rendering.store import TEMPFILE
from mandelcl.base.view import View

def work(cancel):
    with locked([BandStore(Path("a.png.part"))]) as stores, tempfile_for(Path("b.png").absolute()) as tempfile:
        tempfile.write_text("half")
        (stores[0].folder / TEMPFILE).write_text("half")
        if {begun}:
            view = View.upright(Fraction(0), Fraction(0), Fraction(1, 2), 8, 8)
            (stores[0].folder / "band-0000000").touch()
            stores[0].begin(Manifest.of_words(Job(view, number="float", rounding="separate"), 1))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(3600)

interruptible(work)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize(("begun", "kept"), [(False, []), (True, ["band-0000000", "lock", "manifest.json"])])
def test_unresponsive_work_leaves_no_tempfiles(begun: bool, kept: list[str], folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WORK.format(begun=begun)], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (STOPPED, "", "mandelcl: stopped\n")
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == kept
    assert sorted(path.name for path in folder.iterdir()) == (["a.png.part"] if begun else [])
