"""Runtimes are merged and named to the loader, on a machine made of files; none is loaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mandelcl.opencl import absence, runtimes, vendors, windows_vendors
from mandelcl.opencl.runtimes import prepare
from tests import posix
from tests.host.conftest import VARIABLES, Machine, named, reads_folders


def test_working_loader_setup_is_left_alone(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    found = prepare()
    assert [v.library for v in found.vendors] == ["libpocl.so.2"]
    assert found.folder == ""
    assert "OCL_ICD_VENDORS" not in os.environ
    assert not machine.cache.exists()


def test_pip_and_system_runtimes_are_merged(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")  # no line end, as some packages write it
    machine.add("usr/share/OpenCL/vendors/other.icd", "/opt/libother.so\nand a line that loaders ignore\n")
    machine.add("etc/OpenCL/vendors/readme.txt", "libnot.so")
    intel = machine.add("venv/lib/libintelocl.so")
    found = prepare()
    assert [v.origin for v in found.vendors] == ["system", "system", "pip"]
    assert os.environ["OCL_ICD_VENDORS"] == found.folder
    assert Path(found.folder).parent == machine.cache
    assert named(found.folder) == ["libpocl.so.2", "/opt/libother.so", str(intel)]
    assert found.vendors[0].icd == machine.system / "pocl.icd"
    assert found.vendors[2].icd.read_text() == f"{intel}\n"


def test_conda_loader_is_told_of_the_system(machine: Machine) -> None:
    (machine.prefix / "conda-meta").mkdir()
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    assert named(prepare().folder) == ["libpocl.so.2"]


def test_later_calls_return_the_first_answer(machine: Machine) -> None:
    machine.add("venv/lib/libintelocl.so")
    first = prepare()
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    assert prepare() is first


def test_child_process_does_not_treat_parent_folder_as_user_setting(machine: Machine) -> None:
    machine.add("venv/lib/libintelocl.so")
    first = prepare()
    assert machine.again() == first
    machine.patch.setenv("OCL_ICD_VENDORS", str(machine.system))
    assert machine.again().user_set


@reads_folders
def test_pipe_in_place_of_a_folder_is_not_read(machine: Machine) -> None:
    """The loader would wait for somebody to write to it, and hear no signal."""
    pipe = machine.root / "pipe"
    posix.os.mkfifo(pipe)
    machine.patch.setenv("OCL_ICD_VENDORS", str(pipe))
    found = prepare()
    assert found.user_set
    assert found.vendors == ()
    assert os.environ["OCL_ICD_VENDORS"] != str(pipe)
    assert named(os.environ["OCL_ICD_VENDORS"]) == []
    assert found.notes == (f"OCL_ICD_VENDORS={pipe} is no folder and no file, and is not read",)


def test_child_process_without_the_runtime_uses_standard_folder(machine: Machine) -> None:
    intel = machine.add("venv/lib/libintelocl.so")
    assert prepare().folder
    intel.unlink()
    assert machine.again().folder == ""
    assert "OCL_ICD_VENDORS" not in os.environ


def test_a_damaged_folder_is_repaired(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    machine.add("venv/lib/libintelocl.so")
    folder = Path(prepare().folder)
    right = {path.name: path.read_bytes() for path in folder.iterdir()}
    first, second = sorted(folder.iterdir())
    first.write_text("cut o")
    second.unlink()
    (folder / "stray.icd").write_text("libstray.so")
    assert machine.again().folder == str(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == right


def test_correct_folder_is_not_rewritten(machine: Machine) -> None:
    machine.add("venv/lib/libintelocl.so")
    folder = Path(prepare().folder)
    before = [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()]
    machine.again()
    assert [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()] == before


@reads_folders
@pytest.mark.parametrize("damage", ["cache is a file", "folder is a file", "entry is a folder", "off", "open to all"])
def test_temporary_folder_replaces_an_unusable_cache(machine: Machine, damage: str) -> None:
    intel = machine.add("venv/lib/libintelocl.so")
    if damage == "cache is a file":
        machine.add("cache", "not a folder")
    elif damage == "open to all":
        machine.cache.mkdir()
        machine.cache.chmod(0o777)
    elif damage == "off":
        machine.patch.setenv("MANDELCL_CACHE", "OFF")
    else:
        folder = Path(prepare().folder)
        (entry,) = folder.iterdir()
        entry.unlink()
        if damage == "entry is a folder":
            entry.mkdir()
        else:
            folder.rmdir()
            folder.write_text("")
    found = machine.again()
    assert Path(found.folder).parent != machine.cache
    assert named(found.folder) == [str(intel)]
    shutil.rmtree(found.folder)


def test_child_process_uses_parent_temporary_folder(machine: Machine) -> None:
    machine.add("venv/lib/libintelocl.so")
    machine.patch.setenv("MANDELCL_CACHE", "off")
    folder = prepare().folder
    assert machine.again().folder == folder
    shutil.rmtree(folder)


def test_no_writable_folder_leaves_system_runtimes(machine: Machine) -> None:
    machine.add("etc/OpenCL/vendors/pocl.icd", "libpocl.so.2")
    machine.add("venv/lib/libintelocl.so")
    machine.patch.setenv("MANDELCL_CACHE", "off")

    def refuse(**_: str) -> str:
        raise FileNotFoundError("No usable temporary directory found")

    machine.patch.setattr("tempfile.mkdtemp", refuse)
    found = prepare()
    assert [v.library for v in found.vendors] == ["libpocl.so.2"]
    assert found.folder == ""
    assert any("No usable temporary directory" in note for note in found.notes)


def test_a_user_without_a_home_folder(machine: Machine) -> None:
    intel = machine.add("venv/lib/libintelocl.so")
    machine.patch.setenv("MANDELCL_CACHE", "~/cache")

    def refuse(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    machine.patch.setattr(Path, "expanduser", refuse)
    folder = Path(prepare().folder)
    assert named(str(folder)) == [str(intel)]
    shutil.rmtree(folder)


def test_a_relative_cache_survives_a_change_of_folder(machine: Machine) -> None:
    machine.add("venv/lib/libintelocl.so")
    machine.patch.chdir(machine.root)
    machine.patch.setenv("MANDELCL_CACHE", "cache")
    assert Path(prepare().folder).parent == machine.cache


def test_rusticl_is_enabled_unless_the_user_said_otherwise(machine: Machine) -> None:
    found = prepare()
    assert os.environ["RUSTICL_ENABLE"] == found.rusticl == runtimes.RUSTICL_DRIVERS
    assert not machine.again().rusticl_user_set  # as a child sees it
    for chosen in ("iris", ""):
        machine.patch.setenv("RUSTICL_ENABLE", chosen)
        found = machine.again()
        assert (found.rusticl, found.rusticl_user_set) == (chosen, True)
        assert os.environ["RUSTICL_ENABLE"] == chosen


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_systems_are_unchanged(machine: Machine, platform: str) -> None:
    machine.add("venv/lib/libintelocl.so")
    machine.patch.setattr(sys, "platform", platform)
    machine.patch.setattr(windows_vendors, "_registered", lambda: iter(()))
    found = prepare()
    assert found.loader
    assert (found.vendors, found.folder) == ((), "")
    assert not any(name in os.environ for name in VARIABLES)


def test_conda_on_macos_has_a_folder_of_runtimes(machine: Machine) -> None:
    machine.patch.setattr(sys, "platform", "darwin")
    pocl = machine.add("venv/lib/libpocl.2.dylib")
    machine.add("venv/etc/OpenCL/vendors/pocl.icd", "/opt/build/lib/libpocl.2.dylib\n")
    machine.add("etc/OpenCL/vendors/other.icd", "libother.dylib")  # which conda's loader does not read
    machine.add("venv/conda-meta/python-3.12.1.json")
    assert machine.again().vendors == ()  # pip's pyopencl asks the system
    machine.add("venv/conda-meta/pyopencl-2025.1-py312_0.json")
    found = machine.again()
    assert [(v.library, v.origin) for v in found.vendors] == [(str(pocl), "pip")]
    assert found.folder == ""
    assert found.searched == (machine.prefix / "etc/OpenCL/vendors",)
    assert "OCL_ICD_VENDORS" not in os.environ
    text = absence.explain_absence(found)
    assert f"{pocl}: " in text  # it was tried, and why it failed is said
    assert "conda install -c conda-forge ocl_icd_wrapper_apple" in text
    machine.patch.setenv("OCL_ICD_VENDORS", str(machine.add("elsewhere/mine.icd", "libmine.dylib")))
    found = machine.again()
    assert ([v.library for v in found.vendors], found.user_set) == (["libmine.dylib"], True)
    (machine.site / "pyopencl").mkdir()
    (machine.site / "pyopencl/__init__.py").touch()
    assert vendors.find_loader() == (f"the environment's {machine.prefix / 'lib/libOpenCL.1.dylib'}", None)


def run(code: str, **environment: str) -> "subprocess.Popen[str]":
    root = str(Path(runtimes.__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": root, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )


FILES = {f"{i:02}-x.icd": f"lib{i}.so\n".encode() for i in range(20)}


@reads_folders
def test_processes_sharing_an_empty_cache(tmp_path: Path) -> None:
    code = f"from mandelcl.opencl.runtimes import _merged_folder as m; print(m({FILES!r}))"
    children = [run(code, MANDELCL_CACHE=str(tmp_path / "cache")) for _ in range(4)]
    folders = {child.communicate(timeout=600)[0].strip() for child in children}
    assert [child.returncode for child in children] == [0] * 4
    (folder,) = map(Path, folders)
    assert folder.parent == tmp_path / "cache"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES


@pytest.mark.parametrize("end", ["pass", "from mandelcl.files.leftovers import end_process; end_process(0)"])
def test_temporary_folder_is_removed_by_its_process_not_by_a_fork(tmp_path: Path, end: str) -> None:
    code = f"""
