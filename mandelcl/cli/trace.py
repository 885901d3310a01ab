"""`--trace FILE.json`: what a command did when."""

import sys
from contextlib import AbstractContextManager

from mandelcl.base.shell import command_line
from mandelcl.core.timeline.chrome import recording
from mandelcl.version import __version__


def recorded(path: str | None, command: str) -> AbstractContextManager[None]:
    """Return a context manager that records its body to the file; None: nothing."""
    about = {"mandelcl": __version__, "command": command_line(["mandelcl", *sys.argv[1:]])}
    return recording(path, f"mandelcl {command}", about)
