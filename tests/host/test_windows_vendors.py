"""Runtimes of a Windows machine made of files and a registry."""

import os
import platform
import site
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from mandelcl.base import windows
from mandelcl.opencl import runtimes
from mandelcl.opencl.absence import explain_absence
from mandelcl.opencl.runtimes import Runtimes

DWORD = 4


class Windows:
    """A machine without a registered runtime, whose user is no administrator."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self.patch = root, patch
        self.values: list[tuple[str, int, int]] | None = None
        patch.setattr(sys, "platform", "win32")
        patch.setattr(platform, "machine", lambda: "AMD64")  # which would read the registry
        patch.setattr(sys, "prefix", str(root / "venv"))
        patch.setattr(sys, "base_prefix", str(root / "base"))
        patch.setattr(sys, "path", [str(root / "venv/Lib/site-packages"), *sys.path])
        patch.setattr(site, "ENABLE_USER_SITE", False)
        patch.setattr(site, "getuserbase", lambda: str(root / "user"))
        patch.setattr(windows, "is_elevated", lambda: False)
        patch.setenv("OCL_ICD_FILENAMES", "")
        registry = SimpleNamespace(HKEY_LOCAL_MACHINE="HKLM", REG_DWORD=DWORD, OpenKey=self._key)
        registry.QueryInfoKey = lambda key: (0, len(key), 0)
        registry.EnumValue = lambda key, number: key[number]
        patch.setitem(sys.modules, "winreg", registry)

    @contextmanager
    def _key(self, root: str, name: str) -> Iterator[list[tuple[str, int, int]]]:
        assert (root, name) == ("HKLM", r"SOFTWARE\Khronos\OpenCL\Vendors")
        if self.values is None:
            raise FileNotFoundError(name)
        yield self.values

    def library(self, prefix: str) -> str:
        path = self.root / prefix / "Library/bin/intelocl64.dll"
        path.parent.mkdir(parents=True)
        path.touch()
        return str(path)

    def prepare(self) -> Runtimes:
        self.patch.setattr(runtimes, "_prepared", None)
        return runtimes.prepare()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Windows:
    return Windows(tmp_path, monkeypatch)


def reported() -> str:
    return os.environ["OCL_ICD_FILENAMES"]


def test_pip_runtimes_are_registered_with_the_loader(machine: Windows) -> None:
    """pip puts it where nothing looks, and registers nothing."""
    library = machine.library("venv")
    found = machine.prepare()
    assert [(vendor.library, vendor.origin) for vendor in found.vendors] == [(library, "pip")]
    assert (reported(), found.notes) == (library, ())
    assert machine.prepare().vendors == (), "the variable names it already, as for a child of this process"
    assert reported() == library


def test_user_named_drivers_are_kept(machine: Windows) -> None:
    library = machine.library("venv")
    machine.patch.setenv("OCL_ICD_FILENAMES", r"C:\drivers\other64.dll")
    machine.prepare()
    assert reported() == rf"C:\drivers\other64.dll;{library}"
    for own in (r"D:\intel\IntelOCL64.dll", r"C:\drivers\other64.dll;D:\intel\intelocl64.dll"):
        machine.patch.setenv("OCL_ICD_FILENAMES", own)
        machine.prepare()
        assert reported() == own


@pytest.mark.parametrize(("value", "kind", "counts"), [(0, DWORD, True), (1, DWORD, False), (0, 1, False)])
def test_registered_runtime_is_not_added_again(machine: Windows, value: int, kind: int, counts: bool) -> None:
    """Its devices would be there twice; but a value of another kind, or other than 0, registers nothing."""
    library, registered = machine.library("venv"), machine.library("oneAPI")
    machine.values = [(r"C:\gone\intelocl64.dll", 0, DWORD), (registered, value, kind)]
    found = machine.prepare()
    assert [(vendor.library, vendor.origin) for vendor in found.vendors] == [
        (registered, "system") if counts else (library, "pip")
    ]
    assert reported() == ("" if counts else library)


def test_elevated_process_is_told_how_to_register_runtime(machine: Windows) -> None:
    """There the loader heeds no variable."""
    library = machine.library("venv")
    machine.patch.setattr(windows, "is_elevated", lambda: True)
    found = machine.prepare()
    (note,) = found.notes
    assert r"reg add HKLM\SOFTWARE\Khronos\OpenCL\Vendors /v " in note
    assert library in note
    assert (found.vendors, reported()) == ((), "")
    assert note in explain_absence(found)


def test_runtimes_of_other_environments_are_ignored(machine: Windows) -> None:
    base, user = machine.library("base"), machine.library("user")
    assert machine.prepare().vendors == ()
    machine.patch.setattr(site, "ENABLE_USER_SITE", True)
    assert [vendor.library for vendor in machine.prepare().vendors] == [user]
    machine.patch.setenv("OCL_ICD_FILENAMES", "")
    machine.patch.setattr(sys, "path", [str(machine.root / "base/Lib/site-packages"), *sys.path])
    assert [vendor.library for vendor in machine.prepare().vendors] == [base]
    machine.patch.setenv("OCL_ICD_FILENAMES", "")
    own = machine.library("venv")
    assert [vendor.library for vendor in machine.prepare().vendors] == [own]
