"""The runtime that is opened while Python loads: the one that a process with the same words noted, and no other."""

import threading
from pathlib import Path

import pytest

from mandelcl.base.errors import NoDeviceError
from mandelcl.files import cache
from mandelcl.opencl import icd, installation, preopen, runtimes
from mandelcl.opencl.icd import Offered
from mandelcl.opencl.runtimes import Runtimes
from mandelcl.opencl.vendors import Vendor

ONE, OTHER = "/lib/libone.so", "libother.so.1"
OFFERS = {ONE: [Offered(10, ("one",))], OTHER: [Offered(20, ("embedded",)), Offered(21, ("other",))]}


class Machine:
    """Two runtimes; `opened` are those that were asked for their devices, `contexts` the devices that have one."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.contexts: list[int] = []
        self.takes_library = True
        self.installed = "as it was"

    def prepare(self) -> Runtimes:
        vendors = Vendor(Path("/x/a.icd"), ONE, "system"), Vendor(Path("/x/b.icd"), OTHER, "pip")
        return Runtimes("a loader", vendors=vendors, takes_library=self.takes_library)

    def offered(self, library: str) -> list[Offered]:
        self.opened.append(library)
        return OFFERS[library]

    def context(self, device: int) -> int:
        assert threading.current_thread() is not threading.main_thread()
        self.contexts.append(device)
        return 1000 + device

    def begin(self, *words: str) -> list[str]:
        """What another process opens by itself."""
        self.opened, self.contexts = [], []
        preopen.begin(*words)
        assert preopen.installed() == self.installed
        return list(self.opened)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(runtimes, "prepare", made.prepare)
    monkeypatch.setattr(installation, "installation", lambda _runtimes: made.installed)
    monkeypatch.setattr(icd, "offered", made.offered)
    monkeypatch.setattr(icd, "context", made.context)
    monkeypatch.setattr(preopen, "_opening", None)
    return made


def test_nothing_is_opened_with_too_few_addresses(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.begin("--device", "cpu")
    preopen.note(ONE, 0)
    monkeypatch.setattr(preopen, "require_addresses", refuse)
    assert machine.begin("--device", "cpu") == []


def refuse() -> None:
    raise NoDeviceError("no OpenCL driver can be loaded")


def test_recorded_runtime_is_opened(machine: Machine) -> None:
    assert machine.begin("render", "gpu") == []
    preopen.note(OTHER, 1)
    assert machine.begin("render", "gpu") == [OTHER]
    assert machine.contexts == [21]
    assert preopen.offered(OTHER) == OFFERS[OTHER]
    assert machine.opened == [OTHER], "it is not opened twice"
    assert preopen.context(20) == 0
    assert preopen.context(21) == 1021
    assert preopen.context(21) == 0, "a context is given away once"
    assert machine.begin("render", "cpu") == []
    assert machine.begin("render", "gpu") == [OTHER]


def test_last_record_wins(machine: Machine) -> None:
    machine.begin("render")
    preopen.note(OTHER, 0)
    machine.begin("render")
    assert preopen.offered(ONE) == OFFERS[ONE]
    assert machine.opened == [OTHER, ONE]
    preopen.note(ONE, 0)
    assert machine.begin("render") == [ONE]
    assert machine.contexts == [10]


def test_another_installation_has_its_own_cached_choice(machine: Machine) -> None:
    machine.begin("render")
    preopen.note(ONE, 0)
    machine.installed = "changed"
    assert machine.begin("render") == []


def test_loader_that_opens_all_runtimes_is_not_preopened(machine: Machine) -> None:
    machine.begin("render")
    preopen.note(ONE, 0)
    machine.takes_library = False
    assert machine.begin("render") == []


def test_no_start_records_nothing(machine: Machine, tmp_path: Path) -> None:
    preopen.note(ONE, 0)
    assert not (tmp_path / "cache").exists()
    assert preopen.offered(ONE) == OFFERS[ONE]
    assert preopen.context(10) == 0
    assert preopen.installed() == machine.installed


def test_removed_platform_gets_no_context(machine: Machine) -> None:
    machine.begin("render")
    preopen.note(ONE, 5)
    assert machine.begin("render") == [ONE]
    assert machine.contexts == []


def test_an_unknown_library_is_not_opened(machine: Machine) -> None:
    machine.begin("render")
    preopen.note("/tmp/libelse.so", 0)
    assert machine.begin("render") == []


@pytest.mark.parametrize(
    "note", [b"", b"{", b"7", b'["/lib/libone.so"]', b'["/lib/libone.so", "x"]', b'["/lib/libone.so", Infinity]']
)
def test_invalid_note_is_ignored(machine: Machine, tmp_path: Path, note: bytes) -> None:
    machine.begin("render")
    preopen.note(ONE, 0)
    (entry,) = (tmp_path / "cache" / "openings").iterdir()
    cache.write("openings", entry.name, note)
    assert machine.begin("render") == []
