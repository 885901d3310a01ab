"""The instructions that compilers for AMD's and Intel's GPUs make of the kernels round as the texts say."""

import os
import shutil
from functools import cache

import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT, NumberFormat
from mandelcl.engine.job_text import loop_text
from mandelcl.engine.selftest import source_text
from mandelcl.engine.variant import class_variant
from mandelcl.formulas import MANDELBROT
from tests.vendors import instructions
from tests.vendors.amd import Amd, libraries
from tests.vendors.built import CannotBuildError, Kernel
from tests.vendors.targets import Target, targets

CHIPS = ("gfx906", "gfx1030", "gfx1100", "tgllp", "pvc")
# What a root that a text has may be made of; reciprocals, and all else that is not IEEE 754's, no text has.
ROOTS = {"v_sqrt_f32", "v_rsq_f64", "math.sqt", "math.rsqtm"}


def missing(gpu: Target) -> str:
    """Return what is not installed of a target's compiler."""
    if shutil.which(gpu.compiler.command) is None:
        return f"no {gpu.compiler.command}"
    if isinstance(gpu.compiler, Amd):
        try:
            libraries()
        except CannotBuildError as error:
            return str(error)
    return ""


CASES = [
    pytest.param(gpu, number, rounding, id=f"{gpu.chip}-{number.name}-{rounding}")
    for gpu in targets()
    if gpu.chip in CHIPS
    for number in (FLOAT, DOUBLE)
    if gpu.fp64 or not number.needs_fp64
    for rounding in number.roundings
]


@pytest.fixture(autouse=True)
def compiler(request: pytest.FixtureRequest) -> None:
    why = missing(request.node.callspec.params["gpu"])
    if why:
        assert "MANDELCL_TEST_COMPILERS" not in os.environ, why
        pytest.skip(why)


def loop(gpu: Target, number: NumberFormat, rounding: str) -> str:
    job = Job(View.centred("-0.75", 0, 1, 64, 64), number=number.name, rounding=rounding, method="direct")
    return loop_text(job, class_variant(gpu.device_class, number, False), "block")


@cache
def built(gpu: Target, text: str) -> dict[str, Kernel]:
    return {kernel.name: kernel for kernel in gpu.compiler.build(text, gpu.chip)}


def contracted(text: str) -> str:
    assert text.count("FP_CONTRACT OFF") == 1
    return text.replace("FP_CONTRACT OFF", "FP_CONTRACT ON")


def wrong(gpu: Target, number: NumberFormat, rounding: str, text: str) -> list[str]:
    """Return what of a loop's instructions is not as it is written."""
    (kernel,) = built(gpu, text).values()
    fused, written = instructions.fused(kernel), gpu.compiler.fused_written(text, gpu.chip)[kernel.name]
    complaints = [] if fused == written else [f"{fused} fused operations, {written} written"]
    if rounding == "separate" and fused:
        complaints.append(f"{fused} fused operations")
    largest, steps = instructions.largest_block(kernel), class_variant(gpu.device_class, number, False).unrolled
    # A step is three fused operations and a sum, or three products and four sums; beside them there is a test.
    expected = {"fused": 3 * steps, "product": 0, "sum": steps}
    if rounding == "separate":
        expected = {"fused": 0, "product": 3 * steps, "sum": 4 * steps}
    if any(not 0 <= largest[kind] - count <= 2 for kind, count in expected.items()):
        complaints.append(f"{largest} in the loop of {steps} steps")
    if not kernel.denormals:
        complaints.append("denormals are flushed")
    if not instructions.approximate(kernel) <= ROOTS:
        complaints.append(f"{instructions.approximate(kernel)}")
    return complaints


@pytest.mark.full
@pytest.mark.parametrize(("gpu", "number", "rounding"), CASES)
def test_compiled_loops_round_as_written(gpu: Target, number: NumberFormat, rounding: str) -> None:
    assert not wrong(gpu, number, rounding, loop(gpu, number, rounding))


@pytest.mark.full
@pytest.mark.parametrize(("gpu", "number", "rounding"), [case for case in CASES if case.values[2] == "separate"])
def test_contraction_is_detected_in_instructions(gpu: Target, number: NumberFormat, rounding: str) -> None:
    complaints = wrong(gpu, number, rounding, contracted(loop(gpu, number, rounding)))
    assert any("fused operations" in complaint for complaint in complaints)


@pytest.mark.full
@pytest.mark.parametrize(("gpu", "number", "rounding"), CASES)
def test_compiled_self_test_keeps_its_operations(gpu: Target, number: NumberFormat, rounding: str) -> None:
    """Its products and sums are apart, and its two fma are two."""
    text = source_text(number, rounding, class_variant(gpu.device_class, number, False), MANDELBROT)
    kernels = built(gpu, text)
    assert instructions.fused(kernels["selftest_shapes"]) == (2 if rounding == "fused" else 0)
    assert kernels["selftest_shapes"].denormals
    assert not instructions.approximate(kernels["selftest_shapes"])


@pytest.mark.parametrize("gpu", [gpu for gpu in targets() if gpu.chip == "gfx1030"], ids=["gfx1030"])
def test_compiler_refusal_is_a_build_failure(gpu: Target) -> None:
    with pytest.raises(CannotBuildError, match="error"):
        gpu.compiler.build("kernel void broken(global int *a) { a[0] = nothing; }", gpu.chip)
