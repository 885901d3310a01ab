"""Which devices a job runs on, and which number and rounding."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from mandelcl.engine import reach, selftest
from mandelcl.engine.settling import HasDouble, settle_method
from mandelcl.engine.variant import Variant, default_variant, suited
from mandelcl.errors import DeviceError, InvalidInputError, NoDeviceError
from mandelcl.job import Job
from mandelcl.methods import mapped_view, method_of
from mandelcl.names import DEVICE_TYPES
from mandelcl.numbers import NumberFormat, by_name, candidates
from mandelcl.opencl.device import Device, discover
from mandelcl.printable import quoted

# Devices, or SPECs as on the command line; none for the fastest.
DeviceSelection: TypeAlias = Device | str | Sequence[Device | str]

# What is found out of a device for a number: its rounding, its variant, and the result of its self-test with them.
Tested: TypeAlias = tuple[str, Variant, selftest.SelfTestResult]


class Labelled(HasDouble, Protocol):
    """Of a device, here or on another machine, what must be known to settle a job for it and to name it."""

    @property
    def label(self) -> str:
        """What messages call it."""


_D = TypeVar("_D", bound=Labelled)


@dataclass(frozen=True, slots=True)
class Choice:
    """A device, the job with its number and rounding settled for it, and warnings for the user.

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
    available = discover() if devices is None else list(devices)
    if not available:
        raise NoDeviceError("no OpenCL device found; `mandelcl devices` says what was tried and what to install")
    chosen: set[str] = set()
    for spec in specs or ("all",):
        named = [device.spec for device in available if _names(spec, device)]
        if not named:
            labels = ", ".join(device.label for device in available)
            raise NoDeviceError(f"no device matches {quoted(spec)}; there is {labels}")
        chosen.update(named)
    return [device for device in available if device.spec in chosen]


def select(devices: DeviceSelection) -> tuple[list[Device], set[str]]:
    """Return the devices that a selection names, and the SPECs of those that are required.

    Required are devices, and those that a SPEC names alone; of several that one names, such as `all`, those that cannot
    do a job may be left out. Raises as `matching` does.
    """
    requests = [devices] if isinstance(devices, Device | str) else list(devices)
    given_devices = [device for device in requests if isinstance(device, Device)]
    specs = [spec for spec in requests if isinstance(spec, str)]
    available = discover() if specs else []
    named = (
        [device for device in matching(specs, available) if device.spec not in {d.spec for d in given_devices}]
        if specs
        else []
    )
    alone = [[device.spec for device in available if _names(spec, device)] for spec in specs]
    return given_devices + named, {device.spec for device in given_devices} | {one[0] for one in alone if len(one) == 1}


def _names(spec: str, device: Device) -> bool:
    name = spec.strip().lower()
    if name == "all" or name == device.spec:
        return True
    if name in DEVICE_TYPES:
        return device.type == name
    return bool(name) and (name in device.name.lower() or name in device.platform.lower())


def fastest(job: Job, devices: Sequence[Device], self_test: bool = True) -> Choice:
    """Return the fastest of the devices that pass the self-test, with the job settled for it.

    Speed is the self-test's: steps z² + c a second in the job's number and rounding. GPUs are tried first, then devices
    with vectors, then the rest, so that a first run tests no more than it must. With `self_test` off the first device
    is returned untested. Raises DeviceError if no device can do the job, with the reason for each. All of a job that
    this depends on is in `recall`, which remembers it.
    """
    job, notes = settle_method(job, devices)
    number, warnings = settle_number(job, devices)
    warnings = (*notes, *warnings)
    if not self_test:
        rounding = job.rounding if job.rounding != "auto" else number.roundings[0]
        settled = job.resolved(number.name, rounding)
        return Choice(devices[0], settled, default_variant(devices[0], number), warnings=warnings)
    reasons: list[str] = []
    for tier in _tiers(devices, number):
        choices: list[Choice] = []
        for device in tier:
            rounding, variant, result = settle_rounding(job, number, device)
            reason = refusal(job, number, result)
            if reason:
                reasons.append(f"{device.label}: {reason}")
                continue
            settled = job.resolved(number.name, rounding)
            choices.append(Choice(device, settled, variant, result.loop_limit, warnings, result.speed))
        if choices:
            choice = max(choices, key=lambda candidate: candidate.speed)
            note = suited(choice.device, number, choice.variant.double_digits).note
            return replace(choice, warnings=(*choice.warnings, note)) if note else choice
    raise DeviceError(f"no device can do this job; {'; '.join(reasons)}")


