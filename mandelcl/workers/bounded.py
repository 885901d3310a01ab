"""Programs that are run for at most so many seconds, without those for which others keep them from running."""

import subprocess
import time
from collections.abc import Sequence
from typing import Any

from mandelcl.workers.run_delay import RunDelay

_LOOK_S = 1.0


def run_bounded(command: Sequence[str], seconds: float, **options: Any) -> "subprocess.CompletedProcess[Any]":
    """Run a program, as `subprocess.run` does with the options of `subprocess.Popen`.

    Raises subprocess.TimeoutExpired where it takes longer; it is killed then.
    """
    with subprocess.Popen(command, **options) as process:
        delay, begun = RunDelay(process.pid), time.monotonic()
        try:
            while True:
                try:
                    out, errors = process.communicate(timeout=min(_LOOK_S, seconds))
                    return subprocess.CompletedProcess(command, process.returncode, out, errors)
                except subprocess.TimeoutExpired:
                    now = time.monotonic()
                    if now - begun - delay.between(begun, now) > seconds:
                        raise
        except BaseException:
            process.kill()
            raise
