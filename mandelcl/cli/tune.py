"""`mandelcl tune`."""

import json
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from mandelcl.cli import options
from mandelcl.engine import choose, tune
from mandelcl.engine.variant import Variant, forget
from mandelcl.errors import DeviceError
from mandelcl.numbers import NumberFormat, by_name
from mandelcl.opencl.device import Device


@click.command(
    "tune",
    epilog="""\b
Examples:
  mandelcl tune                            every device, float and double
  mandelcl tune --device gpu --number fp128
  mandelcl tune --seconds 10 --json
  mandelcl tune --forget                   back to the built-in shapes
""",
)
@options.device_option
@click.option(
    "--number", "numbers", multiple=True, metavar="NAME", help="[default: float and double]; may be repeated."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=tune.SECONDS,
    show_default=True,
    help="Start no new measurement after this time, for each device and number.",
)
@click.option("--forget", "forgetting", is_flag=True, help="Forget what was tuned.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON line for each device and number.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    devices: tuple[str, ...], numbers: tuple[str, ...], seconds: float, forgetting: bool, as_json: bool, quiet: bool
) -> None:
    """Find and remember the fastest shape of the kernels.

    Each device has its own. The shape (how many orbits side by side, how many steps between two tests, in which tiles)
    changes the speed and never a result. It is kept for this device, driver and version of the kernels. If one of these
    changes, it is ignored, with a note, and mandelcl returns to the built-in shape for this class of device.
    """
    console = Console(stderr=True, quiet=quiet, markup=False)
    formats = [by_name(name) for name in numbers or ("float", "double")]
    tuned, reasons = 0, []
    for device in choose.matching(devices):
        for number in formats:
            if number.needs_fp64 and not device.fp64:
                continue
            if forgetting:
                forget(device, number)
                continue
            try:
                result = _tune(device, number, seconds, console)
            except DeviceError as error:
                reasons.append(str(error))
                console.print(f"mandelcl: {error}", soft_wrap=True, highlight=False)
                continue
            tuned += 1
            if as_json:
                click.echo(json.dumps(_row(device, number, result)))
    if not tuned and not forgetting:
        raise DeviceError(
            reasons[0] if reasons else "no device has double, which this number needs; choose another --number"
        )


def _tune(device: Device, number: NumberFormat, seconds: float, console: Console) -> tune.Tuned:
    with console.status(Text(f"{device.label}, {number.name}")) as status:

        def show(variant: Variant, rate: float | None) -> None:
            measured = "does not work here" if rate is None else f"{rate / 1e9:.2f} Giter/s"
            status.update(Text(f"{device.label}, {number.name}: {_shape(variant)}: {measured}"))

        result = tune.tune(device, number, seconds=seconds, progress=show)
    comparison = f"{result.gain:.2f} times the rate of" if result.gain > 1 else "nothing beats"
    console.print(
        f"{device.label}, {number.name}: {_shape(result.variant)}, {result.rate / 1e9:.2f} Giter/s, {comparison} the "
        f"shape of its class ({result.tried} tried in {result.seconds:.0f} s)",
        soft_wrap=True,
        highlight=False,
    )
    return result


def _shape(variant: Variant) -> str:
    return (
        f"{variant.vectors} x {variant.lanes} lanes in tiles {variant.lane_columns} wide, "
        f"{variant.stride} steps by {variant.unrolled}, {variant.local_columns} x {variant.local_rows} work-items"
    )


def _row(device: Device, number: NumberFormat, result: tune.Tuned) -> dict[str, Any]:
    return {
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "number": number.name,
        "variant": json.loads(result.variant.to_json()),
        "giter_per_s": round(result.rate / 1e9, 3),
        "class_giter_per_s": round(result.class_rate / 1e9, 3),
        "tried": result.tried,
        "seconds": round(result.seconds, 1),
    }
