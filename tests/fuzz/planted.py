"""Faults that are planted in mandelcl for a run, to see that it finds them."""

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_PR_SET_PDEATHSIG = 1
VARIABLE = "MANDELCL_FUZZ_PLANT"  # of the environment: the fault that processes under test are to have, too


def _traceback() -> None:
    """Have an error of a decompressor pass, as one did in 0.1: members packed in ways that .npz files are not."""
    from mandelcl.files import archive

    def opened(packed: zipfile.ZipFile, name: str) -> Any:
        return packed.open(packed.getinfo(f"{name}.npy"))

    archive._opened = opened  # type: ignore[assignment]


def _leftover() -> None:
    """Have a draft stay where writing it has failed."""
    from mandelcl.files import tempfiles

    tempfiles.discard = lambda _draft: None  # type: ignore[assignment]


def _wrong() -> None:
    """Have the reader of .npz files not compare checksums, so that damaged counts pass."""
    zipfile.ZipExtFile._update_crc = lambda *_arguments: None  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Plant:
    """A fault: what plants it, what the report of a case that has met it says, and which category first meets it."""

    put: Callable[[], None]
    shows: str
    category: str


PLANTS: Mapping[str, Plant] = MappingProxyType(
    {
        "traceback": Plant(_traceback, "traceback", "fields"),
        "leftover": Plant(_leftover, "was left behind", "limits"),
        "wrong": Plant(_wrong, "damaged field|numpy", "fields"),
    }
)


def plant(name: str) -> None:
    """Plant a fault in this process."""
    PLANTS[name].put()


def main() -> None:
    """Run the command line with a fault planted: its name comes first, and is empty for none.

    The process ends with the one that has started it.
    """
    import ctypes
    import sys

    from mandelcl.cli import main as command
    from tests import posix

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, posix.signal.SIGKILL)

    if sys.argv[1]:
        plant(sys.argv[1])
    sys.argv = ["mandelcl", *sys.argv[2:]]
    command()


if __name__ == "__main__":
    main()
