"""Kernel texts can be read: no line is longer than those of Python may be, and comments are of one style."""

import re
from pathlib import Path

import pytest

from mandelcl.engine import source

COLUMNS = 120

parts = pytest.mark.parametrize("path", sorted(source.folder().glob("*.cl")), ids=lambda path: path.name)


@parts
def test_lines_fit(path: Path) -> None:
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
