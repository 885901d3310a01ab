"""Validate counts before anything is timed, on each device, and as a whole if the picture is known."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words, sha256
from mandelcl.core.job import Job
from mandelcl.lab.studies import reference

KNOWN = Path(__file__).with_name("known.json")


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether counts are right, how many pixels are not (None: unknown), and how that was found out."""

    ok: bool
    differing: int | None
    checked: str

    @property
    def word(self) -> str:
        """`ok` or `WRONG`."""
        return "ok" if self.ok else "WRONG"


def key_of(job: Job, order: str = "") -> str:
    """Return what names a job's counts, however they are found."""
    view = job.view
    lattice = view.lattice
    step = (view.pitch,) if lattice.is_upright else lattice.matrix
    grid = (lattice.re, lattice.im, *step, view.width, view.height, lattice.column, lattice.row)
    what = (job.iterations, job.radius_squared, job.formula, job.number, order or job.rounding)
    return hashlib.sha256(" ".join(map(str, (*grid, *what))).encode()).hexdigest()[:24]


def fingerprint(counts: Words) -> bytes:
    """Return the sums of all rows and columns: fast to make, and different where two runs differ."""
    return b"".join(counts.sum(axis=axis, dtype=np.uint64).tobytes() for axis in (0, 1))


@cache
def known() -> dict[str, str]:
    """Return the SHA-256 of counts that a program in C has computed, every pixel, by `key_of`."""
    entries: dict[str, str] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return entries


class Validator:
    """Compares the counts of devices with what is known of a job, and with those of the first device that was right."""

    def __init__(self) -> None:
        self._samples: dict[str, tuple[npt.NDArray[np.int64], Words]] = {}
        self._first: tuple[str, str, Words] | None = None

    def sample(self, job: Job, order: str = "") -> tuple[npt.NDArray[np.int64], Words]:
        """Return places in a resolved job's picture and what the counts there must be."""
        key = key_of(job, order)
        if key not in self._samples:
            places = reference.sample(job)
            self._samples[key] = places, reference.counts(job, places, order)
        return self._samples[key]

    def check(self, job: Job, counts: Words, spec: str, order: str = "") -> Validation:
        """Return the validation of the counts of a resolved job by a device (its SPEC) or a program.

        A picture whose SHA-256 is known is compared whole. Otherwise a sample, or all of a small picture, is computed
        again without OpenCL; and all pixels are compared with those of the first device that passed.
        """
        key = key_of(job, order)
        places, expected = self.sample(job, order)
        differing = int(np.count_nonzero(counts.reshape(-1)[places] != expected))
        first = self._first if self._first is not None and self._first[0] == key else None
        if first is not None:
            differing = max(differing, int(np.count_nonzero(counts != first[2])))
        expected_digest = known().get(key)
        if expected_digest is not None:
            ok = sha256(counts) == expected_digest
            validation = Validation(ok, 0 if ok else differing or None, "every pixel (known SHA-256)")
        else:
            whole = len(places) == job.view.pixels
            checks = ["every pixel recomputed" if whole else f"{len(places)} pixels recomputed"]
            checks += [f"all against {first[1]}"] if first is not None else []
            validation = Validation(not differing, differing, ", ".join(checks))
        if validation.ok and first is None:
            self._first = key, spec, counts
        return validation
