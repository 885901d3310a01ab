"""`mandelcl devices`."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.errors import InvalidInputError
from mandelcl.cli.options import device_option, self_test_option
from mandelcl.cli.progress import print_line

if TYPE_CHECKING:
    from mandelcl.opencl.device import Device

# The columns that a narrow terminal leaves out, the first one first.
_LEFT_OUT = ("Timer", "Largest", "Watchdog", "MHz", "Memory", "Denormals", "Driver", "Type", "Units", "Platform")
_FOLDED = {"Device": 20, "Platform": 16, "Self-test": 14}


@click.command(
    "devices",
    epilog="""\b
Examples:
  mandelcl devices
  mandelcl devices --json | python -m json.tool
  mandelcl devices --soak 10
  mandelcl devices --soak 0.5 --device gpu
  mandelcl devices --report devices.txt
""",
)
@device_option
@click.option(
    "--soak",
    type=click.FloatRange(min=0, min_open=True),
    metavar="MINUTES",
    help="Put load on them for this time, and judge.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--wide", is_flag=True, help="Show all columns, even if they do not fit the terminal.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all details to a text file, for a bug report.",
)
@self_test_option
def command(
    devices: tuple[str, ...], soak: float | None, as_json: bool, wide: bool, report: Path | None, no_self_test: bool
) -> None:
    """List the OpenCL devices and test each.

    The self-test shows whether a device computes correctly. SPEC is the value for --device. FMA is measured: "slow"
    means that it is emulated in software. The self-test takes a fraction of a second per device. Its result is cached
    until the driver or the kernels change.

    --soak runs known jobs repeatedly on all devices, or on those that you name with --device, each in its own process.
    The jobs use float, double and fp128, large results, and copies to the device's memory and back. Every word is
    compared, and the speed is monitored. At the end each device gets a verdict: PASS, WRONG, SLOWED, UNSTABLE or
    FAILED. The exit code is 0 if all pass. Ctrl-C ends the test early, with verdicts on the work done so far.

    --report queries each device in its own process and ignores the cache. The report has the device's properties, all
    self-tests, the compiler's messages, and the digests of ten small jobs with their expected values. It contains no
    folders and no names of the user or the machine.
    """
    if report is not None:
        if soak is not None or as_json or no_self_test:
            raise click.UsageError("--report has its own format and tests; leave out --soak, --json and --no-self-test")
        from mandelcl.cli import device_report

        print_line(f"mandelcl: {device_report.write(report, devices)}")
        return
    from mandelcl.engine import choose
    from mandelcl.files import cache
    from mandelcl.opencl import absence
    from mandelcl.opencl.api import RUNTIMES
    from mandelcl.opencl.device import discover

    if soak is not None:
        if not math.isfinite(soak):
            raise InvalidInputError(f"--soak must be a number of minutes, not {soak}")
        sys.exit(_soak(choose.matching(devices), soak, as_json, wide, not no_self_test))
    rows = [_row(device, no_self_test) for device in (choose.matching(devices) if devices else discover())]
    if as_json:
        click.echo(json.dumps({"devices": rows}))
    for note in (*RUNTIMES.notes, *absence.problems(RUNTIMES), *cache.complaints()):
        print_line(f"mandelcl: {note}")
    if not rows:
        for line in f"mandelcl: {absence.explain_absence(RUNTIMES)}".splitlines():
            print_line(line)
        sys.exit(1)
    if not as_json:
        _print(rows, wide)


def _soak(devices: Sequence["Device"], minutes: float, as_json: bool, wide: bool, self_test: bool) -> int:
    """Soak the devices, print the verdicts, and return the exit code."""
    from mandelcl.cli import soak

    records, stopped = soak.soaked(devices, minutes, self_test=self_test)
    return soak.report(records, devices, minutes, stopped, as_json, wide)


def _row(device: "Device", no_self_test: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "spec": device.spec,
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "type": device.type,
        "compute_units": device.compute_units,
        "clock_mhz": device.clock_mhz,
        "memory_bytes": device.memory_bytes,
        "max_alloc_bytes": device.max_alloc_bytes,
        "fp64": device.fp64,
        "watchdog": device.watchdog,
        "timer_resolution_ns": device.timer_resolution_ns,
    }
    if no_self_test:
        return row | {"fma": "unknown", "denormals": "unknown", "selftest": "SKIPPED", "reason": "--no-self-test"}
    from mandelcl.engine import selftest

    summary = selftest.summary(device)
    status = "PASS" if summary.passed else "FAIL"
    return row | {"fma": summary.fma, "denormals": summary.denormals, "selftest": status, "reason": summary.reason}


def _print(rows: Sequence[dict[str, Any]], wide: bool) -> None:
    from mandelcl.cli.terminal_table import Layout, show

    lines = [_cells(row) for row in rows]
    show(list(lines[0]), [list(cells.values()) for cells in lines], wide, Layout(_LEFT_OUT, _FOLDED))


def _cells(row: dict[str, Any]) -> dict[str, str]:
    """Return the cells of a device's row, by heading."""
    tested = row["selftest"] == "PASS"
    return {
        "SPEC": row["spec"],
        "Device": row["name"],
        "Platform": row["platform"],
        "Driver": row["driver"],
        "Type": row["type"],
        "Units": str(row["compute_units"]),
        "MHz": str(row["clock_mhz"]),
        "Memory": _size(row["memory_bytes"]),
        "Largest": _size(row["max_alloc_bytes"]),
        "Double": "yes" if row["fp64"] else "no",
        "FMA": row["fma"],
        "Denormals": row["denormals"],
        "Watchdog": {True: "yes", False: "no", None: "?"}[row["watchdog"]],
        "Timer": f"{row['timer_resolution_ns']} ns",
        "Self-test": "PASS" if tested else f"{row['selftest']}: {row['reason']}",
    }


def _size(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
