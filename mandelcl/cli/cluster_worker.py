"""`mandelcl cluster-worker`."""

from typing import TYPE_CHECKING

import click

from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.options import device_option
from mandelcl.cli.progress import print_line

if TYPE_CHECKING:
    import threading

_TICK_S = 0.5


@click.command(
    "cluster-worker",
    epilog="""\b
Examples:
  mandelcl cluster-worker tcp://10.0.0.1:8786
  mandelcl cluster-worker tcp://10.0.0.1:8786 --device gpu
  mandelcl cluster-worker tls://head:8786 --device 0:0 --device 0:1
""",
)
@click.argument("scheduler", metavar="ADDRESS")
@device_option
def command(scheduler: str, devices: tuple[str, ...]) -> None:
    """Lend this machine's devices to a Dask cluster.

    One Dask worker per device registers with the scheduler at ADDRESS, after the device has passed its self-test. The
    devices are those that you name with --device, otherwise all GPUs, otherwise the fastest device. A worker that ends
    or loses its scheduler is restarted. Press Ctrl-C to stop.

    Anyone who can reach a Dask scheduler over tcp:// can run programs on all its workers. Use a private network, or
    tls:// with Dask's own security settings.
    """
    interruptible(lambda cancel: _serve(scheduler, devices, cancel))


def _serve(scheduler: str, devices: tuple[str, ...], cancel: "threading.Event") -> None:
    from mandelcl.base.errors import CancelledError, DeviceError, InvalidInputError
    from mandelcl.engine import choose
    from mandelcl.rendering.crew.dask.address import SchedulerAddress
    from mandelcl.rendering.crew.dask.connection import require_dask
    from mandelcl.rendering.crew.dask.supervisor import Supervisor, own_name

    if not SchedulerAddress.parse(scheduler).scheduler:
        raise InvalidInputError("a worker needs the address of a scheduler, like tcp://HOST:8786, not local")
    require_dask()
    named = choose.matching(devices)
    count = len(named if devices else [device for device in named if device.type == "gpu"]) or 1
    supervisor = Supervisor(devices, count, own_name(), lambda line: print_line(f"mandelcl: {line}"))
    try:
        supervisor.join(scheduler, None)
        while not cancel.wait(_TICK_S):
            if supervisor.given_up:
                raise DeviceError("no device can join the cluster")
    finally:
        supervisor.close()
    raise CancelledError("stopped")
