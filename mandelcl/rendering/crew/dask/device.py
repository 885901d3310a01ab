"""The process beside a Dask worker in which the driver runs (the role `cluster device`).

It opens a device, tests it, and describes it. Then it answers questions about jobs until the first order comes, and
from there on it is the same as a worker of a crew. So a driver that crashes or hangs does no harm to the Dask worker.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT
from mandelcl.engine import choose, selftest
from mandelcl.opencl.device import Device
from mandelcl.rendering.crew.block_worker import serve_order
from mandelcl.rendering.crew.dask.handshake import RemoteDevice
from mandelcl.workers.channel import IDLE, Channel


def serve(channel: Channel) -> None:
    """Serve until the parent closes the pipe."""
    order, _ = channel.receive()
    device = opened(order["devices"], order["index"])
    channel.answer(asdict(RemoteDevice.of(device)))
    while True:
        channel.note(IDLE)
        head, _ = channel.receive()
        if head["do"] != "answer":
            serve_order(channel, head)
        channel.answer(probe(device, head["question"]))


def opened(specs: Sequence[str], index: int) -> Device:
    """Return the device for the worker whose turn this is, among those that SPECs name; raises DeviceError.

    Without a SPEC these are the GPUs or, if there is none, the fastest device.
    """
    named = choose.matching(specs)
    if not specs:
        named = [device for device in named if device.type == "gpu"] or [_fastest(named)]
    device = named[index % len(named)]
    number = DOUBLE if device.fp64 else FLOAT
    tested = selftest.result(device, number, number.roundings[0])
    if not tested.passed:
        raise DeviceError(f"{device.label}: self-test failed: {tested.reason}", device.label)
    return device


def _fastest(devices: Sequence[Device]) -> Device:
    return choose.fastest(Job(View.centred("-0.75", 0, 1, 64, 64)), devices).device


def probe(device: Device, question: Mapping[str, Any]) -> dict[str, Any]:
    """Return with which variant the device would do a resolved job, and how it tested.

    The question has the `job` in JSON, and whether to `self_test`.
    """
    variant, tested = choose.try_out(Job.from_json(question["job"]), device, question["self_test"])
    return {"variant": asdict(variant), "tested": asdict(tested)}
