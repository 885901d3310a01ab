"""What is known of a GPU by its name decides a job's number and the shape of its kernels."""

import pytest

from mandelcl.core.numbers import DOUBLE, FLOAT, FP128, fixed
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.variant import Variant, class_variant
from mandelcl.opencl.families import Family, family_of

AMD, INTEL, MESA = "AMD Accelerated Parallel Processing", "Intel(R) OpenCL Graphics", "rusticl"


@pytest.mark.parametrize(
    ("platform", "name", "capability", "family", "slow"),
    [
        ("NVIDIA CUDA", "NVIDIA H200", (9, 0), "NVIDIA", False),
        ("NVIDIA CUDA", "NVIDIA A100-SXM4-80GB", (8, 0), "NVIDIA", False),
        ("NVIDIA CUDA", "NVIDIA GeForce RTX 4090", (8, 9), "NVIDIA", True),
        ("NVIDIA CUDA", "Tesla T4", (7, 5), "NVIDIA", True),
        ("Portable Computing Language", "NVIDIA A100-SXM4-80GB", None, "NVIDIA", False),
        (AMD, "gfx906:sramecc+:xnack-", None, "AMD", False),
        (AMD, "gfx90a:sramecc+:xnack-", None, "AMD", False),
        (AMD, "gfx942", None, "AMD", False),
        (AMD, "gfx90c", None, "AMD", True),
        (AMD, "gfx900", None, "AMD", True),
        (AMD, "gfx1030", None, "AMD", True),
        (AMD, "gfx1100", None, "AMD", True),
        (MESA, "AMD Radeon RX 6650 XT (radeonsi, navi23, LLVM 17.0.6, DRM 3.57)", None, "AMD", True),
        (MESA, "AMD Radeon VII (radeonsi, vega20, LLVM 17.0.6, DRM 3.57)", None, "AMD", False),
        ("Apple", "AMD Radeon Pro 5500M Compute Engine", None, "AMD", True),
        (INTEL, "Intel(R) Data Center GPU Max 1550", None, "Intel", False),
        (INTEL, "Intel(R) Arc(TM) A770 Graphics", None, "Intel", False),
        (INTEL, "Intel(R) Arc(TM) B580 Graphics", None, "Intel", True),
        (INTEL, "Intel(R) Arc(TM) 140V GPU (16GB)", None, "Intel", True),
        (MESA, "Mesa Intel(R) Arc(tm) B580 Graphics (BMG G21)", None, "Intel", True),
        ("ARM Platform", "Mali-G78", None, "other", False),
    ],
)
def test_names_tell_the_family(
    platform: str, name: str, capability: tuple[int, int] | None, family: str, slow: bool
) -> None:
    found = family_of(platform, name, capability)
    assert (found.name, found.slow_double) == (family, slow)


def gpu_of(family: Family) -> DeviceClass:
    return DeviceClass(type="gpu", vectors=(1, 1), family=family)


def test_shapes_of_measured_families_are_unchanged() -> None:
    """Those of docs/decisions/0011-loop.md and 0007-fixed-point.md."""
    h200 = gpu_of(family_of("NVIDIA CUDA", "NVIDIA H200", (9, 0)))
    assert class_variant(h200, FLOAT, False) == Variant(1, 3, 64, 16, 1, 8, 16)
    assert class_variant(h200, DOUBLE, False) == Variant(1, 1, 64, 64, 1, 8, 16)
    for digits in (True, False):
        assert class_variant(h200, FP128, digits) == Variant(1, 1, 32, 16, 1, 8, 8, digits, True)
        assert class_variant(h200, fixed(8), digits) == Variant(1, 1, 16, 4, 1, 8, 8, digits, True)
        assert class_variant(h200, fixed(32), digits) == Variant(1, 1, 16, 1, 1, 8, 8, digits, True)


@pytest.mark.parametrize(("platform", "name"), [(AMD, "gfx1030"), (INTEL, "Intel(R) UHD Graphics"), ("ARM", "Mali")])
def test_other_gpus_get_shapes_that_do_not_spill(platform: str, name: str) -> None:
    gpu = gpu_of(family_of(platform, name))
    assert class_variant(gpu, FLOAT, False) == Variant(1, 1, 64, 64, 1, 8, 16)
    assert class_variant(gpu, DOUBLE, False) == Variant(1, 1, 64, 64, 1, 8, 16)
    assert class_variant(gpu, FP128, True) == Variant(1, 1, 32, 16, 1, 8, 8, True, True)
    written_out = [
        (words, digits)
        for words in (2, 4, 5, 8, 16, 32)
        for digits in (True, False)
        if class_variant(gpu, fixed(words), digits).digits_unrolled
    ]
    assert written_out == [(2, True), (2, False), (4, True), (4, False), (5, True), (5, False), (8, True)]
