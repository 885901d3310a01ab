"""The GPUs that are built for without being there, as their drivers would describe them."""

from dataclasses import dataclass

from mandelcl.engine.device_class import DeviceClass
from mandelcl.opencl.families import family_of
from tests.vendors.amd import Amd
from tests.vendors.intel import Intel


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU: its maker's name for the architecture, the compiler's for the chip, and what its driver says."""

    architecture: str
    chip: str
    name: str
    platform: str
    fp64: bool
    compiler: Amd | Intel

    @property
    def type(self) -> str:
        """`gpu`."""
        return "gpu"

    @property
    def device_class(self) -> DeviceClass:
        """What mandelcl knows of GPUs of its kind."""
        return DeviceClass(self.fp64, type=self.type, vectors=(1, 1), family=family_of(self.platform, self.name))


_AMD, _INTEL = "AMD Accelerated Parallel Processing", "Intel(R) OpenCL Graphics"


def targets(clang: str = "clang-15", ocloc: str = "ocloc") -> list[Target]:
    """Return all, with these compilers."""
    amd, intel = Amd(clang), Intel(ocloc)
    return [
        Target("GCN 5", "gfx906", "gfx906:sramecc+:xnack-", _AMD, True, amd),
        Target("CDNA 2", "gfx90a", "gfx90a:sramecc+:xnack-", _AMD, True, amd),
        Target("RDNA 2", "gfx1030", "gfx1030", _AMD, True, amd),
        Target("RDNA 3", "gfx1100", "gfx1100", _AMD, True, amd),
        Target("Gen9", "skl", "Intel(R) HD Graphics 530 [0x1912]", _INTEL, True, intel),
        Target("Gen12", "tgllp", "Intel(R) Iris(R) Xe Graphics [0x9a49]", _INTEL, False, intel),
        Target("Xe-HPG", "dg2-g10", "Intel(R) Arc(TM) A770 Graphics", _INTEL, False, intel),
        Target("Xe-HPC", "pvc", "Intel(R) Data Center GPU Max 1550", _INTEL, True, intel),
    ]
