"""Runtimes asked without the loader offer the devices that the loader lists, by the same addresses."""

import sys

import pytest

from mandelcl.opencl.api import RUNTIMES, cl
from mandelcl.opencl.device import Device, discover
from mandelcl.opencl.icd import context, offered

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not RUNTIMES.vendors, reason="needs a loader that has runtimes in files"
)


def test_icd_devices_equal_loader_devices() -> None:
    found = {device.address: device.facts for vendor in RUNTIMES.vendors for device in offered(vendor.library)}
    devices = discover()
    assert {device.handle.int_ptr for device in devices} <= set(found)
    for device in devices:
        facts = found[device.handle.int_ptr]
        assert facts[:2] == (device.handle.platform.version.strip(), device.platform)
        assert facts[2:5] == (device.name, device.driver, device.version)
        assert frozenset(facts[5].split()) == device.extensions


def test_device_numbers_do_not_depend_on_loader_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of files in a folder."""
    platforms = cl.get_platforms()
    expected = {device.spec: device.handle.int_ptr for device in discover()}
    for order in (platforms[::-1], platforms[1:] + platforms[:1]):
        monkeypatch.setattr(cl, "get_platforms", lambda order=order: order)
        assert {device.spec: device.handle.int_ptr for device in discover()} == expected


@pytest.mark.parametrize("library", ["", "libnone.so.1", "/nowhere/libnone.so", "libm.so.6", sys.executable])
def test_library_that_is_not_a_runtime_has_no_devices(library: str) -> None:
    assert offered(library) == []


def test_context_belongs_to_its_device(device: Device) -> None:
    """It serves where it was made for, and is released with the object that took it."""
    made = cl.Context.from_int_ptr(context(device.handle.int_ptr), retain=False)
    assert [one.int_ptr for one in made.devices] == [device.handle.int_ptr]
    assert made.reference_count == 1
