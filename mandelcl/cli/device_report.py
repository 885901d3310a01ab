"""`mandelcl devices --report`: everything needed to diagnose a device remotely, without names or paths."""

import os
import platform
import re
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mandelcl.base.errors import BuildError, FileError, MandelclError
from mandelcl.base.processes import ending
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import BurningShip, Julia, Multibrot3
from mandelcl.version import __version__
from mandelcl.workers.process import command_to_call

if TYPE_CHECKING:
    from mandelcl.core.job import Job
    from mandelcl.opencl.device import Device


_LIMIT_S = 900  # per device
_LOG_CHARACTERS = 4000
_VARIABLES = (
    *("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "RUSTICL_ENABLE", "RUSTICL_FEATURES"),
    *("OverrideDefaultFP64Settings", "IGC_EnableDPEmulation", "POCL_DEVICES", "CUDA_VISIBLE_DEVICES"),
)
_COMMON_NAMES = {"root", "user", "users", "home", "localhost", "localdomain", "admin"}
_FOLDERS = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:)?(?:[/\\][^\s/\\:;,'\"()<>|]+)*[/\\](?=[^\s/\\:;,'\"()<>|])")


def write(path: Path, specs: Sequence[str]) -> str:
    """Write the report on the devices that SPECs name, or on all if there are none. Return a one-line summary.

    Raises FileError if the file cannot be written, and NoDeviceError if a SPEC matches nothing.
    """
    from mandelcl.engine import choose
    from mandelcl.opencl.device import discover

    devices = choose.matching(specs) if specs else discover()
    try:
        with path.open("w", encoding="utf-8") as file:
            for part in (_machine(), *(_asked(device.spec) for device in devices)):
                file.write(scrubbed(part).rstrip() + "\n\n")
                file.flush()
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}", path) from error
    return f"{path}: report on {len(devices)} device{'s' if len(devices) != 1 else ''}; attach it unchanged"


def scrubbed(text: str) -> str:
    """Return a text without the folders in paths, the user's name and the machine's name."""
    text = _FOLDERS.sub("…/", text)
    for name, instead in _names().items():
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", instead, text, flags=re.IGNORECASE)
    return text


