"""The devices that a user's SPECs name, and the devices of the last list, without opening a runtime."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeVar

from mandelcl.base.errors import NoDeviceError
from mandelcl.base.names import DEVICE_TYPES
from mandelcl.base.process_limits import scarce_files
from mandelcl.base.text import quoted
from mandelcl.files import cache

_KIND, _KEY = "devices", hashlib.sha256(b"listed last").hexdigest()[:32]


class Described(Protocol):
    """The properties of a device by which a SPEC can name it. Messages use `label`."""

    @property
    def spec(self) -> str:
        """Its platform and device in numbers, such as 0:1."""

    @property
    def type(self) -> str:
        """Its kind, one of DEVICE_TYPES."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def platform(self) -> str:
        """Its platform's name."""

    @property
    def label(self) -> str:
        """Its SPEC and its name."""


_D = TypeVar("_D", bound=Described)


def named(specs: Sequence[str], available: Sequence[_D]) -> list[_D]:
    """Return the devices that any SPEC names, in their order; all of them if there is no SPEC.

    A SPEC is `platform:device` in numbers, `cpu`, `gpu`, `all`, or part of a device's or platform's name in any case.
    Raises NoDeviceError for one that names nothing.
    """
    if not available:
        hint = scarce_files() or "`mandelcl devices` lists what was tried and what to install"
        raise NoDeviceError(f"no OpenCL device found; {hint}")
    chosen: set[str] = set()
    for spec in specs or ("all",):
        found = [device.spec for device in available if names(spec, device)]
        if not found:
            labels = ", ".join(device.label for device in available)
            raise NoDeviceError(f"no device matches {quoted(spec)}; there is {labels}")
        chosen.update(found)
    return [device for device in available if device.spec in chosen]


def names(spec: str, device: Described) -> bool:
    """Return whether a SPEC names a device."""
    name = spec.strip().lower()
    if name == "all" or name == device.spec:
        return True
    if name in DEVICE_TYPES:
        return device.type == name
    return bool(name) and (name in device.name.lower() or name in device.platform.lower())


class Known(NamedTuple):
    """A device as it was listed: its SPEC, its name and its platform's."""

    spec: str
    name: str
    platform: str


def known() -> list[Known]:
    """Return the devices that were listed last; none if there was no list."""
    with suppress(RecursionError, TypeError, ValueError):
        return [Known(*map(str, values)) for values in json.loads(cache.read(_KIND, _KEY) or b"[]")]
    return []


def remember(devices: Iterable[Known]) -> None:
    """Store the list of devices."""
    listed = list(devices)
    if listed != known():
        cache.write(_KIND, _KEY, json.dumps(listed).encode())
