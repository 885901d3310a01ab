"""The layers: a module imports only from those below it, and OpenCL is loaded only where it is needed."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import mandelcl

PACKAGE = Path(mandelcl.__file__).parent

# Top to bottom, in the design's order and with its names. Some packages have an order inside, too; others stand for all
# of their modules.
LAYERS = (
    "__main__",
    "cli",
    "studies",
    "published",
    "comparison",
    "tracing_picture",
    "streaming",
    "resuming",
    "rendering",
    "crew.crew",
    "crew.seat",
    "worker",
    "crew.handle",
    "computation",
    "crew.crosscheck",
    "crew.checking",
    "pixel",
    "crew.sharing",
    "crew.buffers",
    "crew.wire",
    "tune",
    "algorithms",
    "rate",
    "choose",
    "selftest",
    "known_answers",
    "program",
    "launch",
    "memory",
    "building",
    "bands",
    "store",
    "schedule",
    "variant",
    "opencl.device",
    "opencl.quirks",
    "opencl.absence",
    "opencl.runtimes",
    "opencl.vendors",
    "source",
    "cache",
    "colour",
    "palettes",
    "files.loading",
    "files.output",
    "files.bigtiff",
    "files.deepzoom",
    "files.png",
    "files.archive",
    "files.paths",
    "files.leftovers",
    "files.strips",
    "report",
    "locations",
    "field",
    "fixed",
    "numbers",
    "job",
    "view",
    "errors",
)
# Packages with an order of their own.
ORDERED = {layer.partition(".")[0] for layer in LAYERS if "." in layer}
# These may be built on pyopencl; `absence` and `runtimes` only speak of it.
OPENCL = {"opencl.device"}
# Its public names are looked up in the modules when first asked for.
ROOT = "__init__"


def layer_of(parts: Sequence[str]) -> str:
    """Return the layer of a module or of a name in it, from the parts of its name below `mandelcl`."""
    return ".".join(parts[: 2 if parts[0] in ORDERED else 1])


def modules() -> dict[str, list[Path]]:
    """Return the files of each layer."""
    found: dict[str, list[Path]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in ORDERED or parts[1] != ROOT:
            found.setdefault(layer_of(parts), []).append(path)
    return found


def imported(path: Path) -> Iterator[str]:
    """Yield the full name of everything that a file imports, wherever in it."""
    package = ("mandelcl", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(
                [*package[: len(package) + 1 - node.level], node.module or ""] if node.level else [node.module or ""]
            )
            yield from (f"{base}.{alias.name}".replace("..", ".") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            first = node.args[0]
            yield str(first.value) if isinstance(first, ast.Constant) else "dynamic"


def layers_used(path: Path) -> set[str]:
    """Return the layers that a file imports from; `mandelcl` itself where a public name is taken from there."""
    used = set()
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "mandelcl" and len(parts) > 1:
            layer = layer_of(parts[1:])
            used.add(layer if layer in LAYERS else "mandelcl")
    return used


def test_every_module_has_its_place() -> None:
    assert len(set(LAYERS)) == len(LAYERS)
    assert set(modules()) - {ROOT} <= set(LAYERS)
    assert "utils" not in modules()


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer in modules()])
def test_imports_point_downwards(layer: str) -> None:
    below = set(LAYERS[LAYERS.index(layer) + 1 :])
    for path in modules()[layer]:
        used = layers_used(path)
        allowed = below | ({layer} if (PACKAGE / layer).is_dir() else set())
        if layer in ("cli", "__main__"):
            allowed.add("mandelcl")  # its version
        assert used <= allowed, f"{path.name} imports from {sorted(used - allowed)}"


def test_one_module_alone_imports_pyopencl() -> None:
    for layer, paths in modules().items():
        for path in paths:
            uses = any(name.partition(".")[0] == "pyopencl" for name in imported(path))
            assert uses == (layer in OPENCL), path


def test_the_test_sees_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "cli").mkdir()
    path = tmp_path / "cli" / "x.py"
    path.write_text(
        "from mandelcl import view\nfrom mandelcl.opencl.device import Device\nfrom mandelcl.files import paths\n"
        "import mandelcl.job\nfrom . import options\nfrom ..cache import read\ndef f():\n  import mandelcl.rate as r\n"
        "  importlib.import_module('mandelcl.store')\n"
    )
    assert layers_used(path) == {"view", "opencl.device", "files.paths", "job", "cli", "cache", "rate", "store"}


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "module", ["mandelcl", "mandelcl.cli", "mandelcl.view", "mandelcl.files.output", "mandelcl.opencl.runtimes"]
)
def test_importing_loads_no_opencl(module: str) -> None:
    assert python(f"import sys, {module}; print('pyopencl' in sys.modules)") == "False\n"


def test_help_loads_no_opencl() -> None:
    code = """
import sys
from mandelcl.cli import main
sys.argv = ["mandelcl", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("pyopencl" in sys.modules)
"""
    shown = python(code)
    assert "render" in shown
    assert shown.splitlines()[-1] == "False"


def test_public_names_are_there() -> None:
    code = "import mandelcl; print(all(getattr(mandelcl, name) for name in mandelcl.__all__))"
    assert python(code) == "True\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mandelcl.nothing
