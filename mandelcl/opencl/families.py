"""Families of GPUs: properties that are known from the driver's report, before anything is measured.

Double runs at half the speed of float on a few GPUs, and at a 16th to a 64th on most. No property of OpenCL tells them
apart, and a measured time might decide a job's number differently each day. So this is a table. What
compilers make of the kernels, for GPUs that were never available, is in docs/vendors.md.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """The known properties of a kind of GPU.

    `slow_double` means that double takes at least 16 times as long as float. A work-item has `float_orbits` orbits in
    float. `most_written_out` is for how many products of digits kernels write their loops out, an integer product
    counted three times; beyond it registers spill. None: always.
    """

    name: str
    slow_double: bool = False
    float_orbits: int = 1
    most_written_out: int | None = 27


OTHER = Family("other")
_NVIDIA = re.compile(r"nvidia|geforce|quadro|tesla", re.IGNORECASE)
# NVIDIA's processors with many units for double, by compute capability.
_NVIDIA_FAST = ((2, 0), (3, 5), (3, 7), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0))
# AMD's: the names that ROCm and the driver for Windows give to chips, and those of Mesa and macOS.
_AMD = re.compile(r"\bgfx[0-9a-f]{3,4}\b|radeon|instinct|firepro", re.IGNORECASE)
_AMD_FAST = re.compile(
    r"gfx(600|70[01]|90[68a]|94[0-9a-f]|950)\b|tahiti|hawaii|vega ?20|arcturus|aldebaran", re.IGNORECASE
)
_INTEL = re.compile(r"intel", re.IGNORECASE)
# Of Intel's with double at all, those after the Xe-HPC: Battlemage and Lunar Lake.
_INTEL_SLOW = re.compile(r"arc(\(tm\))? (b\d|1[34]0v)|\bbmg\b|\blnl\b", re.IGNORECASE)


def family_of(platform: str, name: str, capability: tuple[int, int] | None = None) -> Family:
    """Return the family of a GPU, by the names of its platform and of itself, and NVIDIA's compute capability.

    An unknown GPU is assumed to have fast double.
    """
    if capability is not None or _NVIDIA.search(f"{platform} {name}"):
        slow = capability is not None and capability not in _NVIDIA_FAST
        # Three orbits share the registers that hold the real part of c, which that hardware can use.
        return Family("NVIDIA", slow, float_orbits=3, most_written_out=None)
    if _AMD.search(name):
        return Family("AMD", not _AMD_FAST.search(name))
    if _INTEL.search(f"{platform} {name}"):
        return Family("Intel", bool(_INTEL_SLOW.search(name)))
    return OTHER
