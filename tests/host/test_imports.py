"""What importing costs: OpenCL is loaded only where it is needed. The layers are held by `lint-imports`."""

import ast
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import mandelcl
from mandelcl.cli import _COMMANDS


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "module", ["mandelcl", "mandelcl.cli", "mandelcl.base.view", "mandelcl.files.output", "mandelcl.opencl.runtimes"]
)
def test_importing_loads_no_opencl(module: str) -> None:
    assert python(f"import sys, {module}; print('pyopencl' in sys.modules)") == "False\n"


def test_signals_are_answered_before_anything_else_is_loaded() -> None:
    code = "import sys; before = {*sys.modules}; import mandelcl.__main__; print(*sorted({*sys.modules} - before))"
    assert set(python(code).split()) <= {
        "gc",
        "mandelcl",
        "mandelcl.__main__",
        "mandelcl.base",
        "mandelcl.base.interrupts",
    }


HEAVY = ("numpy", "pyopencl", "rich", "PIL")


@pytest.mark.full
@pytest.mark.parametrize("command", ["", *_COMMANDS])
def test_help_loads_nothing_that_computes(command: str) -> None:
    code = f"""
import sys
from mandelcl.cli import main
sys.argv = ["mandelcl", *{[command] if command else []}, "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in {HEAVY} if name in sys.modules])
"""
    shown = python(code)
    assert shown.startswith("Usage: mandelcl")
    assert shown.splitlines()[-1] == "[]"


def test_public_names_are_there() -> None:
    code = "import mandelcl; print(all(getattr(mandelcl, name) for name in mandelcl.__all__))"
    assert python(code) == "True\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mandelcl.nothing


@pytest.mark.full
def test_no_two_public_classes_have_one_name() -> None:
    modules = Path(mandelcl.__file__).parent.rglob("*.py")
    statements = [one for path in modules for one in ast.parse(path.read_text(encoding="utf-8")).body]
    names = Counter(one.name for one in statements if isinstance(one, ast.ClassDef) and not one.name.startswith("_"))
    assert len(names) > 300
    assert [name for name, times in names.items() if times > 1] == []
