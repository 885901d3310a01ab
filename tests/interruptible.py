"""Processes that a test stops as Ctrl-C does, on every system.

Windows sends Ctrl-C to all processes of a console, the test's own included. There a process that runs this file raises
the signal in itself, once it sees a file that the test makes.
"""

import os
import runpy
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

STOPPED = 128 + signal.SIGINT  # the exit code of a command that was stopped


class Interruptible(subprocess.Popen[str]):
    """Python with arguments such as `-m mandelcl render`, or `-c` and a program."""

    def __init__(self, *arguments: str, **settings: Any) -> None:
        self._sign = Path(tempfile.gettempdir(), f"interrupt-{secrets.token_hex(8)}")
        watching = [__file__, str(self._sign)] if os.name == "nt" else []
        super().__init__([sys.executable, *watching, *arguments], text=True, **settings)

    def interrupt(self) -> None:
        """Ask the process to stop."""
        if os.name == "nt":
            self._sign.touch()
        else:
            self.send_signal(signal.SIGINT)


def _watch(sign: Path) -> None:
    while not sign.exists():
        time.sleep(0.02)
    sign.unlink()
    signal.raise_signal(signal.SIGINT)


def _main() -> None:
    _, sign, option, what, *arguments = sys.argv
    threading.Thread(target=_watch, args=(Path(sign),), daemon=True).start()
    sys.argv, sys.path[0] = [option, *arguments], ""
    if option == "-m":
        sys.argv[0] = what
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    _main()
