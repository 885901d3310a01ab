"""The entry point of another interpreter: a worker, or one function, with the parent's search paths last.

    python -P mandelcl/workers/__main__.py ROLE [PATH ...]
    python -P mandelcl/workers/__main__.py call PACKAGE.MODULE:FUNCTION TEXT ... -- [PATH ...]

It is run as a file, so that the package of the parent is imported, whatever `sys.path` has under its name. The paths
are those of the parent; those that this interpreter lacks are searched last, and so hide none of its own modules.
`python -m mandelcl.workers ROLE` does the same if the package is installed.
"""

import importlib.util
import sys
from pathlib import Path


def _import_own_package() -> None:
    if "mandelcl" in sys.modules:
        return
    home = Path(__file__).absolute().parents[1]
    spec = importlib.util.spec_from_file_location(
        "mandelcl", home / "__init__.py", submodule_search_locations=[str(home)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["mandelcl"] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


def main() -> None:
    """Serve in the role that the command line names, or call the function."""
    what, *rest = sys.argv[1:]
    texts: list[str] = []
    if what == "call":
        end = len(rest) - rest[::-1].index("--") - 1
        texts, rest = rest[:end], rest[end + 1 :]
    sys.path += [path for path in rest if path not in sys.path]
    _import_own_package()
    if what == "call":
        from mandelcl.workers.roles import find

        find(texts[0])(*texts[1:])
    else:
        from mandelcl.workers.channel import serve

        serve(what)


if __name__ == "__main__":
    main()
