"""Kernel texts can be read: no line is longer than those of Python may be."""

from pathlib import Path

import pytest

from mandelcl.engine import source

COLUMNS = 120


@pytest.mark.parametrize("path", sorted(source.folder().glob("*.cl")), ids=lambda path: path.name)
def test_lines_fit(path: Path) -> None:
    long = [
        number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if len(line) > COLUMNS
    ]
    assert not long
