"""A worker that misbehaves once, or always: `python -m tests.device.faulty_worker PLATFORM SITE KIND AT FLAG`.

It is mandelcl's own block worker with one of the methods of `Device` replaced. The fault happens at the AT-th call of
SITE (a method, or `survivors` for launches of that kernel), on the platform named, in the first process that can make
the file FLAG; where FLAG is `always`, in every process.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.opencl.device import Device
from mandelcl.workers import channel
from tests import posix

SITES = ("build", "upload", "allocate", "fill", "launch", "read", "fetch", "wait")
ERRORS = {"-5": "OUT_OF_RESOURCES", "-14": "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "-36": "INVALID_COMMAND_QUEUE"}
KINDS = ("exit", "kill", "hang", *ERRORS)
SLOW_S = 6.0
LIES = ("unwritten", "idle", "wrong", "huge")  # where results come back


def misbehave(kind: str) -> None:
    if kind == "exit":
        os._exit(7)
    if kind == "kill":
        os.kill(os.getpid(), posix.signal.SIGKILL)
    if kind == "hang":
        time.sleep(3600)
    if kind == "slow":
        time.sleep(SLOW_S)
    if kind == "compile":  # this sleep does not let other threads run
        ctypes.PyDLL(None).usleep(int(SLOW_S * 1e6))
    if kind in ERRORS:
        raise DeviceError(f"failed: {ERRORS[kind]} ({kind})")


def lie(kind: str, original: Callable[..., Any], device: Device, buffer: Any, array: Any) -> Any:
    """Fetch results, but not as they are."""
    if kind == "unwritten":  # the copy never takes place
        return original(device, buffer, np.empty_like(array))
    event = original(device, buffer, array)
    device.wait(event)
    if kind == "wrong":
        array[0] = np.where(array[0] > 1, array[0] - 1, array[0] + 1)
    elif kind == "huge":
        array[0].flat[0] = 0xFFFFFFFE
    return event


def main() -> None:
    platform, site, kind, at, flag = sys.argv[1:]
    name = {"unwritten": "fetch", "wrong": "fetch", "huge": "fetch", "idle": "launch"}.get(kind, site)
    name = "launch" if name == "survivors" else name
    original = getattr(Device, name)
    calls = 0

    def due(device: Device, *arguments: Any) -> bool:
        nonlocal calls
        concerned = platform.lower() in device.platform.lower()
        if site == "survivors":
            concerned = concerned and arguments[0].function_name == "advance_survivors"
        calls += concerned
        if calls < int(at) or not concerned:
            return False
        if flag == "always":
            return True
        try:
            Path(flag).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def replacement(device: Device, *arguments: Any) -> Any:
        if not due(device, *arguments):
            return original(device, *arguments)
        if kind == "idle":  # the kernel is said to have run, and has not: an event is needed all the same
            return _no_launch(device)
        if kind in LIES:
            return lie(kind, original, device, *arguments)
        misbehave(kind)  # and where it comes back from that, go on
        return original(device, *arguments)

    setattr(Device, name, replacement)
    if name == "fetch":
        setattr(Device, "shares_memory", False)  # noqa: B010 - so that all results are fetched
    channel.serve("blocks")


def _no_launch(device: Device) -> Any:
    """Return the event of a copy that means nothing."""
    scratch = device.allocate(4)
    return device.read(scratch, np.zeros(1, np.uint32))


if __name__ == "__main__":
    main()
