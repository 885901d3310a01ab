"""For Dask workers that mandelcl does not start: `dask worker --preload mandelcl.rendering.crew.dask.preload`.

The environment's MANDELCL_DEVICE has the SPECs of devices, separated by commas. Workers whose names differ by a number
at the end, as those of one Slurm job do, take them in turn. A worker without a device registers with the
reason.
"""

import asyncio
import os
import re
from typing import TYPE_CHECKING

from mandelcl.base.errors import MandelclError
from mandelcl.rendering.crew.dask import tasks
from mandelcl.rendering.crew.dask.handshake import Handshake, RemoteDevice
from mandelcl.rendering.crew.dask.relay import Relay
from mandelcl.rendering.crew.dask.tasks import take_part

if TYPE_CHECKING:
    from distributed import Worker

_relays: list[Relay] = []


async def dask_setup(worker: "Worker") -> None:
    """Open and test the device before the worker registers."""
    specs = tuple(spec.strip() for spec in os.environ.get("MANDELCL_DEVICE", "").split(",") if spec.strip())
    relay = Relay(specs, index_of(str(worker.name)))
    _relays.append(relay)
    try:
        answer = await asyncio.to_thread(relay.introduce)
        handshake = Handshake.here(RemoteDevice.parse(answer))
    except MandelclError as error:
        handshake = Handshake.here(None, str(error))
    take_part(worker, relay, handshake)


async def dask_teardown(_worker: "Worker") -> None:
    """End the process of the device."""
    await asyncio.to_thread(tasks.serve_by, None)
    for relay in _relays:
        await asyncio.to_thread(relay.close)


def index_of(name: str) -> int:
    """Return the number at the end of a worker's name; 0 if there is none."""
    found = re.search(r"([0-9]{1,6})$", name)
    return int(found[1]) if found else 0
