"""Share what tests have built, where a test has a cache of its own for other reasons."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

# Kernels, and what was found out about devices; nothing of what a command chose.
_KINDS = ("binaries", "selftest", "shading", "rates")


def share(cache: Path) -> None:
    """Copy kernels, results of self-tests and rates from this run's cache to another one, and what that has to it."""
    known = Path(os.environ["MANDELCL_CACHE"])
    for kind in _KINDS:
        for source, target in ((known, cache), (cache, known)):
            (target / kind).mkdir(mode=0o700, parents=True, exist_ok=True)
            for entry in (source / kind).glob("*"):
                if not (target / kind / entry.name).exists():
                    _copy(entry, target / kind / entry.name)


def _copy(entry: Path, path: Path) -> None:
    """Copy an entry, which another process may remove at any time, in one go."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    with suppress(FileNotFoundError):
        shutil.copy2(entry, draft)
        draft.replace(path)
