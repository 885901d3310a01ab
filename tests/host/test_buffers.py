"""Memory that two processes share: what one writes the other reads, and nothing beside it."""

import json
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mandelcl.workers.buffers import SharedBuffers


@pytest.fixture(params=["own", "posix"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of this system, and that of POSIX without Linux's."""
    if request.param == "posix":
        pytest.importorskip("_posixshmem", reason="needs POSIX")
        monkeypatch.delattr(os, "memfd_create", raising=False)


CHILD = """
import json, sys
from mandelcl.workers.buffers import SharedBuffers
buffers = SharedBuffers.inherited(json.loads(sys.argv[1]))
buffers.words(1, (2, 3))[:] = [[1, 2, 3], [4, 5, 0xffffffff]]
"""


def made(size: int, count: int) -> SharedBuffers:
    buffers = SharedBuffers.make(size, count)
    assert buffers is not None
    return buffers


def test_shared_buffer_is_written_by_another_process() -> None:
    buffers = made(24, 3)
    for number in buffers.numbers:
        buffers.words(number, (6,))[:] = 7
    child = [sys.executable, "-c", CHILD, json.dumps(buffers.order)]
    subprocess.run(child, check=True, pass_fds=buffers.descriptors, timeout=600)
    taken = [np.frombuffer(buffers.copy_of(number, 24), np.uint32).tolist() for number in buffers.numbers]
    assert taken == [[7] * 6, [1, 2, 3, 4, 5, 2**32 - 1], [7] * 6]
    buffers.close()


def test_taken_data_is_a_copy() -> None:
    buffers = made(8, 1)
    words = buffers.words(0, (2,))
    words[:] = 1
    taken = buffers.copy_of(0, 8)
    words[:] = 2
    del words
    assert np.frombuffer(taken, np.uint32).tolist() == [1, 1]
    buffers.close()


@pytest.mark.parametrize(("number", "size"), [(0, 1 << 20), (2, 4), (-1, 4), (0, -4)])
def test_reads_beyond_the_buffer_are_refused(number: int, size: int) -> None:
    buffers = made(100, 2)
    with pytest.raises(ValueError, match="there is no buffer"):
        buffers.copy_of(number, size)
    with pytest.raises(ValueError, match="there is no buffer"):
        buffers.words(2, (1,))
    with pytest.raises(ValueError, match="there is no buffer"):
        buffers.words(0, (1 << 20,))
    buffers.close()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_shared_memory_may_be_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_settings: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(mmap, "mmap", fail)
    assert SharedBuffers.make(8, 1) is None


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc")
def test_closing_leaves_no_open_file() -> None:
    before = open_files()
    buffers = made(1 << 20, 3)
    assert open_files() > before
    buffers.close()
    assert open_files() == before
