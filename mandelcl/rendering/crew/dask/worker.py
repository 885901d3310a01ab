"""A Dask worker for one device, in its own process (the role `cluster worker`).

The device is opened and tested while Dask is loaded. The parent gets its description, and then sends the scheduler to
join. The process ends when the scheduler is gone, or when the parent closes its pipe.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from mandelcl.rendering.crew.dask import tasks
from mandelcl.rendering.crew.dask.handshake import Handshake, RemoteDevice
from mandelcl.rendering.crew.dask.relay import THREADS, Relay
from mandelcl.rendering.crew.dask.tasks import reported_at_start, reported_later
from mandelcl.workers.channel import IDLE, Channel

RESOURCE = "mandelcl"  # a worker has as many of it as it takes blocks


def serve(channel: Channel) -> None:
    """Serve until the scheduler is gone."""
    order, _ = channel.receive()
    relay = Relay(tuple(order["devices"]), order["index"])
    relay.start()
    import distributed  # noqa: F401 - it takes a second, while the device is opened

    handshake = Handshake.here(RemoteDevice.parse(relay.introduce()))
    tasks.serve_by(relay)
    channel.answer(handshake.as_dict())
    order, _ = channel.receive()
    try:
        asyncio.run(_work(channel, relay, handshake, order))
    finally:
        tasks.serve_by(None)
        relay.close()


async def _work(channel: Channel, relay: Relay, handshake: Handshake, order: Mapping[str, Any]) -> None:
    import dask
    from distributed import Worker

    dask.config.set({"distributed.worker.http.routes": []})  # the server that has them is always started
    assert handshake.device is not None
    kind = handshake.device.type
    worker = Worker(
        order["scheduler"],
        name=order["name"],
        host=order["host"],
        nthreads=THREADS,
        memory_limit=0,  # results leave at once: there is nothing to spill
        local_directory=order["folder"],
        resources={RESOURCE: THREADS, f"{RESOURCE}-{kind}": THREADS},
        dashboard=False,
        death_timeout=order["patience"],
        startup_information=reported_at_start(handshake),
        metrics=reported_later(relay),
    )
    async with worker:
        channel.note(IDLE)
        channel.answer({"registered": worker.address})
        await worker.finished()
