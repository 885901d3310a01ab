"""Kernel texts can be read: no line is longer than those of Python may be, and comments are of one style.

No part asks which number or arithmetic stands before it."""

import re
from pathlib import Path

import pytest

from mandelcl.opencl import texts

COLUMNS = 120

parts = pytest.mark.parametrize("path", sorted(texts.folder().glob("*.cl")), ids=lambda path: path.name)


@parts
def test_kernel_lines_fit(path: Path) -> None:
    long = [
        number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if len(line) > COLUMNS
    ]
    assert not long


@parts
def test_comments_are_of_one_style(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    comments = re.findall(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL)
    for comment in comments:
        assert comment.startswith("/* ")
        assert not re.search(r"\^-?[0-9]|[<>]=", comment), f"{comment}: write superscripts, ≤ and ≥"
    # A part need not say its own name: messages of compilers have it.
    assert not text.startswith((f"/* {path.name}", f"// {path.name}"))


# What tells one number or arithmetic from another, and the parts that may ask for it.
SECRETS = {
    r"FIXED_\w+|DOUBLE_DIGITS|DIGITS_UNROLLED": {"number_fixed.cl"},
    r"DERIVATIVE_(?!WORDS\b)\w+": {"derivative_fixed.cl"},
    r"ROUNDING_FUSED": {"number_ieee.cl", "derivative_ieee.cl", "selftest_ieee.cl"},
    r"NUMBER_WORDS": {"number_fixed.cl", "words.cl"},
    r"NUMBER_(?:BIAS|SMALL|UNIT|MORE|CUT)": set[str](),
}


@parts
def test_kernel_parts_do_not_test_the_number(path: Path) -> None:
    asked = re.findall(r"^#(?:if|ifdef|ifndef|elif)\b.*", path.read_text(encoding="utf-8"), re.MULTILINE)
    for names, parts_that_may in SECRETS.items():
        if path.name not in parts_that_may:
            assert not [line for line in asked if re.search(rf"\b(?:{names})\b", line)]
