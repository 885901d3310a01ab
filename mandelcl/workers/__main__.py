"""The entry of a worker process: `python -P mandelcl/workers/__main__.py ROLE [PATH ...]`.

It is run as a file, so that the package of the parent is imported, whatever `sys.path` has under its name. The paths
are those of the parent; those that this interpreter lacks are searched last, and so hide none of its own modules.
`python -m mandelcl.workers ROLE` does as well where the package is found anyway.
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
    """Serve in the role that the command line names."""
    role, *paths = sys.argv[1:]
    sys.path += [path for path in paths if path not in sys.path]
    _import_own_package()
    from mandelcl.workers.channel import serve

    serve(role)


if __name__ == "__main__":
    main()
