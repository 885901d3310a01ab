"""`mandelcl tune`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.errors import DeviceError
from mandelcl.base.names import TUNING_S
from mandelcl.cli import completion, options
from mandelcl.cli.progress import on_terminal, print_line, sized

if TYPE_CHECKING:
    from mandelcl.core.numbers import NumberFormat
    from mandelcl.engine.tune import Tuned
    from mandelcl.engine.variant import Variant
    from mandelcl.opencl.device import Device


@click.command(
    "tune",
    epilog="""\b
Examples:
  Examples:
    mandelcl tune                            every device, float and double
    mandelcl tune --device gpu --number fp128
    mandelcl tune --seconds 10 --json
    mandelcl tune --forget                   restore the built-in shapes
""",
)
@options.device_option
@click.option(
    "--number",
    "numbers",
    multiple=True,
    shell_complete=completion.numbers,
    metavar="NAME",
    help="[default: float and double]; may be repeated.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=TUNING_S,
    show_default=True,
    help="Per device and number: start no new measurement after this time.",
)
@click.option("--forget", "forgetting", is_flag=True, help="Delete the results of tuning.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON per device and number.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    devices: tuple[str, ...], numbers: tuple[str, ...], seconds: float, forgetting: bool, as_json: bool, quiet: bool
) -> None:
    """Find and store the fastest kernel shape for each device.

    The shape is the number of orbits computed side by side, the number of steps between two escape tests, and the size
    of the tiles. It changes the speed and never a result. It is stored for this device, driver and version of the
    kernels. If one of these changes, mandelcl ignores the stored shape, with a note, and uses the built-in shape for
    this class of device.
    """
    from mandelcl.core.numbers import by_name
    from mandelcl.engine import choose
    from mandelcl.engine.variant import forget
    from mandelcl.files import cache

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
                result = _tune(device, number, seconds, quiet)
            except DeviceError as error:
                reasons.append(str(error))
                if not quiet:
                    print_line(f"mandelcl: {error}")
                continue
            tuned += 1
            if as_json:
                click.echo(json.dumps(_row(device, number, result)))
    for complaint in cache.complaints():  # complaints matter here: without the cache, the result of tuning is lost
        print_line(f"mandelcl: {complaint}")
    if not tuned and not forgetting:
        raise DeviceError(
            reasons[0]
            if reasons
            else "this number needs double precision, and none of these devices has it; use --number float"
        )


def _tune(device: "Device", number: "NumberFormat", seconds: float, quiet: bool) -> "Tuned":
    from mandelcl.engine import tune

    about = f"{device.label}, {number.name}"
    with _status(about, quiet) as update:

        def show(variant: "Variant", rate: float | None) -> None:
            measured = "does not work on this device" if rate is None else f"{rate / 1e9:.2f} Giter/s"
            update(f"{about}: {_shape(variant)}: {measured}")

        result = tune.tune(device, number, seconds=seconds, progress=show)
    comparison = f"{result.gain:.2f} times the rate of" if result.gain > 1 else "no shape is faster than"
    if not quiet:
        print_line(
            f"{about}: {_shape(result.variant)}, {result.rate / 1e9:.2f} Giter/s, {comparison} the "
            f"built-in shape ({result.tried} tried in {result.seconds:.0f} s)"
        )
    return result


@contextmanager
def _status(text: str, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show a line on a terminal while the body runs. Yields a callback that changes it."""
    if quiet or not on_terminal():
        yield lambda _text: None
        return
    from rich.console import Console
    from rich.text import Text

    with sized(Console(stderr=True, markup=False)).status(Text(text)) as status:
        yield lambda text: status.update(Text(text))


def _shape(variant: "Variant") -> str:
    return (
        f"{variant.vectors} x {variant.lanes} lanes in tiles {variant.lane_columns} wide, "
        f"{variant.stride} steps by {variant.unrolled}, {variant.local_columns} x {variant.local_rows} work-items"
    )


def _row(device: "Device", number: "NumberFormat", result: "Tuned") -> dict[str, Any]:
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
