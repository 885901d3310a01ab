"""`mandelcl devices`."""

import json
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from mandelcl.cli.options import self_test_option
from mandelcl.engine import selftest
from mandelcl.errors import NoDeviceError
from mandelcl.opencl import absence
from mandelcl.opencl.device import RUNTIMES, Device, discover


@click.command(
    "devices",
    epilog="""\b
Examples:
  mandelcl devices
  mandelcl devices --json | python -m json.tool
""",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@self_test_option
def command(as_json: bool, no_self_test: bool) -> None:
    """List the OpenCL devices and test each.

    The test shows whether a device computes correctly. SPEC is what --device takes. FMA is measured: "slow" means
    software. The self-test takes a fraction of a second per device; its result is remembered until the driver or the
    kernels change.
    """
    rows = [_row(device, no_self_test) for device in discover()]
    if as_json:
        click.echo(json.dumps({"devices": rows}))
    for note in (*RUNTIMES.notes, *absence.problems(RUNTIMES)):
        click.echo(f"mandelcl: {note}", err=True)
    if not rows:
        raise NoDeviceError(absence.explain_absence(RUNTIMES))
    if not as_json:
        console = Console(markup=False)
        if not console.is_terminal:
            console.width = 1000  # never truncate what a program may read
        console.print(_table(rows))


def _row(device: Device, no_self_test: bool) -> dict[str, Any]:
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
    summary = selftest.summary(device)
    status = "PASS" if summary.passed else "FAIL"
    return row | {"fma": summary.fma, "denormals": summary.denormals, "selftest": status, "reason": summary.reason}


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    columns = ("SPEC", "Device", "Platform", "Driver", "Type", "Units", "MHz", "Memory", "Largest", "Double", "FMA")
    for column in (*columns, "Denormals", "Watchdog", "Timer", "Self-test"):
        table.add_column(column, overflow="fold")
    for row in rows:
        passed = row["selftest"] == "PASS"
        table.add_row(
            row["spec"],
            row["name"],
            row["platform"],
            row["driver"],
            row["type"],
            str(row["compute_units"]),
            str(row["clock_mhz"]),
            _size(row["memory_bytes"]),
            _size(row["max_alloc_bytes"]),
            "yes" if row["fp64"] else "no",
            row["fma"],
            row["denormals"],
            {True: "yes", False: "no", None: "?"}[row["watchdog"]],
            f"{row['timer_resolution_ns']} ns",
            "PASS" if passed else f"{row['selftest']}: {row['reason']}",
            style="" if passed or row["selftest"] == "SKIPPED" else "red",
        )
    return table


def _size(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
