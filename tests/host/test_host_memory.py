"""How much memory may be had, on machines and in containers made of files."""

import ctypes
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mandelcl.base import machine, macos, windows
from mandelcl.base.errors import MandelclError
from mandelcl.base.machine import available_bytes
from mandelcl.base.view import View
from mandelcl.core.field import allocate
from mandelcl.core.job import Job

GIB = 1 << 30
MEMINFO = f"MemTotal: {16 << 20} kB\nMemFree: {1 << 20} kB\nMemAvailable: {8 << 20} kB\nBuffers: 1 kB\n"
UNLIMITED_1 = 9223372036854771712


@dataclass
class Host:
    root: Path

    def file(self, path: str, text: str | bytes) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def group_2(self, path: str, limit: object, used: int, stat: str = "") -> None:
        self.file(f"cgroup/{path}/memory.max", f"{limit}\n")
        self.file(f"cgroup/{path}/memory.current", f"{used}\n")
        self.file(f"cgroup/{path}/memory.stat", stat)

    def group_1(self, path: str, limit: int, used: int, stat: str = "") -> None:
        self.file(f"cgroup/memory/{path}/memory.limit_in_bytes", f"{limit}\n")
        self.file(f"cgroup/memory/{path}/memory.usage_in_bytes", f"{used}\n")
        self.file(f"cgroup/memory/{path}/memory.stat", stat)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A machine with 8 GiB to be had, and no control groups."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "cgroup")
    made = Host(tmp_path)
    made.file("proc/meminfo", MEMINFO)
    return made


def test_machine_without_cgroups(host: Host) -> None:
    assert available_bytes() == 8 * GIB
    host.file("proc/meminfo", "MemTotal: 16 kB\n")
    assert available_bytes() == math.inf
    for nonsense in ("MemAvailable:\n", "MemAvailable: many kB\n", b"\xff\xfe"):
        host.file("proc/meminfo", nonsense)
        assert available_bytes() == math.inf


@pytest.mark.parametrize("system", ["linux", "freebsd14"])
def test_unknown_system_has_no_memory_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(machine, "_PROC", tmp_path / "none")
    assert available_bytes() == math.inf


@pytest.mark.parametrize(("memory", "page_file"), [(3, 9), (9, 3)])
def test_windows_memory_and_page_file(host: Host, monkeypatch: pytest.MonkeyPatch, memory: int, page_file: int) -> None:
    def status(reference: Any) -> int:
        answer = reference._obj
        assert answer.dwLength == ctypes.sizeof(answer) == 64
        answer.ullTotalPhys = answer.ullTotalPageFile = answer.ullAvailVirtual = 100 * GIB
        answer.ullAvailPhys, answer.ullAvailPageFile = memory * GIB, page_file * GIB
        return 1

    (host.root / "proc/meminfo").unlink()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(windows, "_kernel32", lambda: SimpleNamespace(GlobalMemoryStatusEx=status))
    assert available_bytes() == 3 * GIB
    monkeypatch.setattr(windows, "_kernel32", lambda: SimpleNamespace(GlobalMemoryStatusEx=lambda _status: 0))
    assert available_bytes() == math.inf, "it does not say"


