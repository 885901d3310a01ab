"""The functions that a Dask worker runs for a client, and the registration of its device."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.rendering.crew.dask.handshake import KEY, Handshake
from mandelcl.rendering.crew.dask.relay import Answer, Order, Relay

if TYPE_CHECKING:
    from distributed import Worker


_relay: Relay | None = None


def serve_by(relay: Relay | None) -> None:
    """Have this process's tasks done by a relay; None for one that has none, or has none any more."""
    global _relay
    _relay = relay


def _here() -> Relay:
    if _relay is None:
        raise DeviceError("this Dask worker has no device")
    return _relay


def probe(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the device's answer to a question about a job."""
    return _here().probe(question)


def prepare(order: Order) -> Answer:
    """Return the device's answer when it is ready for an order."""
    return _here().prepare(order)


def compute(order: Order, head: Mapping[str, Any], indices: bytes) -> Answer:
    """Return the device's answer for a block, given in a message with bytes, and the block's results as bytes."""
    return _here().compute(order, head, indices)


async def drop(session: str) -> None:
    """Drop the blocks that a session has under way."""
    if _relay is not None:
        await asyncio.to_thread(_relay.drop, session)


async def restart() -> None:
    """End the process of the device, whatever it is doing."""
    if _relay is not None:
        await asyncio.to_thread(_relay.restart)


def knock() -> np.uint8:
    """Return at once: a task that waits for a worker makes an adaptive cluster start one."""
    return np.uint8(0)


def reported_at_start(handshake: Handshake) -> dict[str, Any]:
    """Return the `startup_information` of a worker."""
    return {KEY: lambda _worker: handshake.as_dict()}


def reported_later(relay: Relay) -> dict[str, Any]:
    """Return the `metrics` of a worker, which its heartbeats carry."""
    return {KEY: lambda _worker: relay.state()}


def take_part(worker: "Worker", relay: Relay, handshake: Handshake) -> None:
    """Make a worker that has not registered yet one with a device."""
    worker.startup_information.update(reported_at_start(handshake))
    worker.metrics.update(reported_later(relay))
    serve_by(relay)