def _names() -> dict[str, str]:
    """Return the names to hide, longest first, each with its replacement."""
    users = [os.environ.get(variable, "") for variable in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")]
    with suppress(RuntimeError):
        users.append(Path.home().name)
    hosts = [platform.node(), os.environ.get("HOSTNAME", ""), os.environ.get("COMPUTERNAME", "")]
    hosts += [host.partition(".")[0] for host in hosts]
    names = {**dict.fromkeys(hosts, "<host>"), **dict.fromkeys(users, "<user>")}
    shown = {name: instead for name, instead in names.items() if len(name) > 1 and name.lower() not in _COMMON_NAMES}
    return dict(sorted(shown.items(), key=lambda item: -len(item[0])))


def _machine() -> str:
    """Return the facts that need no device: versions, settings, and runtimes with whether each can be loaded."""
    from mandelcl.opencl import absence
    from mandelcl.opencl.api import RUNTIMES

    lines = [f"mandelcl {__version__}, Python {platform.python_version()}"]
    lines += [f"pyopencl {version('pyopencl')}, numpy {version('numpy')}"]
    lines += [f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} processors"]
    lines += [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    lines += [f"loader: {RUNTIMES.loader}", "", "Runtimes"]
    for vendor in absence.diagnose(RUNTIMES):
        state = {True: "loads", False: "cannot be loaded", None: "not tried"}[vendor.loads]
        devices = "" if vendor.devices is None else f", {vendor.devices} devices"
        reason = f": {vendor.reason}" if vendor.reason else ""
        lines.append(f"  {Path(vendor.library).name or vendor.icd.name} ({vendor.origin}): {state}{devices}{reason}")
    lines += ["  none"] if not RUNTIMES.vendors else []
    return "\n".join([*lines, *(f"  note: {note}" for note in RUNTIMES.notes)])


def _asked(spec: str) -> str:
    """Describe a device in a separate process and return its output, complete or not."""
    command = command_to_call(f"{__name__}:describe", spec)
    # Cached results would hide what the driver does now.
    settings = os.environ | {"MANDELCL_CACHE": "off", "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_LIMIT_S,
            env=settings,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        output: Any = late.stdout or ""
        text = output if isinstance(output, str) else output.decode(errors="replace")
        return f"{text}\n  no answer in {_LIMIT_S} s"
    if not done.returncode:
        return done.stdout
    return f"{done.stdout}\n  the process died here ({ending(done.returncode)}): {done.stderr[-_LOG_CHARACTERS:]}"


def describe(spec: str) -> None:
    """Print all about a device line by line, so that a driver's crash keeps the lines before it."""
    from mandelcl.opencl.device import discover

    device = next(found for found in discover() if found.spec == spec)
    for part in (_properties, _self_tests, _builds, _digests):
        for line in part(device):
            print(line, flush=True)


def _properties(device: "Device") -> Iterator[str]:
    yield f"Device {device.spec}: {device.name}"
    yield f"  platform: {device.platform}, {device.handle.platform.version}"
    yield f"  driver: {device.driver}; {device.version}"
    yield f"  {device.type}, {device.compute_units} units, {device.clock_mhz} MHz, groups of {device.max_group_size}"
    yield f"  memory: {device.memory_bytes >> 20} MiB, at most {device.max_alloc_bytes >> 20} MiB at once"
    yield f"  double: {device.fp64}, slow: {device.slow_double}, family: {device.family.name}"
    widths = device.vector_width(double=False), device.vector_width(double=True)
    yield f"  vectors: {widths[0]} float, {widths[1]} double; timer: {device.timer_resolution_ns} ns"
    yield f"  watchdog: {device.watchdog}; binaries are kept: {device.keeps_binaries}; may abort: {device.may_abort}"
    yield f"  extensions: {' '.join(sorted(device.extensions))}"


def _self_tests(device: "Device") -> Iterator[str]:
    from mandelcl.core.numbers import NUMBERS, fixed
    from mandelcl.engine import selftest

    yield "  Self-tests"
    for number in (*NUMBERS.values(), fixed(8)):
        for rounding in number.roundings:
            found = selftest.result(device, number, rounding)
            verdict = "PASS" if found.passed else f"FAIL: {found.reason}"
            slow = rounding == "fused" and selftest.slow_fma(device, number)
            facts = f"denormals {'kept' if found.denormals else 'flushed'}, slow fma {slow}"
            speed = f"{found.speed / 1e9:.3g} Gstep/s, loop limit {found.loop_limit}"
            yield f"    {number.name}, {rounding}: {verdict}; {facts}, {speed}"


def _builds(device: "Device") -> Iterator[str]:
    from mandelcl.engine.program import Program
    from mandelcl.opencl.programs import build_log

    yield "  Builds"
    for name, job in _possible(device):
        started = time.perf_counter()
        try:
            log = build_log(device.build(Program(device, job).kernels.text("block")), device.handle)
            verdict = "built"
        except BuildError as error:
            log, verdict = error.log, "REFUSED"
        except MandelclError as error:
            log, verdict = "", f"FAILED: {error}"
        yield f"    {name}: {verdict} in {time.perf_counter() - started:.2f} s"
        yield from (f"      {line}" for line in log.strip()[:_LOG_CHARACTERS].splitlines())


def _digests(device: "Device") -> Iterator[str]:
    from mandelcl.cli.device_report import DIGESTS
    from mandelcl.rendering.render import render

    yield "  Counts"
    for name, job in _possible(device):
        try:
            report = render(job, device)[1]
        except MandelclError as error:
            yield f"    {name}: not done: {error}"
            continue
        same = "as it should be" if report.counts_sha256 == DIGESTS[name] else f"WRONG, not {DIGESTS[name]}"
        took = f"{report.kernel_s * 1e3:.3g} ms in {report.launches} launches"
        yield f"    {name}: {report.counts_sha256}, {same}; {took}"


def _possible(device: "Device") -> Iterable[tuple[str, "Job"]]:
    from mandelcl.cli.device_report import REFERENCE_JOBS
    from mandelcl.core.numbers import by_name
    from mandelcl.engine.choose import class_of
    from mandelcl.engine.resolve import resolve

    for name, job in REFERENCE_JOBS.items():
        if device.fp64 or not by_name(job.number).needs_fp64:
            yield name, resolve(job, [class_of(device, job.formula)]).job


_WHOLE = View.centred("-0.5", 0, "1.1", 96, 64)
_SEAHORSE = View.centred("-0.743643887037151", "0.131825904205330", "1e5", 96, 64)
_TURNED = View.centred("-0.743643887037151", "0.131825904205330", "500", 96, 64, rotation=30)
_DEEP = View.centred(0, 1, "1e18", 48, 32)
_DEEPER = View.centred(0, 1, "1e40", 24, 16)
_DEEPEST = View.centred(0, 1, "1e60", 48, 32)

REFERENCE_JOBS: Mapping[str, Job] = MappingProxyType(
    {
        "float, fused": Job(_WHOLE, 500, number="float", rounding="fused"),
        "float, separate": Job(_WHOLE, 500, number="float", rounding="separate"),
        "double, fused": Job(_SEAHORSE, 2000, number="double", rounding="fused"),
        "double, separate, turned": Job(_TURNED, 2000, number="double", rounding="separate"),
        "fp128": Job(_DEEP, 900, number="fp128", rounding="fixed", method="direct"),
        "fixed:8": Job(_DEEPER, 900, number="fixed:8", rounding="fixed", method="direct"),
        "burning ship": Job(_WHOLE, 300, number="float", rounding="separate", formula=BurningShip()),
        "Julia set": Job(_WHOLE, 300, number="float", rounding="separate", formula=Julia("-0.4", "0.6")),
        "z³ + c": Job(_WHOLE, 300, number="float", rounding="separate", formula=Multibrot3()),
        "perturbation": Job(_DEEPEST, 900, number="float", rounding="fused", method="perturbation"),
    }
)
# SHA-256 of the counts, computed by Intel's runtime, PoCL and rusticl.
DIGESTS: Mapping[str, str] = MappingProxyType(
    {
        "float, fused": "37c60eadb983f10ea3b0af688d18faf932aee7d71be97071e8818015a68a2383",
        "float, separate": "4fa775a83930a64fbe40461e48c3651bd0031425e45d56d6697b12f336a1eb88",
        "double, fused": "8cb0a55cfc89a28730d28b3b5a2f31b2f1cb8d028313f55314950b751543ca61",
        "double, separate, turned": "e8ccf6b8ec3f2dda34366415e81f1a592f11f57af1c73515632ee850d79003ef",
        "fp128": "be2f598d19e62cba8dff5199273ff33872c3fb2474146e791bf7ad240a93e8a8",
        "fixed:8": "7c6e709658eee3ba55f1e5d31dc4bb4313789ac73bcb873aef88077cce4cae3c",
        "burning ship": "6b92c4db36ed783a79985185628597249c2d2fd68c637a350e36f83cf242e974",
        "Julia set": "429fcbc975450e414a79df7b171f46e07dae122f0868ba9c854104a3b945b5a7",
        "z³ + c": "d91ccb78470b65df00f363fbd4b9123b682c205ea69b7733bcfba7d9cbdd75aa",
        "perturbation": "ad8bdd9be4f12e06dc84da834fc5b21f8760c035b447cf500e3d95e540b9030a",
    }
)
