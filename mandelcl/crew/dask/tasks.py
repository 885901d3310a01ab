"""What a Dask worker does for a client: the functions of its tasks, for the one device of its process."""

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.core.block import Block
from mandelcl.crew.dask.measuring import Measuring
from mandelcl.crew.dask.relay import Answer, Order, Relay

_relay: Relay | None = None
_measuring: Measuring | None = None


def serve_by(relay: Relay | None) -> None:
    """Have this process's tasks done by a relay; None for one that has none, or has none any more."""
    global _relay, _measuring
    if _measuring is not None:
        _measuring.end()
    _relay, _measuring = relay, None if relay is None else Measuring(relay)


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


def measure(session: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the process of a session's study answers; a question with `study` begins one on this device."""
    relay, measuring = _here(), _measuring
    assert measuring is not None
    return measuring.answer(session, {**question, "device": relay.introduce()} if "study" in question else question)


async def measure_no_more(session: str) -> None:
    """End a session's study, in the middle of a row, too."""
    if _measuring is not None:
        await asyncio.to_thread(_measuring.end, session)


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
