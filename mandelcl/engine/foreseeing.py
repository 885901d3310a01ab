"""What a job would have built on a device, before it is asked for."""

from mandelcl.engine import selftest
from mandelcl.engine.building import loop_text
from mandelcl.engine.choose import candidates_of, settle_number
from mandelcl.engine.kernels import shaped
from mandelcl.engine.settling import settle_method
from mandelcl.engine.variant import Variant
from mandelcl.job import Job
from mandelcl.numbers import NumberFormat
from mandelcl.opencl.device import Device

_ORBITS = ("block", "survivors")  # the kernels that every picture takes by escape time


def texts(job: Job, device: Device) -> list[str]:
    """Return the texts to build for a job on a device: those of self-tests that are still to be run, and its kernels'.

    Before a self-test, the kernels are those of a device that passes it well. Nothing is computed. Raises what settling
    the job does.
    """
    job, _ = settle_method(job, [device])
    number, _ = settle_number(job, [device])
    rounding, variant, tests = _foreseen(job, number, device)
    resolved = job.resolved(number.name, rounding)
    return tests + [loop_text(resolved, shaped(variant, resolved), orbits) for orbits in _ORBITS]


def _foreseen(job: Job, number: NumberFormat, device: Device) -> tuple[str, Variant, list[str]]:
    """Return the rounding and the variant that are likely, and the self-tests before that is sure."""
    rounding, variants = candidates_of(job, number, device)
    results = [(variant, selftest.known(device, number, rounding, variant, job.formula)) for variant in variants]
    found = [(result.passed, result.speed, variant) for variant, result in results if result is not None]
    tests = [
        selftest.source_text(number, rounding, variant, job.formula) for variant, result in results if result is None
    ]
    if tests:
        return rounding, variants[0], tests
    variant = max(found, key=lambda one: one[:2])[2]
    slow = results[0][1]
    if number.has_digits or job.rounding != "auto" or slow is None or not slow.slow_fma:
        return rounding, variant, []
    rounding = number.roundings[1]
    if selftest.known(device, number, rounding, variant, job.formula) is None:
        tests = [selftest.source_text(number, rounding, variant, job.formula)]
    return rounding, variant, tests
