"""What a job would have built on a device, before it is asked for."""

from mandelcl.engine import selftest
from mandelcl.engine.building import loop_text
from mandelcl.engine.choose import variants_of
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.kernels import shaped
from mandelcl.engine.resolve import resolve
from mandelcl.job import Job
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Device

_ORBITS = ("block", "survivors")  # the kernels that every picture takes by escape time


def texts(job: Job, device: Device) -> list[str]:
    """Return the texts to build for a job on a device: those of self-tests that are still to be run, and its kernels'.

    Before a self-test, the kernels are those of a device that passes it well. Nothing is computed. Raises what
    `resolve` does.
    """
    of = DeviceClass.of(device, lambda number: bool(selftest.known_slow_fma(device, number)))
    resolved = resolve(job, [of]).job
    number, rounding = by_name(resolved.number), resolved.rounding
    variants = variants_of(number, device)
    results = [(variant, selftest.known(device, number, rounding, variant, job.formula)) for variant in variants]
    tests = [
        selftest.source_text(number, rounding, variant, job.formula) for variant, result in results if result is None
    ]
    found = [(result.passed, result.speed, variant) for variant, result in results if result is not None]
    variant = variants[0] if tests else max(found, key=lambda one: one[:2])[2]
    return tests + [loop_text(resolved, shaped(variant, resolved), orbits) for orbits in _ORBITS]