def several(
    job: Job, devices: Sequence[Device], self_test: bool = True, required_specs: Collection[str] | None = None
) -> tuple[list[Choice], list[str]]:
    """Return the devices that share a job, settled alike for all of them, and notes on those left out.

    `auto` rounding is fused unless one of them has fma in software. A device that fails the self-test, or would give
    other bits, is left out. Raises DeviceError if its SPEC is in `required_specs` (by default all), or none is left.
    """
    job, notes = settle_method(job, devices)
    number, warnings = settle_number(job, devices)
    warnings = (*notes, *warnings)
    if not self_test:
        rounding = job.rounding if job.rounding != "auto" else number.roundings[0]
        settled = job.resolved(number.name, rounding)
        return [Choice(d, settled, default_variant(d, number), warnings=warnings) for d in devices], []
    job, results, slow = settle_alike(
        job, number, devices, lambda job, devices: [settle_rounding(job, number, device) for device in devices]
    )
    warnings = (*warnings, *slow)
    choices: list[Choice] = []
    reasons: dict[str, str] = {}
    for device, (rounding, variant, result) in zip(devices, results, strict=True):
        reason = refusal(job, number, result)
        if reason is None:
            settled = job.resolved(number.name, rounding)
            choices.append(Choice(device, settled, variant, result.loop_limit, warnings, result.speed))
        else:
            reasons[device.spec] = f"{device.label}: {reason}"
    if not choices:
        raise DeviceError(f"no device can do this job; {'; '.join(reasons.values())}")
    missed = [reason for spec, reason in reasons.items() if required_specs is None or spec in required_specs]
    if missed:
        raise DeviceError(f"not every device named can do this job; {'; '.join(missed)}")
    return choices, [f"left out: {reason}" for reason in reasons.values()]


def settle_alike(
    job: Job, number: NumberFormat, devices: Sequence[_D], test: Callable[[Job, Sequence[_D]], list[Tested]]
) -> tuple[Job, list[Tested], tuple[str, ...]]:
    """Return a job for devices that share it, what `test` finds of each of them, and warnings.

    Where `auto` rounding would be fused for some and separate for others, the job has `separate`.
    """
    results = test(job, devices)
    if len({rounding for rounding, _, _ in results}) < 2:
        return job, results, ()
    slow = next(device for device, (rounding, _, _) in zip(devices, results, strict=True) if rounding == "separate")
    job = job.resolved(number.name, "separate")
    return job, test(job, devices), (f"rounding is separate, since fma is software on {slow.label}",)


def _tiers(devices: Sequence[Device], number: NumberFormat) -> list[list[Device]]:
    """Return the devices in tiers, the one that is likely to be fastest first."""
    gpus = [device for device in devices if device.type in ("gpu", "accelerator")]
    rest = [device for device in devices if device not in gpus]
    vectors = [device for device in rest if device.vector_width(number.needs_fp64) > 1]
    return [gpus, vectors, [device for device in rest if device not in vectors]]


def settle_number(job: Job, devices: Sequence[HasDouble]) -> tuple[NumberFormat, tuple[str, ...]]:
    """Return the number that a job is to use, and warnings.

    A number that the user names is used, with a warning if it does not resolve the view. `auto` takes the first of
    `numbers.candidates` that does. Raises InvalidInputError if there is none, or the named one cannot do the job.
    """
    if job.number != "auto":
        number = by_name(job.number)
        view = mapped_view(job)
        beyond = number.cannot_hold(view)
        if beyond:
            raise InvalidInputError(f"{beyond}; choose another --number or view")
        beyond = reach.beyond(number, job)
        if beyond:
            raise InvalidInputError(f"{beyond}; choose {reach.able_to_iterate(job)}")
        if job.rounding not in ("auto", *number.roundings):
            raise InvalidInputError(
                f"{number.name} has no rounding {job.rounding!r}; it has {', '.join(number.roundings)}"
            )
        reason = number.unresolved(view, job.iterations)
        return number, (f"{reason}: expect blocks or noise in the picture",) if reason else ()
    return reach.resolving(job, candidates(any(device.fp64 for device in devices))), ()


def settle_rounding(job: Job, number: NumberFormat, device: Device) -> tuple[str, Variant, selftest.SelfTestResult]:
    """Return the rounding and the variant for a device, and the result of its self-test with them.

    `auto` is the number's first rounding unless its fma is software. If a number's digits may be of two kinds, the
    faster kind is chosen.
    """
    test = partial(selftest.result, device, number, formula=job.formula)
    preferred, variants = candidates_of(job, number, device)
    if number.has_digits:
        results = [(variant, test(preferred, variant)) for variant in variants]
        variant, best = max(results, key=lambda tested: (tested[1].passed, tested[1].speed))
        return preferred, variant, best
    variant = variants[0]
    tested = test(preferred, variant)
    if job.rounding != "auto" or not tested.slow_fma:
        return preferred, variant, tested
    return number.roundings[1], variant, test(number.roundings[1], variant)


def candidates_of(job: Job, number: NumberFormat, device: Device) -> tuple[str, list[Variant]]:
    """Return the rounding that is tested first for a job in a number, and the variants with which it is."""
    preferred = number.roundings[0] if job.rounding == "auto" else job.rounding
    if not number.has_digits:
        return preferred, [default_variant(device, number)]
    # Many GPUs have few units for double; on a CPU there is nothing to find out, and wide numbers build slowly.
    kinds = {device.fp64, False} if device.type == "gpu" else {device.fp64}
    return preferred, [default_variant(device, number, double_digits) for double_digits in kinds]


def refusal(job: Job, number: NumberFormat, result: selftest.SelfTestResult) -> str | None:
    """Return why a device with this self-test result must not be used for a job; None if it may."""
    if result.reason == selftest.NO_DOUBLE:
        return selftest.NO_DOUBLE
    if not result.passed:
        return f"self-test failed: {result.reason}"
    if not result.denormals and method_of(job).meets_denormals(job, number):
        return f"it flushes denormals of {number.name} to zero, which this view can reach; --number fp128 has none"
    return None
