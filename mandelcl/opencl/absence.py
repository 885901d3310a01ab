"""Explain why an OpenCL runtime is missing: try each library in its own process, and name the remedy."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mandelcl.base.extras import how_to_install
from mandelcl.base.process_limits import scarce_files
from mandelcl.base.processes import ending
from mandelcl.base.system import system
from mandelcl.opencl.runtimes import Runtimes
from mandelcl.opencl.vendors import Vendor, driver_vendors, is_folder, loader_is_condas
from mandelcl.workers.run_delay import run_bounded

ROOT = Path("/")  # tests look at a machine of their own

# Does the same as the loader, and asks each platform for its devices through the dispatch table that the ICD
# specification puts at the start of every platform: entry 2 is clGetDeviceIDs. ctypes.CDLL would not do: it forces
# RTLD_NOW, while the loader opens lazily.
_TRY = r"""
import ctypes, json, os, sys
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_uint, c_uint64, c_void_p
def answer(**found):
    sys.stdout.write("\n\x1e" + json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)
if os.name == "nt":
    ctypes.WinDLL("kernel32").SetErrorMode(3)  # no windows with messages
    try:
        library = ctypes.WinDLL(sys.argv[1], winmode=0x900)  # with libraries beside it and the system's
    except OSError as error:
        answer(loads=False, reason=str(error))
    find = ctypes.cast(getattr(library, "clGetExtensionFunctionAddress", None), c_void_p).value
else:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None)
    libc.dlopen.restype, libc.dlopen.argtypes = c_void_p, [c_char_p, c_int]
    libc.dlsym.restype, libc.dlsym.argtypes = c_void_p, [c_void_p, c_char_p]
    libc.dlerror.restype = c_char_p
    library = libc.dlopen(os.fsencode(sys.argv[1]), os.RTLD_LAZY)
    if not library:
        answer(loads=False, reason=os.fsdecode(libc.dlerror() or b"no reason given"))
    find = libc.dlsym(library, b"clGetExtensionFunctionAddress")
ids = CFUNCTYPE(c_void_p, c_char_p)(find)(b"clIcdGetPlatformIDsKHR") if find else None
if not ids:
    answer(loads=False, reason="is not an OpenCL runtime: it does not offer clIcdGetPlatformIDsKHR")
ids = CFUNCTYPE(c_int, c_uint, c_void_p, c_void_p)(ids)
count, devices = c_uint(0), 0
error = ids(0, None, byref(count))
if error or not count.value:
    answer(loads=True, devices=0, reason="loads, but offers no platform (OpenCL error %d)" % error)
platforms = (c_void_p * count.value)()
ids(count.value, platforms, None)
for platform in platforms:
    table = ctypes.cast(platform, POINTER(POINTER(c_void_p)))[0]
    some = c_uint(0)
    ask = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint, c_void_p, c_void_p)(table[2])
    if ask(platform, 0xFFFFFFFF, 0, None, byref(some)) == 0:
        devices += some.value
