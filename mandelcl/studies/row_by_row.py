"""A study on one device in a process of its own, the role `study`: a row for each question.

The first question has the study's name, the options of a `Bench`, and the device's names; later ones are empty. To the
first the answer is the machine's name, to others a row as tables have it, and what its counts were; after the last row
it is empty.
"""

import hashlib
import platform
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.opencl.device import Device
from mandelcl.studies import find_study
from mandelcl.studies.bench import Bench
from mandelcl.studies.document import row_as_dict
from mandelcl.studies.validation import Validation, Validator, fingerprint, key_of
from mandelcl.workers.channel import IDLE, LAUNCHING, Channel


class _Noting(Validator):
    """Notes what it was asked about last: a name for the counts of a job, and a digest of them."""

    def __init__(self) -> None:
        super().__init__()
        self._noted: list[str] = []

    def check(self, job: Job, counts: Words, spec: str, order: str = "") -> Validation:
        """Return the validation as `Validator.check` does."""
        self._noted = [key_of(job, order), hashlib.blake2b(fingerprint(counts), digest_size=16).hexdigest()]
        return super().check(job, counts, spec, order)

    def taken(self) -> list[str]:
        """Return the name and the digest, if there are some that have not been taken."""
        noted, self._noted = self._noted, []
        return noted


def question(study: str, bench: Bench) -> dict[str, Any]:
    """Return the first question but for the device."""
    return {
        "study": study,
        "repeat": bench.repeat,
        "scale": str(bench.scale),
        "cap": bench.cap,
        "patience": bench.patience,
    }


def serve(channel: Channel) -> None:
    """Serve until the study has no more rows, and then until the parent closes the pipe."""
    order, validator = channel.question(), _Noting()
    options = (order["repeat"], Fraction(order["scale"]), order["cap"], order["patience"])
    bench = Bench([_named(order["device"])], *options, validator=validator)
    rows = find_study(order["study"]).run(bench)
    channel.answer({"machine": platform.node()})
    while True:
        channel.note(IDLE)
        channel.question()
        channel.note(LAUNCHING)
        row = next(rows, None)
        channel.answer({} if row is None else {"row": row_as_dict(row), "counts": validator.taken()})


def _named(device: Mapping[str, Any]) -> Device:
    found = choose.matching([device["spec"]])[0]
    if (found.name, found.platform) != (device["name"], device["platform"]):
        raise DeviceError(f"{device['name']} ({device['platform']}) is no longer there")
    return found
