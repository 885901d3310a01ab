"""Marks of tests that need more than the oracle in Python."""

import os

import pytest

INSTALL_COMPILER = "on Linux and macOS only" if os.name == "nt" else "install gcc or clang, or set CC"
needs_compiler = pytest.mark.usefixtures("compiler")
