"""The devices that cases use: found once in a process."""

from functools import cache

from mandelcl.engine import selftest
from mandelcl.opencl.device import Device, discover


@cache
def every_device() -> tuple[Device, ...]:
    """Return the devices that pass their self-tests, with double or without."""
    return tuple(device for device in discover() if selftest.summary(device).passed)


@cache
def devices() -> tuple[Device, ...]:
    """Return the devices that pass their self-tests and have double, CPUs first: each process has those to itself."""
    able = [device for device in every_device() if device.fp64]
    return tuple(sorted(able, key=lambda device: device.type != "cpu"))


def device() -> Device:
    """Return the device that cases use."""
    if not devices():
        raise RuntimeError("no usable OpenCL device with double; `mandelcl devices` lists what was tried")
    return devices()[0]


def other_device() -> Device | None:
    """Return another device, to compare with; None where there is none."""
    return devices()[1] if len(devices()) > 1 else None
