"""Cores: how many are ours, and who goes first on them."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from mandelcl.base import windows
from mandelcl.base.machine import cores, give_way


@pytest.mark.parametrize(
    ("ours", "all_there", "answers", "count"),
    [(0b1111, 0b1111, 1, 4), (0b0101, 0b1111, 1, 2), (0, 0, 1, 4), (0b0001, 0b1111, 0, 4)],
)
def test_windows_process_affinity(
    monkeypatch: pytest.MonkeyPatch, ours: int, all_there: int, answers: int, count: int
) -> None:
    """Masks of 0 are those of a process in several groups of processors."""

    def masks(process: Any, mine: Any, everybodys: Any) -> int:
        assert process.value == 2**64 - 1
        mine._obj.value, everybodys._obj.value = ours, all_there
        return answers

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(windows, "_kernel32", lambda: SimpleNamespace(GetProcessAffinityMask=masks))
    assert cores() == count


def test_this_machine_has_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize(("niceness", "priority"), [(5, 0x4000), (10, 0x4000), (19, 0x40)])
def test_windows_priority_classes(monkeypatch: pytest.MonkeyPatch, niceness: int, priority: int) -> None:
    given = []
    monkeypatch.setattr(sys, "platform", "win32")
    library = SimpleNamespace(SetPriorityClass=lambda process, given_class: given.append((process.value, given_class)))
    monkeypatch.setattr(windows, "_kernel32", lambda: library)
    give_way(niceness)
    assert given == [(2**64 - 1, priority)]


@pytest.mark.parametrize(("niceness", "priority"), [(5, 0x4000), (19, 0x40)])
def test_background_process_has_low_priority(niceness: int, priority: int) -> None:
    if sys.platform == "win32":
        ask = "import ctypes; print(ctypes.windll.kernel32.GetPriorityClass(ctypes.c_void_p(-1)))"
        expected = priority
    else:
        ask = "import os; print(os.nice(0))"
        expected = min(19, os.nice(0) + niceness)
    code = f"from mandelcl.base.machine import give_way; give_way({niceness}); {ask}"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    assert int(done.stdout) == expected
