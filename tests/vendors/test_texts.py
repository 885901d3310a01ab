"""No kernel is left out of what is built for other makers' GPUs."""

import re

import pytest

from mandelcl.core.numbers import DOUBLE, FLOAT, FP128, fixed
from mandelcl.opencl.arguments import KERNELS
from tests.vendors import texts
from tests.vendors.targets import targets

_KERNEL = re.compile(r"^\s*(?:KERNEL|kernel)\b[^;{(]* void (\w+)\(", re.MULTILINE)
_MADE_BY_A_MACRO = re.compile(r"^SELFTEST_CHAINS\((\w+),", re.MULTILINE)


@pytest.mark.full
def test_every_kernel_is_among_the_texts() -> None:
    target = next(target for target in targets() if target.fp64)
    found = set()
    for text in texts.every(target, (FLOAT, DOUBLE, FP128, fixed(5))):
        found |= {*_KERNEL.findall(text.text), *_MADE_BY_A_MACRO.findall(text.text)} - {"name"}
    assert found == {name for name in KERNELS if not name.startswith("study_")}


@pytest.mark.full
def test_a_text_is_of_one_number_rounding_and_kind_of_digits() -> None:
    target = targets()[0]
    every = list(texts.every(target, (FLOAT, DOUBLE, FP128)))
    assert {text.arithmetic for text in every} >= {"float fused", "double separate", "fp128 integer", "fp128 double"}
    assert len({text.text for text in every}) == len(every)
