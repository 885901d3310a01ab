"""The class of a device: the properties by which jobs are resolved and kernels shaped."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from mandelcl.core.numbers import NumberFormat
from mandelcl.opencl.device import Device
from mandelcl.opencl.families import OTHER, Family


def _never(_number: NumberFormat) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """The class of a device. The default is that of most CPUs.

    `slow_double` means that double takes at least 16 times as long as float. `vectors` has the elements of the device's
    own vectors, of float and of double: 1 on devices that vectorise across work-items. `slow_fma(number)` is whether
    fma is software in a native number, and `label` is for messages.
    """

    fp64: bool = True
    slow_double: bool = False
    type: str = "cpu"
    vectors: tuple[int, int] = (8, 4)
    family: Family = OTHER
    slow_fma: Callable[[NumberFormat], bool] = _never
    label: str = ""

    @classmethod
    def of(cls, device: Device, slow_fma: Callable[[NumberFormat], bool] = _never) -> Self:
        """Return the class of a device of this machine."""
        vectors = device.vector_width(double=False), device.vector_width(double=True)
        return cls(device.fp64, device.slow_double, device.type, vectors, device.family, slow_fma, device.label)

    @property
    def is_gpu(self) -> bool:
        """Whether it computes as many orbits at once as a GPU does."""
        return self.type in ("gpu", "accelerator")

    def can(self, number: NumberFormat) -> bool:
        """Return whether kernels may use a number."""
        return self.fp64 or not number.needs_fp64

    def tier(self, number: NumberFormat) -> int:
        """Return 0 for a GPU, which is likely to be fastest, 1 for a device with vectors, and 2 for others."""
        return 0 if self.is_gpu else 1 if self.vectors[number.needs_fp64] > 1 else 2