import os, sys
from pathlib import Path
from mandelcl.opencl.runtimes import _merged_folder
folder = _merged_folder({FILES!r})
if hasattr(os, "fork"):
    child = os.fork()
    if not child:
        sys.exit()
    os.waitpid(child, 0)
print(folder, len(list(folder.iterdir())), flush=True)
{end}
"""
    child = run(code, MANDELCL_CACHE="off", TMPDIR=str(tmp_path))
    folder, count = child.communicate(timeout=600)[0].split()
    assert (child.returncode, count) == (0, "20")
    assert list(tmp_path.iterdir()) == []
    assert Path(folder).parent == tmp_path


def test_pocl_with_unusable_folder_gets_a_temporary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "temporary").mkdir()
    code = """
import os
from pathlib import Path
from mandelcl.opencl import caches
from mandelcl.opencl.vendors import Vendor
for library in ("libother.so", "libpocl.so.2"):
    caches.prepare_pocl([Vendor(Path("x.icd"), library, "system")])
    folder = os.environ.get("POCL_CACHE_DIR", "")
    print(folder, os.path.isdir(folder))
"""
    for caches, chosen in (
        (str(tmp_path / "usable"), ""),
        (str(tmp_path / "taken"), "temporary"),
        ("here", "temporary"),
    ):
        child = run(code, XDG_CACHE_HOME=caches, TMPDIR=str(tmp_path / "temporary"))
        other, pocl = child.communicate(timeout=600)[0].splitlines()
        assert other == " False"
        folder, exists = pocl.split(" ")
        assert (Path(folder).parent.name if folder else "", exists) == (chosen, str(bool(chosen)))
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not Path("here").exists()


def test_preparing_imports_no_opencl(tmp_path: Path) -> None:
    code = "import sys; from mandelcl.opencl.runtimes import prepare; prepare(); print('pyopencl' in sys.modules)"
    child = run(code, MANDELCL_CACHE=str(tmp_path))
    assert child.communicate(timeout=600)[0].strip() == "False"
