"""A Dask worker for one device in a process of its own, the role `cluster worker`.

The device is opened and tested while Dask is loaded. The parent is told what it is, and then says which scheduler to
join. The process ends when the scheduler is gone, or when the parent closes its pipe.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from mandelcl.crew.dask import tasks
from mandelcl.crew.dask.introduction import Introduction, RemoteDevice
from mandelcl.crew.dask.relay import THREADS, Relay
from mandelcl.crew.dask.tasks import said_at_start, said_ever_after
from mandelcl.workers.channel import IDLE, Channel

RESOURCE = "mandelcl"  # of which a worker has as many as it takes blocks


def serve(channel: Channel) -> None:
    """Serve until the scheduler is gone."""
    order, _ = channel.receive()
    relay = Relay(tuple(order["devices"]), order["turn"])
    relay.start()
    import distributed  # noqa: F401 - it takes a second, while the device is opened

    introduction = Introduction.here(RemoteDevice.parse(relay.introduce()))
    tasks.serve_by(relay)
    channel.answer(introduction.as_dict())
    order, _ = channel.receive()
    try:
        asyncio.run(_work(channel, relay, introduction, order))
    finally:
        tasks.serve_by(None)
        relay.close()


async def _work(channel: Channel, relay: Relay, introduction: Introduction, order: Mapping[str, Any]) -> None:
    import dask
    from distributed import Worker

    dask.config.set({"distributed.worker.http.routes": []})  # the server that has them is always started
    assert introduction.device is not None
    kind = introduction.device.type
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
        startup_information=said_at_start(introduction),
        metrics=said_ever_after(relay),
    )
    async with worker:
        channel.note(IDLE)
        channel.answer({"registered": worker.address})
        await worker.finished()