answer(loads=True, devices=devices, reason="" if devices else "loads, but finds no device that it can drive")
"""

# What to install if a runtime's library is found, but a library that it needs is not.
_CURES = {
    "libimf.so": "pip install intel-cmplr-lib-rt",
    "libintlc.so": "pip install intel-cmplr-lib-rt",
    "libirng.so": "pip install intel-cmplr-lib-rt",
    "libsvml.so": "pip install intel-cmplr-lib-rt",
    "libtbb.so": "pip install tbb",
}

# By ID or ID_LIKE of os-release: install command, package for any CPU, packages for GPUs, and NVIDIA's OpenCL.
_PACKAGES = {
    "ubuntu": ("sudo apt install", "pocl-opencl-icd", "intel-opencl-icd (Intel), mesa-opencl-icd (AMD, others)", ""),
    "debian": (
        "sudo apt install",
        "pocl-opencl-icd",
        "intel-opencl-icd (Intel), mesa-opencl-icd (AMD, others)",
        "nvidia-opencl-icd",
    ),
    "fedora": (
        "sudo dnf install",
        "pocl",
        "intel-compute-runtime (Intel), rocm-opencl (AMD), mesa-libOpenCL (others)",
        "",
    ),
    "rhel": ("sudo dnf install", "pocl", "intel-compute-runtime (Intel), rocm-opencl (AMD); all from EPEL", ""),
    "arch": (
        "sudo pacman -S",
        "pocl",
        "intel-compute-runtime (Intel), rocm-opencl-runtime (AMD), opencl-mesa (others)",
        "opencl-nvidia",
    ),
    "suse": ("sudo zypper install", "pocl", "intel-opencl (Intel), Mesa-libRusticlOpenCL (AMD, others)", ""),
    "alpine": ("sudo apk add", "mesa-rusticl", "mesa-rusticl (AMD, Intel, others)", ""),
}


def diagnose(runtimes: Runtimes, timeout: float = 20.0) -> tuple[Vendor, ...]:
    """Return the vendors with `loads`, `devices` and `reason` filled in.

    Each library is loaded in a process of its own, so one that crashes, or hangs for `timeout` seconds, is
    reported and hurts nothing.
    """
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return tuple(pool.map(lambda vendor: _try(vendor, timeout), runtimes.vendors))


def problems(runtimes: Runtimes) -> list[str]:
    """Return one line for each runtime that is installed but cannot be loaded, with the loader's own reason."""
    return [_problem(vendor) for vendor in diagnose(runtimes) if vendor.loads is False]


def explain_absence(runtimes: Runtimes) -> str:
    """Return the lines to show when no device is found: what was tried, why each failed, what to install."""
    lines = ["No OpenCL device was found.", f"Loader: {_loader_in_use() or runtimes.loader}"]
    if runtimes.folder:
        origin = "set outside mandelcl" if runtimes.user_set else "made by mandelcl from what it found"
        lines.append(f"OCL_ICD_VENDORS: {runtimes.folder} ({origin})")
    vendors = diagnose(runtimes)
    if runtimes.searched and not runtimes.user_set:
        lines.append("Looked for runtimes in: " + ", ".join(_state(folder) for folder in runtimes.searched))
    if vendors:
        lines.append("Tried:")
        lines += [f"  {vendor.icd}: {_outcome(vendor)}" for vendor in vendors]
    elif runtimes.searched:
        lines.append("OCL_ICD_VENDORS names no runtime." if runtimes.user_set else "No OpenCL runtime is installed.")
    lines += [f"Note: {note}" for note in (*runtimes.notes, scarce_files()) if note]
    if runtimes.rusticl_user_set:
        lines.append(f"Note: RUSTICL_ENABLE={runtimes.rusticl!r} was set outside mandelcl; rusticl shows no others")
    lines.append("What helps here:")
    lines += ["  unset OCL_ICD_VENDORS, so that mandelcl looks for runtimes itself"] if runtimes.user_set else []
    return "\n".join([*lines, *(f"  {hint}" for hint in _hints(vendors))])


def _try(vendor: Vendor, timeout: float) -> Vendor:
    if vendor.loads is not None or not sys.executable:
        return vendor
    command = [sys.executable, "-I", "-S", "-c", _TRY, vendor.library]
    try:
        nowhere = subprocess.DEVNULL
        done = run_bounded(command, timeout, stdin=nowhere, stdout=subprocess.PIPE, stderr=nowhere)
    except subprocess.TimeoutExpired:
        return replace(vendor, loads=False, reason=f"hangs: no answer in {timeout:g} s")
    except (OSError, ValueError) as error:
        return replace(vendor, reason=f"could not be tried: {error}")
    answers = [line[1:] for line in done.stdout.splitlines() if line.startswith(b"\x1e")]
    if answers:
        return replace(vendor, **json.loads(answers[-1]))
    return replace(vendor, loads=False, reason=f"crashes when it is loaded ({ending(done.returncode)})")


def _problem(vendor: Vendor) -> str:
    origins = {"pip": "installed with pip", "user": "named by OCL_ICD_VENDORS", "driver": "found without an .icd file"}
    origin = origins.get(vendor.origin, str(vendor.icd))
    name = f"{Path(vendor.library).name} ({origin})" if vendor.library else str(vendor.icd)
    return f"{name} cannot be used: {_reason(vendor)}"


