"""Temporary folders of killed processes go with the next folder of their kind, and nothing else does."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base import processes
from mandelcl.files.leftovers import in_temporary_folder, temporary_folder
from tests.host.files import names

LEAVING = """
import sys
from mandelcl.files.leftovers import in_temporary_folder, temporary_folder
with in_temporary_folder("mandelcl-b-") as folder:
    for place in (folder, temporary_folder("mandelcl-a-")):
        (place / "inner").mkdir()
        (place / "inner" / "file").write_bytes(b"x")
    print("made", flush=True)
    sys.stdin.read()
"""


ENDING = """
from functools import partial
from mandelcl.files.leftovers import before_removal, cleared_by, end_process
say = partial(print, flush=True)
with cleared_by(partial(say, "first removed")), before_removal(partial(say, "nothing to close")):
    say("done")
with cleared_by(partial(say, "removed")), before_removal(partial(say, "closed")):
    end_process(0)
"""


def test_files_are_closed_before_they_are_removed() -> None:
    printed = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["done", "first removed", "closed", "removed"]


TWICE = """
import threading, time
from mandelcl.files.leftovers import cleared_by, end_process
begun = threading.Event()
def remove():
    if begun.is_set():
        return  # as a store does that another thread releases
    begun.set()
    time.sleep(0.3)
    print("removed", flush=True)
with cleared_by(remove):
    threading.Thread(target=end_process, args=(0,)).start()
    begun.wait()
    end_process(0)
"""


def test_a_process_that_two_threads_end_is_tidied_up() -> None:
    printed = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=True).stdout
    assert printed == "removed\n"


@pytest.mark.skipif(not processes.own_name(), reason="a system that does not name its processes")
def test_leftovers_of_a_dead_process_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", LEAVING], **pipes, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split() == [b"made"]
        left = names(tmp_path)
        assert [name[:11] for name in left] == ["mandelcl-a-", "mandelcl-b-"]
        with in_temporary_folder("mandelcl-a-") as own:
            assert names(tmp_path) == sorted([*left, own.name]), "its process runs"
        process.kill()
    foreign = [left[0].replace("mandelcl-a-", "mandelcl-c-"), f"{left[0]}.txt", "mandelcl-a-thesis"]
    for name in foreign:
        (tmp_path / name).mkdir()
    (tmp_path / f"{left[0]}x").write_text("a file")
    foreign += [f"{left[0]}x"]
    with in_temporary_folder("mandelcl-a-") as own:
        assert names(tmp_path) == sorted([*foreign, left[1], own.name])
        assert names(tmp_path / left[1]) == ["inner"]
    own = temporary_folder("mandelcl-b-")
    assert names(tmp_path) == sorted([*foreign, own.name])
