"""Runtimes are found wherever they may be installed, once each, and what the user set stays."""

import importlib
import os
import sys

import pytest

from mandelcl.opencl import runtimes, vendors
from mandelcl.opencl.runtimes import prepare
from tests import posix
from tests.host.conftest import Machine, named, reads_folders

pytestmark = reads_folders


def test_no_runtime_installed(machine: Machine) -> None:
    found = prepare()
    assert found.vendors == ()
    assert found.searched == (machine.system, machine.root / "usr/share/OpenCL/vendors", machine.prefix / "lib")


def test_icd_file_with_a_build_path_is_corrected_or_dropped(machine: Machine) -> None:
    machine.add("venv/etc/OpenCL/vendors/cpu.icd", "/build/host/lib/libintelocl.so\n")
    machine.add("venv/etc/OpenCL/vendors/fpga.icd", "/build/host/lib/libintelocl_emu.so\n")
    machine.add("venv/etc/OpenCL/vendors/bare.icd", "libpocl.so.2\n")
    intel = machine.add("venv/lib/libintelocl.so")
    pocl = machine.add("venv/lib/libpocl.so.2")
    assert [v.library for v in prepare().vendors] == [str(pocl), str(intel)]


def test_a_library_named_twice_is_kept_once(machine: Machine) -> None:
    intel = machine.add("venv/lib/libintelocl.so")
    machine.add("etc/OpenCL/vendors/intel.icd", str(intel))
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    machine.add("usr/share/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    (machine.prefix / "lib64").symlink_to("lib")
    machine.patch.setattr(sys, "path", [str(machine.prefix / "lib64/python3.11/site-packages"), *sys.path])
    assert [v.library for v in prepare().vendors] == [str(intel), "libpocl.so.2"]


def test_user_site_is_searched_only_if_python_uses_it(machine: Machine) -> None:
    intel = machine.add("home/.local/lib/libintelocl.so")
    assert prepare().vendors == ()
    machine.patch.setattr(sys, "path", [*sys.path, str(machine.root / "home/.local/lib/python3.11/site-packages")])
    assert [v.library for v in machine.again().vendors] == [str(intel)]


def test_a_driver_without_an_icd_file_is_added_once(machine: Machine) -> None:
    driver = machine.add("drivers/libdriver-for-tests.so.1")
    found = prepare()
    assert [(v.origin, v.library) for v in found.vendors] == [("driver", str(driver))]
    assert named(found.folder) == [str(driver)]
    machine.add("etc/OpenCL/vendors/driver.icd", "libdriver-for-tests.so.1")
    assert [v.origin for v in machine.again().vendors] == ["system"]


def test_a_driver_is_found_along_the_library_path(machine: Machine) -> None:
    driver = machine.add("own/libdriver-for-tests.so.1")
    machine.patch.setenv("LD_LIBRARY_PATH", f":{machine.root / 'nowhere'}:{driver.parent}")
    assert [v.library for v in prepare().vendors] == [str(driver)]


def test_unreadable_icd_files_are_reported_and_skipped(machine: Machine) -> None:
    (machine.system / "folder.icd").mkdir()
    (machine.system / "gone.icd").symlink_to("nowhere")
    machine.add("etc/OpenCL/vendors/empty.icd", "\n")
    machine.add("venv/etc/OpenCL/vendors/empty.icd")
    intel = machine.add("venv/lib/libintelocl.so")
    found = prepare()
    assert named(found.folder) == [str(intel)]
    reasons = {v.icd.name: v.reason for v in found.vendors if v.loads is False}
    assert reasons["empty.icd"] == "names no library"
    assert reasons["gone.icd"] == "cannot be read: No such file or directory"
    assert "directory" in reasons["folder.icd"].lower()


def test_pipes_and_devices_among_icd_files_are_hidden_from_the_loader(machine: Machine) -> None:
    """It would wait for ever, and so would whoever reads them to see."""
    posix.os.mkfifo(machine.system / "pipe.icd")
    (machine.system / "zeros.icd").symlink_to("/dev/zero")
    library = machine.add("own/libgood.so")
    machine.add("etc/OpenCL/vendors/good.icd", str(library))
    found = prepare()
    assert named(found.folder) == [str(library)]
    assert [v.reason for v in found.vendors if not v.library] == ["is a device or a pipe, or too long"] * 2


def test_note_with_a_long_path_is_cut(machine: Machine) -> None:
    machine.add("venv/lib/libintelocl.so")
    machine.patch.setenv("OCL_ICD_VENDORS", "x" * 5000)
    assert [len(note) < 290 for note in prepare().notes] == [True]


def test_a_library_may_have_any_character_in_its_name(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/odd.icd", "/lib\x85\u2028x/lib\x1dy.so\nmore\n")
    assert [v.library for v in prepare().vendors] == ["/lib\x85\u2028x/lib\x1dy.so"]


def test_folder_of_the_wheel_is_left_to_its_loader(machine: Machine) -> None:
    machine.patch.setattr(runtimes, "find_loader", vendors.find_loader)
    machine.add("venv/lib/python3.11/site-packages/pyopencl/.libs/pocl.icd", "libpocl-1.so")
    pocl = machine.add("venv/lib/python3.11/site-packages/pyopencl/.libs/libpocl-1.so")
    importlib.invalidate_caches()
    found = prepare()
    assert found.loader == "none: pyopencl is not installed"
    assert named(found.folder) == [str(pocl)]

    machine.add("venv/lib/python3.11/site-packages/pyopencl/__init__.py")
    machine.add("venv/lib/python3.11/site-packages/pyopencl/.libs/libOpenCL-2.so.1")
    machine.patch.setenv("OCL_ICD_FILENAMES", "libmine.so")
    importlib.invalidate_caches()
    found = machine.again()
    assert found.loader.startswith("ocl-icd, inside the pyopencl wheel")
    assert (found.folder, [v.library for v in found.vendors]) == ("", [str(pocl)])
    assert "OCL_ICD_VENDORS" not in os.environ
    assert any("OCL_ICD_FILENAMES" in note for note in found.notes)


def test_the_older_name_of_the_standard_folder_is_respected(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    machine.add("mine/one.icd", "libone.so")
    machine.patch.setenv("OPENCL_VENDOR_PATH", str(machine.root / "mine"))
    assert [v.library for v in prepare().vendors] == ["libone.so"]


@pytest.mark.parametrize("chosen", ["mine", "mine/one.icd"])
def test_user_setting_is_kept(machine: Machine, chosen: str) -> None:
    machine.add("venv/lib/libintelocl.so")
    machine.add("mine/one.icd", "libone.so")
    machine.patch.setenv("OCL_ICD_VENDORS", str(machine.root / chosen))
    found = prepare()
    assert os.environ["OCL_ICD_VENDORS"] == found.folder == str(machine.root / chosen)
    assert found.user_set
    assert [(v.origin, v.library) for v in found.vendors] == [("user", "libone.so")]
    assert any("hides libintelocl.so" in note for note in found.notes)
    assert "MANDELCL_VENDORS" not in os.environ
    assert not machine.cache.exists()


def test_user_setting_may_be_a_file_a_library_or_invalid(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    expected = {"pocl.icd": "libpocl.so.2", "libown.so": "libown.so", "/nonsense": "/nonsense", "/nonsense.icd": ""}
    for chosen, library in expected.items():
        machine.patch.setenv("OCL_ICD_VENDORS", chosen)
        found = machine.again()
        assert (found.user_set, [v.library for v in found.vendors]) == (True, [library])
        assert os.environ["OCL_ICD_VENDORS"] == chosen


@pytest.mark.parametrize("content", [b"", b"\n", b"\0\377\376", b"libone.so\0"])
@pytest.mark.parametrize("chosen", ["mine", "mine/odd.icd", ""])
def test_files_that_crash_loaders_are_hidden_from_them(machine: Machine, chosen: str, content: bytes) -> None:
    folder = machine.root / "mine" if chosen else machine.system
    for name in ("one.icd", "two.icd"):
        machine.add(f"{folder.relative_to(machine.root)}/{name}", f"lib{name[:3]}.so")
    (folder / "odd.icd").write_bytes(content)
    machine.patch.setenv("OCL_ICD_VENDORS", str(machine.root / chosen) if chosen else "")
    libraries = [] if chosen.endswith(".icd") else ["libone.so", "libtwo.so"]
    for found in (prepare(), machine.again()):  # and a child of this process
        assert named(os.environ["OCL_ICD_VENDORS"]) == libraries
        assert found.user_set == bool(chosen)
        assert [vendor.reason for vendor in found.vendors if not vendor.library] == ["names no library"]


def test_empty_setting_counts_as_unset(machine: Machine) -> None:
    machine.patch.setenv("OCL_ICD_VENDORS", "")
    assert not prepare().user_set