def _outcome(vendor: Vendor) -> str:
    """Say how loading went. The dynamic loader's reason often names the library itself."""
    if vendor.loads and vendor.devices:
        return f"{vendor.library} loads and has {vendor.devices} device{'s' if vendor.devices > 1 else ''} when alone"
    reason = _reason(vendor)
    return reason if reason.startswith(vendor.library) else f"{vendor.library}: {reason}"


def _reason(vendor: Vendor) -> str:
    missing = vendor.reason.partition(".so")[0] + ".so"
    cure = f"; cure: {_CURES[missing]}" if missing in _CURES else ""
    return (vendor.reason or "not tried") + cure


def _state(folder: Path) -> str:
    return str(folder) if is_folder(folder) else f"{folder} (not there)"


def _loader_in_use() -> str:
    """Return the loader's path once it is in memory, which is surer than where it was expected."""
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
            name = line.rpartition("/")[2]
            if name.startswith("libOpenCL"):
                return "/" + line.partition("/")[2]
    return ""


def _hints(vendors: tuple[Vendor, ...]) -> Iterator[str]:
    musl = any(ROOT.glob("lib/ld-musl-*"))
    if platform.machine() in ("x86_64", "AMD64") and system() in ("linux", "win32") and not musl:
        yield f"any CPU, without administrator rights: {how_to_install('cpu')}"
    if system() == "win32":
        yield "a GPU: install its maker's graphics driver, which brings OpenCL"
    elif system() == "darwin":
        yield "macOS brings OpenCL with its graphics driver; a virtual machine without a GPU may have none"
        if loader_is_condas():
            yield "that driver's devices in this environment: conda install -c conda-forge ocl_icd_wrapper_apple"
        yield "any CPU: conda install -c conda-forge pyopencl pocl"
    else:
        yield from _linux_packages()
        yield from _nvidia(vendors)
        yield from _access()


def _linux_packages() -> Iterator[str]:
    system = _os_release()
    for name in [system.get("ID", ""), *system.get("ID_LIKE", "").split()]:
        # openSUSE calls itself opensuse-leap, opensuse-tumbleweed, ...
        key = "suse" if "suse" in name else name
        if key in _PACKAGES:
            install, cpu, gpu, nvidia = _PACKAGES[key]
            yield f"any CPU: {install} {cpu}"
            yield f"a GPU: {install} one of {gpu}"
            yield f"an NVIDIA GPU: {install} {nvidia}" if nvidia else "an NVIDIA GPU: its driver brings OpenCL"
            return
    yield "any CPU: your distribution's PoCL package (usually pocl or pocl-opencl-icd)"
    yield "a GPU: your distribution's OpenCL package for it (Intel, ROCm, Mesa rusticl or NVIDIA's driver)"


def _os_release() -> dict[str, str]:
    with suppress(OSError, ValueError):  # ValueError: not UTF-8
        return platform.freedesktop_os_release()
    return {}


def _nvidia(vendors: tuple[Vendor, ...]) -> Iterator[str]:
    if any("libnvidia-opencl" in vendor.library for vendor in vendors):
        return
    for driver in driver_vendors(vendors):
        icd = Path("/etc/OpenCL/vendors/nvidia.icd")
        yield f"NVIDIA's driver is here, but no .icd file names it: echo {driver.library} | sudo tee {icd}"
        return
    if (ROOT / "proc/driver/nvidia").exists() or (ROOT / "dev/nvidiactl").exists():
        yield "NVIDIA's kernel driver runs, but libnvidia-opencl.so.1 is missing: install the driver's OpenCL part"
        yield "in a container: start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility"


def _access() -> Iterator[str]:
    nodes = [*sorted(ROOT.glob("dev/dri/renderD*")), *ROOT.glob("dev/kfd")]
    closed = [str(node) for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        yield f"you may not use {', '.join(closed)}: sudo usermod -aG render,video $USER, then log in again"
    inside = any((ROOT / name).exists() for name in (".dockerenv", "run/.containerenv"))
    if inside and not nodes and not (ROOT / "dev/nvidiactl").exists():
        yield (
            "this is a container without a GPU; to lend it one, start it with --gpus all (NVIDIA), "
            "--device /dev/dri (Intel, AMD) or --device /dev/dri --device /dev/kfd (ROCm)"
        )
