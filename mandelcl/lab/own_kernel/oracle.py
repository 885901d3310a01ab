"""The right counts of every pixel of a job, computed without OpenCL and once for all devices."""

from collections.abc import Callable

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.lab.own_kernel.replay import Pixels, in_parts
from mandelcl.lab.studies import reference
from mandelcl.lab.studies.validation import Validation, Validator, key_of

_MOST_S = 40.0
# Iterations a second of numpy on one core, roughly: fma is put together from some twenty operations.
_RATES = {"separate": 1e8, "fused": 6e6}


class Oracle(Validator):
    """Validates counts against those of every pixel, recomputed where that takes seconds rather than hours.

    Otherwise a sample is recomputed, and every pixel is compared with the first device whose counts, by our own kernel,
    passed that. `check` is called from time to time, and may raise.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__()
        self._check_stop = check
        self._right: dict[str, Words | None] = {}
        self._checked: dict[str, str] = {}

    def counts(self, job: Job) -> tuple[Words, str]:
        """Return the counts of a resolved job, and how they are known; raises DeviceError if they are not yet."""
        key = key_of(job)
        counts = self._computed(job)
        if counts is None:
            raise DeviceError("nothing to compare it with: no device has counts of our own kernel that passed")
        return counts, self._checked[key]

    def check(self, job: Job, counts: Words, spec: str, order: str = "") -> Validation:
        """Return the validation of the counts that our own kernel has on a device, by its SPEC."""
        key = key_of(job)
        right = self._computed(job)
        if right is not None:
            differing = int(np.count_nonzero(counts != right))
            return Validation(not differing, differing, self._checked[key])
        validation = super().check(job, counts, spec, order)
        if validation.ok:
            self._right[key] = counts.copy()
            self._checked[key] = f"every pixel, with ours on {spec} ({validation.checked})"
        return validation

    def _computed(self, job: Job) -> Words | None:
        key = key_of(job)
        if key not in self._right:
            self._right[key] = self._recomputed(job) if self._seconds(job) <= _MOST_S else None
            self._checked[key] = "every pixel recomputed"
        return self._right[key]

    def _seconds(self, job: Job) -> float:
        """Return about how long it takes to recompute every pixel on one core."""
        _, expected = self.sample(job)
        return float(expected.mean()) * job.view.pixels / _RATES[job.rounding]

    def _recomputed(self, job: Job) -> Words:
        def counts(pixels: Pixels) -> Words:
            self._check_stop()
            return reference.counts(job, pixels)

        every = np.arange(job.view.pixels, dtype=np.int64)
        return in_parts(counts, every).reshape(job.view.height, job.view.width)
