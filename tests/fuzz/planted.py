"""Faults that are planted in mandelcl for a run, to see that it finds them."""

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

_PR_SET_PDEATHSIG = 1
_FAR = 32  # of anchors
VARIABLE = "MANDELCL_FUZZ_PLANT"  # of the environment: the fault that processes under test are to have, too


def _traceback() -> None:
    """Have an error of a decompressor pass, as one did in 0.1: members packed in ways that .npz files are not."""
    from mandelcl.files import archive

    def opened(packed: zipfile.ZipFile, name: str) -> Any:
        return packed.open(packed.getinfo(f"{name}.npy"))

    archive._opened = opened  # type: ignore[assignment]


def _leftover() -> None:
    """Have a draft stay where writing it has failed."""
    from mandelcl.files import leftovers

    leftovers.discard = lambda _tempfile: None  # type: ignore[assignment]


def _wrong() -> None:
    """Have the reader of .npz files not compare checksums, so that damaged counts pass."""
    zipfile.ZipExtFile._update_crc = lambda *_arguments: None  # type: ignore[attr-defined]


def _token() -> None:
    """Have the explorer take any answer of a page for the proof that it knows a token."""
    import hmac
    from types import SimpleNamespace

    from mandelcl.explore import access

    taken = {"compare_digest": lambda given, _right: len(given) > 0}
    access.hmac = SimpleNamespace(**{**vars(hmac), **taken})  # type: ignore[assignment, attr-defined]


def _lie() -> None:
    """Have a cluster take counts on which two of its workers do not agree."""
    from mandelcl.rendering.crew import checking
    from mandelcl.rendering.crew.crosscheck import CheckOutcome, CrossCheck, CrossChecks

    def decided(_checks: CrossChecks, check: CrossCheck, _name: str, _results: Any) -> CheckOutcome:
        check.resolved = True
        return CheckOutcome(check, accepted=True)

    CrossChecks._decided = decided  # type: ignore[assignment, method-assign]
    checking.host_disagrees = lambda *_arguments: None


def _keyframe() -> None:
    """Have a film take any field that lies in a keyframe's place."""
    from mandelcl.film.folder import Folder

    Folder._require_own = lambda *_arguments: None  # type: ignore[method-assign]


def _anchor() -> None:
    """Have anchors of fixed point that are far from 0 pass through a float, as they passed through a double once."""
    import numpy as np

    from mandelcl.core.numbers.fixed import FixedFormat

    right = FixedFormat.encode

    def encode(number: FixedFormat, value: Fraction, what: str = "a value") -> Any:
        far = what in ("the left of the picture", "the top of the picture") and abs(value) >= _FAR
        return right(number, Fraction(float(np.float32(value))) if far else value, what)

    FixedFormat.encode = encode  # type: ignore[assignment, method-assign]


def _certificate() -> None:
    """Have every count called certified, whether there is a proof or not."""

    from mandelcl.core.planes import CERTIFIED, first_words
    from mandelcl.core.totals import Totals
    from mandelcl.rendering.certify.work import CertifiedWork, Tally

    def certify(work: CertifiedWork, block: Any, results: Any, _cancel: Any) -> tuple[Tally, Totals]:
        results.reshape(len(results), -1)[first_words(work.job.planes)[CERTIFIED.name]] = 1
        return Tally(block.pixels, block.pixels), Totals()

    CertifiedWork._certify = certify  # type: ignore[assignment, method-assign]


def _resume() -> None:
    """Have the first value of each band that was kept be another when it is read again."""
    from mandelcl.rendering.store import Band, BandStore

    right = BandStore.read

    def read(store: BandStore, number: int) -> Band:
        band = right(store, number)
        values = band.values.copy()
        values.flat[0] ^= 1
        return band._replace(values=values)

    BandStore.read = read  # type: ignore[assignment, method-assign]


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
        "token": Plant(_token, "admitted with the token", "explorer"),
        "lie": Plant(_lie, "a lying worker has changed the picture", "clusters"),
        "keyframe": Plant(_keyframe, "is another film|traceback", "films"),
        "anchor": Plant(_anchor, "counts are not the oracle's", "combinations"),
        "certificate": Plant(_certificate, "certified [0-9]+ is [0-9]+", "certified"),
        "resume": Plant(_resume, "is another file after stops", "interrupts"),
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
