"""Why a runtime cannot be used, and what to install: on libraries that are none, and on machines made of files."""

import os
import platform
import shutil
import sys
from pathlib import Path

import pytest

from mandelcl.base.extras import how_to_install
from mandelcl.opencl import absence, vendors
from mandelcl.opencl.absence import diagnose, explain_absence, problems
from mandelcl.opencl.runtimes import Runtimes
from mandelcl.opencl.vendors import Vendor

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="loads libraries as Linux does")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian machine of 64 bits without a GPU."""
    monkeypatch.setattr(absence, "ROOT", tmp_path)
    monkeypatch.setattr(absence, "_loader_in_use", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(vendors, "DRIVER_LIBRARIES", ("libdriver-for-tests.so.1",))
    monkeypatch.setattr(vendors, "DRIVER_FOLDERS", (str(tmp_path / "drivers"),))
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "debian", "VERSION_ID": "12"})
    return tmp_path


SYSTEM = Path("/etc/OpenCL/vendors/x.icd")


def reported(*found: Vendor, folder: str = "", user_set: bool = False, notes: tuple[str, ...] = ()) -> Runtimes:
    return Runtimes("a loader", folder, user_set, found, (Path("/etc/nowhere/vendors"),), notes=notes)


def hints(runtimes: Runtimes | None = None) -> list[str]:
    return explain_absence(runtimes or reported()).partition("What helps here:\n")[2].splitlines()


def failed(library: str, reason: str, origin: str = "system") -> Vendor:
    return Vendor(SYSTEM, library, origin, loads=False, reason=reason)


@linux
def test_unloadable_library_is_reported_with_loader_message(machine: Path) -> None:
    text = machine / "libtext.so"
    text.write_text("this is no library, but is as long as the header of one would be, and then some more of it")
    names = ["/nowhere/libgone.so", "libgone-too.so.7", str(text), str(machine)]
    found = diagnose(reported(*(Vendor(Path("x.icd"), name, "system") for name in names)))
    assert [vendor.loads for vendor in found] == [False] * 4
    assert "/nowhere/libgone.so" in found[0].reason  # glibc and musl word it differently
    assert "libgone-too.so.7" in found[1].reason
    assert all(vendor.reason for vendor in found)


@linux
def test_library_without_opencl() -> None:
    (found,) = diagnose(reported(Vendor(Path("x.icd"), "libc.so.6", "system")))
    assert found.loads is False
    assert "clIcdGetPlatformIDsKHR" in found.reason or "libc.so.6" in found.reason


def test_known_causes_are_not_probed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absence, "_TRY", "import nonsense")
    known = failed("", "names no library")
    assert diagnose(reported(known)) == (known,)


@linux
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crashes when it is loaded (killed by SIGSEGV)"),
        ("raise SystemExit(3)", "crashes when it is loaded (exit code 3)"),
        ("import time; time.sleep(3600)", "hangs: no answer in 0.5 s"),
    ],
)
def test_a_library_that_crashes_or_hangs(monkeypatch: pytest.MonkeyPatch, code: str, reason: str) -> None:
    monkeypatch.setattr(absence, "_TRY", "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n" + code)
    (found,) = diagnose(reported(Vendor(Path("x.icd"), "libbad.so", "system")), timeout=0.5 if "sleep" in code else 20)
    assert (found.loads, found.reason) == (False, reason)


def test_library_that_prints_to_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = r"print('hello'); print('\x1e{\"loads\": true, \"devices\": 2, \"reason\": \"\"}'); print('bye')"
    monkeypatch.setattr(absence, "_TRY", answer)
    runtimes = reported(Vendor(Path("x.icd"), "libgood.so", "system"))
    assert [(v.loads, v.devices) for v in diagnose(runtimes)] == [(True, 2)]
    assert problems(runtimes) == []
    assert "x.icd: libgood.so loads and has 2 devices when alone" in explain_absence(runtimes)


def test_missing_interpreter_skips_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    runtimes = reported(Vendor(Path("x.icd"), "libgood.so", "system"))
    assert diagnose(runtimes) == runtimes.vendors
    assert "x.icd: libgood.so: not tried" in explain_absence(runtimes)


def test_problems_are_one_line_each_with_the_remedy() -> None:
    missing = "libimf.so: cannot open shared object file: No such file or directory"
    lines = problems(
        reported(
            failed("/venv/lib/libintelocl.so", missing, "pip"),
            failed("libpocl.so.2", "libpocl.so.2: cannot open shared object file: No such file or directory"),
            failed("", "names no library"),
            Vendor(Path("y.icd"), "libMesaOpenCL.so.1", "system", loads=True, devices=0, reason="loads, but"),
        )
    )
    assert lines == [
        f"libintelocl.so (installed with pip) cannot be used: {missing}; cure: pip install intel-cmplr-lib-rt",
        f"libpocl.so.2 ({SYSTEM}) cannot be used: "
        "libpocl.so.2: cannot open shared object file: No such file or directory",
        f"{SYSTEM} cannot be used: names no library",
    ]


def test_explanation_lists_what_was_tried() -> None:
    text = explain_absence(
        reported(failed("libpocl.so.2", "libpocl.so.2: no such file"), folder="/cache/vendors-1", notes=("look here",))
    )
    assert text.splitlines()[:6] == [
        "No OpenCL device was found.",
        "Loader: a loader",
        "OCL_ICD_VENDORS: /cache/vendors-1 (made by mandelcl from what it found)",
        f"Looked for runtimes in: {Path('/etc/nowhere/vendors')} (not there)",
        "Tried:",
        f"  {SYSTEM}: libpocl.so.2: no such file",
    ]
    assert "Note: look here" in text


def test_explanation_if_nothing_was_found() -> None:
    assert "No OpenCL runtime is installed." in explain_absence(reported())


def test_the_users_own_setting_is_named() -> None:
    text = explain_absence(reported(folder="/mine", user_set=True))
    assert "OCL_ICD_VENDORS: /mine (set outside mandelcl)" in text
    assert "OCL_ICD_VENDORS names no runtime." in text
    assert "unset OCL_ICD_VENDORS" in text
    assert "RUSTICL_ENABLE=''" in explain_absence(Runtimes("a loader", rusticl="", rusticl_user_set=True))


@pytest.mark.parametrize(
    ("release", "cpu", "gpu"),
    [
        ({"ID": "debian"}, "sudo apt install pocl-opencl-icd", "mesa-opencl-icd"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "sudo apt install pocl-opencl-icd", "intel-"),
        ({"ID": "fedora"}, "sudo dnf install pocl", "rocm-opencl"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "sudo dnf install pocl", "EPEL"),
        ({"ID": "manjaro", "ID_LIKE": "arch"}, "sudo pacman -S pocl", "opencl-mesa"),
        (
            {"ID": "opensuse-tumbleweed", "ID_LIKE": "opensuse suse"},
            "sudo zypper install pocl",
            "Mesa-libRusticlOpenCL",
        ),
        ({"ID": "opensuse-leap"}, "sudo zypper install pocl", "intel-opencl"),
        ({"ID": "alpine"}, "sudo apk add mesa-rusticl", "mesa-rusticl"),
        ({"ID": "unheard-of"}, "your distribution's PoCL package", "your distribution's OpenCL package"),
        ({}, "your distribution's PoCL package", "your distribution's OpenCL package"),
    ],
)
def test_install_hints(monkeypatch: pytest.MonkeyPatch, release: dict[str, str], cpu: str, gpu: str) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release)
    lines = hints()
    assert any(line.startswith("  any CPU: ") and cpu in line for line in lines)
    assert any(line.startswith("  a GPU: ") and gpu in line for line in lines)


@pytest.mark.parametrize("error", [OSError(2, "Unable to read files"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "")])
def test_system_without_os_release(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> dict[str, str]:
        raise error

    monkeypatch.setattr(platform, "freedesktop_os_release", fail)
    assert any("your distribution's PoCL package" in line for line in hints())


def test_pip_hint_is_shown_on_supported_platforms(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(how_to_install("cpu") in line for line in hints())
    (machine / "lib").mkdir()
    (machine / "lib/ld-musl-x86_64.so.1").touch()
    assert not any(how_to_install("cpu") in line for line in hints())
    (machine / "lib/ld-musl-x86_64.so.1").unlink()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert not any(how_to_install("cpu") in line for line in hints())


def test_install_hints_on_windows_and_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(platform, "machine", lambda: "AMD64")
    monkeypatch.setattr(shutil, "which", lambda _name: None)  # it would ask Windows
    assert any(how_to_install("cpu") in line for line in hints(Runtimes("OpenCL.dll")))
    monkeypatch.setattr(sys, "platform", "darwin")
    text = explain_absence(Runtimes("the framework"))
    assert "conda install -c conda-forge pyopencl pocl" in text
    assert "apt" not in text
    assert "No OpenCL runtime is installed" not in text  # nothing was searched


def test_driver_without_icd_file_is_reported(machine: Path) -> None:
    assert not any("NVIDIA's" in line for line in hints())
    (machine / "dev").mkdir()
    (machine / "dev/nvidiactl").touch()
    assert any("libnvidia-opencl.so.1 is missing" in line for line in hints())
    driver = machine / "drivers/libdriver-for-tests.so.1"
    driver.parent.mkdir()
    driver.touch()
    assert any(f"echo {driver} | sudo tee {SYSTEM.with_name('nvidia.icd')}" in line for line in hints())
    named = failed("libnvidia-opencl.so.1", "is broken")
    assert not any("NVIDIA's" in line for line in hints(reported(named)))


def test_containers_and_permissions(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / ".dockerenv").touch()
    assert any("this is a container without a GPU" in line for line in hints())
    node = machine / "dev/dri/renderD128"
    node.parent.mkdir(parents=True)
    node.touch()
    lines = hints()
    assert not any("container" in line or "usermod" in line for line in lines)
    monkeypatch.setattr(os, "access", lambda path, _: path != node)
    assert any(f"you may not use {node}: sudo usermod -aG render,video" in line for line in hints())


def test_loaded_loader_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absence, "_loader_in_use", lambda: "/usr/lib/libOpenCL.so.1")
    assert "Loader: /usr/lib/libOpenCL.so.1" in explain_absence(reported())
