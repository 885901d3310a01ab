"""Choose the devices for a job, and the shapes of their kernels."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from mandelcl.base.errors import DeviceError
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.engine import selftest
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.iteration_limit import Survey
from mandelcl.engine.methods import method_of
from mandelcl.engine.resolve import ResolvedJob, resolve
from mandelcl.engine.variant import Variant, default_variant, suited
from mandelcl.formulas import Formula
from mandelcl.opencl.device import Device, discover
from mandelcl.opencl.naming import named, names

# Devices, or SPECs as on the command line; none for the fastest.
DeviceSelection: TypeAlias = Device | str | Sequence[Device | str]


@dataclass(frozen=True, slots=True)
class Choice:
    """A device, the resolved job, and warnings for the user.

    `loop_limit` and `speed` come from the self-test: the number of iterations after which the driver stops a
    work-item's loops, 0 for none; and about how many iterations a second the device makes, 0 if it was not tested.
    """

    device: Device
    job: Job
    variant: Variant
    loop_limit: int = 0
    warnings: tuple[str, ...] = ()
    speed: float = 0.0


def matching(specs: Sequence[str], devices: Sequence[Device] | None = None) -> list[Device]:
    """Return the devices that any SPEC names, in the order of `discover`; all devices if there is no SPEC.

    A SPEC is `platform:device` in numbers, `cpu`, `gpu`, `all`, or part of a device's or platform's name in any case.
    Raises NoDeviceError for one that names nothing.
    """
    return named(specs, discover() if devices is None else devices)


def select(devices: DeviceSelection) -> tuple[list[Device], set[str]]:
    """Return the devices that a selection names, and the SPECs of those that are required.

    Required are devices, and those that a SPEC names alone; of several that one names, such as `all`, those that cannot
    do a job may be left out. Raises as `matching` does.
    """
    requests = [devices] if isinstance(devices, Device | str) else list(devices)
    given_devices = [device for device in requests if isinstance(device, Device)]
    specs = [spec for spec in requests if isinstance(spec, str)]
    available = discover() if specs else []
    others = (
        [device for device in matching(specs, available) if device.spec not in {d.spec for d in given_devices}]
        if specs
        else []
    )
    alone = [[device.spec for device in available if names(spec, device)] for spec in specs]
    return given_devices + others, {device.spec for device in given_devices} | {
        one[0] for one in alone if len(one) == 1
    }


def class_of(device: Device, formula: Formula, self_test: bool = True) -> DeviceClass:
    """Return the class of a device.

    Whether its fma is software is found out with the self-test of a formula; without a self-test it is taken to be
    hardware.
    """
    return DeviceClass.of(device, lambda number: self_test and selftest.slow_fma(device, number, formula))


def fastest(job: Job, devices: Sequence[Device], self_test: bool = True, survey: Survey | None = None) -> Choice:
    """Return the fastest of the devices that pass the self-test, with the job resolved for all of them.

    Speed is the self-test's: steps z² + c a second in the job's number and rounding. GPUs are tried first, then devices
    with vectors, then the rest, so that a first run tests few. With `self_test` off the first device
    is returned untested. Raises DeviceError if no device can do the job, with the reason for each. All of a job that
    this depends on is in `choice_cache`, which stores it.
    """
    classes = [class_of(device, job.formula, self_test) for device in devices]
    resolved = resolve(job, classes, survey)
    if not self_test:
        return _able(resolved, devices[:1], self_test)[0][0]
    number = by_name(resolved.job.number)
    reasons: list[str] = []
    for tier in range(3):
        able, refused = _able(
            resolved, [device for device, of in zip(devices, classes, strict=True) if of.tier(number) == tier], True
        )
        if able:
            choice = max(able, key=lambda candidate: candidate.speed)
            note = suited(choice.device, number, choice.variant.double_digits).note
            return replace(choice, warnings=(*choice.warnings, note)) if note else choice
        reasons += refused.values()
    raise DeviceError(f"no device can do this job; {'; '.join(reasons)}")


def several(
    job: Job, devices: Sequence[Device], self_test: bool = True, required_specs: Collection[str] | None = None
) -> tuple[list[Choice], list[str]]:
    """Return the devices that share a job, which is resolved for all of them, and notes on those left out.

    A device that fails the self-test, or would give other bits, is left out. Raises DeviceError if its SPEC is in
    `required_specs` (by default all), or none is left.
    """
    resolved = resolve(job, [class_of(device, job.formula, self_test) for device in devices], shared=True)
    able, refused = _able(resolved, devices, self_test)
    if not able:
        raise DeviceError(f"no device can do this job; {'; '.join(refused.values())}")
    missed = [reason for spec, reason in refused.items() if required_specs is None or spec in required_specs]
    if missed:
        raise DeviceError(f"not every device named can do this job; {'; '.join(missed)}")
    return able, [f"left out: {reason}" for reason in refused.values()]


def _able(resolved: ResolvedJob, devices: Sequence[Device], self_test: bool) -> tuple[list[Choice], dict[str, str]]:
    """Return the devices that can do a job, and by SPEC the reasons why the others cannot."""
    job, warnings = resolved.job, resolved.warnings
    able: list[Choice] = []
    refused: dict[str, str] = {}
    for device in devices:
        variant, result = try_out(job, device, self_test)
        reason = refusal(job, result)
        if reason is None:
            able.append(Choice(device, job, variant, result.loop_limit, warnings, result.speed))
        else:
            refused[device.spec] = f"{device.label}: {reason}"
    return able, refused


def try_out(job: Job, device: Device, self_test: bool) -> tuple[Variant, selftest.SelfTestResult]:
    """Return the variant for a device in a resolved job, and the result of the self-test with it.

    If a number's digits may be of two kinds, the faster kind is chosen. With `self_test` off the device is taken to
    pass.
    """
    number = by_name(job.number)
    if not self_test:
        return default_variant(device, number), selftest.SelfTestResult(True, "", True, 0.0, 0)
    test = partial(selftest.result, device, number, job.rounding, formula=job.formula)
    results = [(variant, test(variant)) for variant in variants_of(number, device)]
    return max(results, key=lambda one: (one[1].passed, one[1].speed))


def variants_of(number: NumberFormat, device: Device) -> list[Variant]:
    """Return the variants with which a device is tested in a number."""
    if not number.has_digits:
        return [default_variant(device, number)]
    # Many GPUs have few units for double. On a CPU both kinds need not be measured, and wide numbers build slowly.
    kinds = {device.fp64, False} if device.type == "gpu" else {device.fp64}
    return [default_variant(device, number, double_digits) for double_digits in kinds]


def lacks_double(job: Job) -> str:
    """Return why a device without double must not be used for a resolved job, and what to choose."""
    return (
        f"{selftest.NO_DOUBLE}; the numbers auto and {'float' if job.method == 'perturbation' else 'fp128'} need none"
    )


def refusal(job: Job, result: selftest.SelfTestResult) -> str | None:
    """Return why a device with this self-test result must not be used for a resolved job; None if it may."""
    if result.reason == selftest.NO_DOUBLE:
        return lacks_double(job)
    if not result.passed:
        return f"self-test failed: {result.reason}"
    if not result.denormals and method_of(job).meets_denormals(job, by_name(job.number)):
        return f"it flushes denormals of {job.number} to zero, which this view can reach; --number fp128 has none"
    return None
