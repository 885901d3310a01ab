"""A render in a process of its own, that can be killed from outside, or kills itself at a chosen call.

    python -m tests.device.render_child FOLDER SPEC [WHAT N]

It draws `picture.png` and `field.npz` in FOLDER with --resume, keeping bands from the first block on; `ready` on
standard output says that it begins. At the N-th call of WHAT it ends as by SIGKILL.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mandelcl.colour.colour import PALETTES, Colouring
from mandelcl.core.job import Job
from mandelcl.core.report import Report
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.files import output
from mandelcl.opencl.device import Device
from mandelcl.rendering import streaming
from mandelcl.rendering.store import BandStore
from tests import posix
from tests.device import views

SIDE, ITERATIONS, BLOCK_ROWS = 320, 100_000, 16
try:
    import fcntl
except ImportError:  # Windows
    _SYNC: tuple[Any, str] = (os, "fsync")
else:  # on macOS a file reaches the disk by another call
    _SYNC = (fcntl, "fcntl") if hasattr(fcntl, "F_FULLFSYNC") else (os, "fsync")
PLACES: dict[str, tuple[Any, str]] = {
    "Path.replace": (Path, "replace"),
    "Path.unlink": (Path, "unlink"),
    "fsync": _SYNC,
    "Store.write": (BandStore, "write"),
    "Store.begin": (BandStore, "begin"),
    "Store.remove": (BandStore, "remove"),
    "Device.build": (Device, "build"),
    "write_tempfile": (output, "write_tempfile"),
    "put_in_place": (output, "put_in_place"),
}


def job() -> Job:
    return Job(views.whole(SIDE, SIDE), ITERATIONS, number="float", planes=("counts", "smooth"))


def outputs(folder: Path) -> list[Path]:
    return [folder / "picture.png", folder / "field.npz"]


def render(folder: Path, spec: str) -> Report:
    colouring = Colouring(PALETTES["classic"])
    settings = Settings(block_pixels=SIDE * BLOCK_ROWS)
    devices = choose.matching([spec])
    return streaming.render_to(outputs(folder), job(), colouring, devices, settings, resume=True, store_after=0)


def die_at(what: str, turn: int) -> None:
    """Have the process end at a call, before the call does anything."""
    owner, name = PLACES[what]
    own: Callable[..., Any] = getattr(owner, name)
    calls = [0]

    def counting(*arguments: Any, **settings: Any) -> Any:
        calls[0] += 1
        if calls[0] == turn:
            os.kill(os.getpid(), posix.signal.SIGKILL)
        return own(*arguments, **settings)

    setattr(owner, name, counting)


def main() -> None:
    folder, spec, *deadly = sys.argv[1:]
    if deadly:
        die_at(deadly[0], int(deadly[1]))
    print("ready", flush=True)
    render(Path(folder), spec)


if __name__ == "__main__":
    main()
