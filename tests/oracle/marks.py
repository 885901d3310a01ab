"""Marks of tests that need more than the oracle in Python."""

import pytest

from tests.oracle import compiled

needs_compiler = pytest.mark.skipif(not compiled.available(), reason="needs a C compiler")
