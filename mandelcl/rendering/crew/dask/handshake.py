"""A cluster worker's description of itself when it registers, and whether it computes the same bits as this process."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Self

from mandelcl.base.text import printable
from mandelcl.core.numbers import DOUBLE, FLOAT
from mandelcl.engine import selftest
from mandelcl.engine.device_class import DeviceClass
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device
from mandelcl.version import __version__
from mandelcl.workers.wire import WireError

KEY = "mandelcl"  # the key of the description in Dask's information about a worker


@cache
def code_digest() -> str:
    """Return a short hash of this package's modules and kernels: where it is the same, so are the bits."""
    package = Path(__file__).parents[3]
    found = hashlib.sha256()
    for folder, pattern in ((package, "**/*.py"), (texts.folder(), "*.cl")):
        for path in sorted(folder.glob(pattern)):
            text = path.read_bytes().replace(b"\r\n", b"\n")
            found.update(f"{path.relative_to(folder).as_posix()} {len(text)}\n".encode() + text)
    return found.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class RemoteDevice:
    """A device on another machine, as it describes itself (a `KnownDevice`).

    `slow_fma` has the names of the numbers whose fma is software.
    """

    spec: str
    name: str
    platform: str
    driver: str
    label: str
    type: str
    fp64: bool
    slow_double: bool
    compute_units: int
    watchdog: bool | None
    slow_fma: tuple[str, ...] = ()

    @classmethod
    def of(cls, device: Device) -> Self:
        """Return the description of a device of this machine, which is tested for it."""
        slow = tuple(number.name for number in (FLOAT, DOUBLE) if selftest.slow_fma(device, number))
        known = {field.name: getattr(device, field.name) for field in fields(cls) if field.name != "slow_fma"}
        return cls(**known, slow_fma=slow)

    @property
    def device_class(self) -> DeviceClass:
        """What jobs that it shares are resolved by."""
        return DeviceClass(
            self.fp64,
            self.slow_double,
            self.type,
            slow_fma=lambda number: number.name in self.slow_fma,
            label=self.label,
        )

    @classmethod
    def parse(cls, values: object) -> Self:
        """Return the device that `asdict` wrote; raises WireError for anything else."""
        if not isinstance(values, Mapping) or set(values) != {field.name for field in fields(cls)}:
            raise WireError("no device")
        texts = {name: values[name] for name in ("spec", "name", "platform", "driver", "label", "type")}
        if any(not isinstance(text, str) for text in texts.values()):
            raise WireError("no names of a device")
        units, fp64, slow, watchdog = (values[name] for name in ("compute_units", "fp64", "slow_double", "watchdog"))
        if type(units) is not int or not 0 < units < 1 << 32 or type(fp64) is not bool or type(slow) is not bool:
            raise WireError("no facts of a device")
        if watchdog is not None and type(watchdog) is not bool:
            raise WireError("no watchdog of a device")
        slow_fma = values["slow_fma"]
        if not isinstance(slow_fma, list | tuple) or any(name not in (FLOAT.name, DOUBLE.name) for name in slow_fma):
            raise WireError("no fma of a device")
        shown = {name: printable(text) for name, text in texts.items()}
        kinds = tuple(slow_fma)
        return cls(**shown, fp64=fp64, slow_double=slow, compute_units=units, watchdog=watchdog, slow_fma=kinds)


@dataclass(frozen=True, slots=True)
class Handshake:
    """A worker's mandelcl and its device. If it has none, `trouble` is the reason."""

    version: str
    code: str
    device: RemoteDevice | None
    trouble: str = ""

    @classmethod
    def here(cls, device: RemoteDevice | None, trouble: str = "") -> Self:
        """Return the introduction of a worker in this process."""
        return cls(__version__, code_digest(), device, trouble)

    def as_dict(self) -> dict[str, Any]:
        """Return it as messages have it."""
        return asdict(self)

    @classmethod
    def parse(cls, values: object) -> Self:
        """Return what `as_dict` wrote; raises WireError for anything else."""
        if not isinstance(values, Mapping):
            raise WireError("no introduction")
        version, code, trouble = (values.get(name) for name in ("version", "code", "trouble"))
        if not (isinstance(version, str) and isinstance(code, str) and isinstance(trouble, str)):
            raise WireError("no version in an introduction")
        device = values.get("device")
        return cls(printable(version), code, None if device is None else RemoteDevice.parse(device), printable(trouble))

    def refusal(self) -> str | None:
        """Return why the worker may not take part, in a phrase; None if it may."""
        if self.version != __version__:
            return f"it has mandelcl {self.version}, and here is {__version__}; install the same on both"
        if self.code != code_digest():
            return "its mandelcl has other code or kernels than this one; install the same on both"
        return None if self.device is not None else self.trouble or "it has no device"
