"""What a job would have built on a device, before it is asked for."""

from mandelcl.engine import selftest
from mandelcl.engine.building import loop_text
from mandelcl.engine.choose import candidates_of, settle_number, settle_rounding
from mandelcl.engine.program import shaped
from mandelcl.engine.settling import settle_method
from mandelcl.job import Job
from mandelcl.opencl.device import Device

_ORBITS = ("block", "survivors")  # the kernels that every picture takes by escape time


def texts(job: Job, device: Device) -> list[str]:
    """Return the texts to build for a job on a device: those of self-tests that are still to be run, and its kernels'.

    Before a self-test, the kernels are those of a device that passes it well. Nothing is computed. Raises what settling
    the job does.
    """
    job, _ = settle_method(job, [device])
    number, _ = settle_number(job, [device])
    rounding, variants = candidates_of(job, number, device)
    unknown = [one for one in variants if not selftest.is_known(device, number, rounding, one, job.formula)]
    tests = [selftest.source_text(number, rounding, variant, job.formula) for variant in unknown]
    variant = variants[0]
    if not unknown:
        rounding, variant, _ = settle_rounding(job, number, device)
    resolved = job.resolved(number.name, rounding)
    return tests + [loop_text(resolved, shaped(variant, resolved), orbits) for orbits in _ORBITS]
