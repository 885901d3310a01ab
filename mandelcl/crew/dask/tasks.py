"""What a Dask worker does for a client: the functions of its tasks, for the one device of its process."""

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.core.block import Block
from mandelcl.crew.dask.relay import Answer, Order, Relay

_relay: Relay | None = None


def serve_by(relay: Relay | None) -> None:
    """Have this process's tasks done by a relay; None for one that has none, or has none any more."""
    global _relay
    _relay = relay


def _here() -> Relay:
    if _relay is None:
        raise DeviceError("this Dask worker has no device")
    return _relay


def audition(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the device answers to a question about a job."""
    return _here().audition(question)


def prepare(order: Order) -> Answer:
    """Return what the device says once it is ready for an order."""
    return _here().prepare(order)


def compute(order: Order, corners: list[int], urgent: bool) -> Answer:
    """Return what the device says of a block, and the block's results as bytes."""
    return _here().compute(order, Block(*corners), urgent)


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