def test_macos_free_and_inactive_pages(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def statistics(port: int, flavour: int, reference: Any, words: Any) -> int:
        assert (port, flavour, words._obj.value) == (77, 4, 24)
        pages = (ctypes.c_uint32 * 24).from_buffer(reference._obj)
        pages[0], pages[1], pages[2], pages[3] = 10, 1000, 20, 1000
        return 0

    def page_size(port: int, reference: Any) -> int:
        reference._obj.value = 16384
        return 0 if port == 77 else 5

    (host.root / "proc/meminfo").unlink()
    monkeypatch.setattr(sys, "platform", "darwin")
    library = SimpleNamespace(host_statistics64=statistics, host_page_size=page_size)
    monkeypatch.setattr(macos, "_system", lambda: library)
    monkeypatch.setattr(macos, "_host", lambda: 77)
    assert available_bytes() == 30 * 16384
    library.host_page_size = lambda _port, _size: 5
    assert available_bytes() == math.inf, "it does not say"
    del library.host_statistics64
    assert available_bytes() == math.inf, "an old one"


@pytest.mark.skipif(sys.platform not in ("linux", "win32", "darwin"), reason="a system that is not asked")
def test_this_machine_reports_memory() -> None:
    assert 0 < available_bytes() < 1 << 50


def test_parent_cgroup_may_have_the_lowest_limit(host: Host) -> None:
    host.file("proc/self/cgroup", "0::/user.slice/session.scope\n")
    host.group_2("user.slice/session.scope", "max", 1 * GIB)
    host.group_2("user.slice", 5 * GIB, 2 * GIB)
    assert available_bytes() == 3 * GIB
    host.group_2("user.slice/session.scope", 2 * GIB, 1 * GIB)
    assert available_bytes() == 1 * GIB
    host.group_2("user.slice", 64 * GIB, 0)
    host.group_2("user.slice/session.scope", "max", 1 * GIB)
    assert available_bytes() == 8 * GIB


@pytest.mark.parametrize("path", ["/", "/docker/0123abcd", "/../../other"])
def test_container_sees_its_cgroup_as_root(host: Host, path: str) -> None:
    host.file("proc/self/cgroup", f"0::{path}\n")
    host.group_2("", 4 * GIB, 1 * GIB)
    assert available_bytes() == 3 * GIB


def test_cgroup_version_1(host: Host) -> None:
    host.file("proc/self/cgroup", "9:name=systemd:/\n5:cpu,memory:/docker/0123\n1:cpu:/other\n0::/\n")
    host.group_1("docker/0123", 4 * GIB, 3 * GIB)
    host.group_1("docker", UNLIMITED_1, 3 * GIB)
    host.group_1("other", 1, 1)
    assert available_bytes() == 1 * GIB
    host.file("proc/self/cgroup", "4:memory:/somewhere/outside\n")
    host.group_1("", 3 * GIB, 1 * GIB)
    assert available_bytes() == 2 * GIB, "inside a container"


def test_page_cache_counts_as_available(host: Host) -> None:
    """What was read or written once counts as used until somebody else needs the room."""
    stat = f"anon 5\nactive_file {1 * GIB}\ninactive_file {2 * GIB}\nfile_mapped 9\n"
    host.file("proc/self/cgroup", "0::/\n")
    host.group_2("", 4 * GIB, 4 * GIB, stat)
    assert available_bytes() == 3 * GIB
    host.file("proc/self/cgroup", "4:memory:/\n")
    host.group_1("", 4 * GIB, 4 * GIB, f"inactive_file 7\ntotal_active_file {GIB}\ntotal_inactive_file {GIB}\n")
    assert available_bytes() == 2 * GIB
    host.group_1("", 4 * GIB, 3 * GIB, "nonsense\ntotal_active_file many\n")
    assert available_bytes() == 1 * GIB


def test_usage_above_the_limit_leaves_zero(host: Host) -> None:
    host.file("proc/self/cgroup", "0::/\n")
    host.group_2("", 1 * GIB, 2 * GIB)
    assert available_bytes() == 0


@pytest.mark.parametrize("text", ["", "\n", "nonsense\n", "0:\n", "::\n", "0::\n", b"0::/\xff\xfe\n"])
def test_invalid_memory_files_are_ignored(host: Host, text: str | bytes) -> None:
    host.file("proc/self/cgroup", text)
    assert available_bytes() == 8 * GIB
    host.file("proc/self/cgroup", "0::/\n")
    for limit in ("", "many", "-"):
        host.group_2("", limit, 1)
        assert available_bytes() == 8 * GIB
    host.group_2("", 1, 1)
    (host.root / "cgroup/memory.current").unlink()
    assert available_bytes() == 8 * GIB


def test_field_beyond_cgroup_limit_is_refused(host: Host) -> None:
    job = Job(View.centred(0, 0, 1, 1000, 1000))
    host.file("proc/self/cgroup", "0::/\n")
    host.group_2("", 4_000_100, 100)
    assert allocate(job)["counts"].shape == (1000, 1000)
    host.group_2("", 4_000_100, 101)
    with pytest.raises(MandelclError, match=r"a field of 1000x1000 needs 0.0 GiB of memory, more than there is"):
        allocate(job)
