"""Marks of tests that need more than the oracle in Python."""

import os

import pytest

from tests.oracle import compiled

INSTALL_COMPILER = "on Linux and macOS only" if os.name == "nt" else "install gcc or clang, or set CC"
needs_compiler = pytest.mark.skipif(not compiled.available(), reason="needs a C compiler")
