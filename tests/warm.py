"""Begin with what other tests have built, where a test has a cache of its own for other reasons."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

# Kernels, and what was found out about devices; nothing of what a command chose.
_KINDS = ("binaries", "selftest", "shading", "rates")


def warm(cache: Path) -> None:
    """Copy the kernels, the results of self-tests and the rates of this run's cache to another one."""
    known = Path(os.environ["MANDELCL_CACHE"])
    for kind in _KINDS:
        (cache / kind).mkdir(mode=0o700, parents=True, exist_ok=True)
        for entry in (known / kind).glob("*"):
            with suppress(FileNotFoundError):  # another process may remove an old one
                shutil.copy2(entry, cache / kind / entry.name)
