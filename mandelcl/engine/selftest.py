"""Test that a device computes correctly.

A device is tested with the same kernel parts and lanes that the loop uses, before it is first used for a job. The
result is remembered by device, driver and source text, so the test costs its fraction of a second only once.
"""

import json
import math
from dataclasses import asdict, astuple, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from mandelcl.base.errors import DeviceError, first_error
from mandelcl.base.words import Words
from mandelcl.core import timeline
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED
from mandelcl.core.numbers import NUMBERS, NumberFormat, by_name
from mandelcl.core.numbers.answers import Check
from mandelcl.engine import known_answers, microbenchmarks, source
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.files import cache as disk_cache
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.opencl import texts
from mandelcl.opencl.api import BuiltProgram
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.building import build
from mandelcl.opencl.device import Device, discover
from mandelcl.opencl.programs import kernel_of

NO_DOUBLE = "no double precision (cl_khr_fp64)"

_REHEARSAL_S = 10

_SEEN: dict[str, "SelfTestResult"] = {}  # by the cache's key, for this process
_SLOW_FMA: dict[str, bool] = {}


@dataclass(frozen=True, slots=True)
class SelfTestResult:
    """The result of the self-test for a number and rounding.

    `reason` is empty if it passed. `denormals` is whether the device keeps them. `speed` is in steps z² + c a
    second, all lanes together; 0 where the test failed. `loop_limit` is the number of iterations after which the
    driver stops a work-item's loops, silently; 0 if none was found.
    """

    passed: bool
    reason: str
    denormals: bool
    speed: float
    loop_limit: int


def result(
    device: Device,
    number: NumberFormat,
    rounding: str,
    variant: Variant | None = None,
    options: tuple[str, ...] = (),
    formula: Formula = MANDELBROT,
) -> SelfTestResult:
    """Return the result of the self-test of a formula in a number and rounding, from the cache if nothing has changed.

    `variant` is by default the one that suits the device; the test depends on its lanes and digits. `options` are
    extra build options: with relaxed maths, for instance, the test must fail.
    """
    if number.needs_fp64 and not device.fp64:
        return SelfTestResult(False, NO_DOUBLE, False, 0.0, 0)
    variant = variant or default_variant(device, number)
    text = source_text(number, rounding, variant, formula)
    key, remembered = _remembered(device, text, options)
    if remembered is not None:
        return remembered
    if device.may_abort:
        reason = _rehearsed(device, number, rounding, formula)
        if reason:
            return SelfTestResult(False, reason, False, 0.0, 0)
    try:
        with timeline.span("self-test", details={"device": device.label, "number": number.name, "rounding": rounding}):
            result = _run(device, number, rounding, formula, text, variant.lanes, options)
    except DeviceError as error:
        return SelfTestResult(False, str(error), False, 0.0, 0)  # not remembered: it may work another time
    _SEEN[key] = result
    disk_cache.write("selftest", key, json.dumps(asdict(result)).encode())
    return result


def known(
    device: Device, number: NumberFormat, rounding: str, variant: Variant, formula: Formula
) -> SelfTestResult | None:
    """Return the stored outcome of `result`, or None if the test has not been run."""
    return _remembered(device, source_text(number, rounding, variant, formula), ())[1]


def slow_fma(device: Device, number: NumberFormat, formula: Formula = MANDELBROT) -> bool:
    """Return whether a device's fma is software, in a native number.

    It is measured once for a device and driver, with the kernels of a formula's self-test, and kept: it decides how
    `auto` rounds. Where that test fails it is False.
    """
    found = known_slow_fma(device, number)
    if found is not None:
        return found
    variant = default_variant(device, number)
    if not result(device, number, "fused", variant, formula=formula).passed:
        return False
    try:
        program = build(device, source_text(number, "fused", variant, formula))
        measured = microbenchmarks.slow_fma(device, program, number, variant.lanes)
    except DeviceError:
        return False  # not kept: it may work another time
    found = known_slow_fma(device, number)  # what another process may have found meanwhile holds
    if found is None:
        key, found = _fma_key(device, number), measured
        _SLOW_FMA[key] = found
        disk_cache.write("selftest", key, json.dumps(found).encode())
    return found


def known_slow_fma(device: Device, number: NumberFormat) -> bool | None:
    """Return what `slow_fma` returns where nothing need be measured; None if it must be."""
    if not number.is_native or (number.needs_fp64 and not device.fp64):
        return False
    key = _fma_key(device, number)
    if key not in _SLOW_FMA:
        found = disk_cache.read_json("selftest", key)
        if not isinstance(found, bool):
            return None
        _SLOW_FMA[key] = found
    return _SLOW_FMA[key]


def _fma_key(device: Device, number: NumberFormat) -> str:
    return texts.digest(f"fma\n{device.identity}\n{number.name}")


def _remembered(device: Device, text: str, options: tuple[str, ...]) -> tuple[str, SelfTestResult | None]:
    """Return the cache's key of a test's text, and the result that is kept under it."""
    key = texts.digest(f"{_own_text()}\n{device.identity}\n{' '.join(options)}\n{text}")
    remembered = _SEEN.get(key) or _read_cached(key)
    if remembered is not None:
        _SEEN[key] = remembered
    return key, remembered


@dataclass(frozen=True, slots=True)
class SelftestSummary:
    """What `mandelcl devices` shows: every number in every rounding taken together.

    `fma` is `"fast"` or `"slow"` (measured); `denormals` is `"kept"`, or `"flushed"` with the numbers and roundings in
    which they are; both are `"unknown"` where the test failed.
    """

    passed: bool
    reason: str
    fma: str
    denormals: str


def summary(device: Device) -> SelftestSummary:
    """Return the results for all numbers and roundings that the device offers, as one."""
    results = {
        (number.name, rounding): result(device, number, rounding)
        for number in NUMBERS.values()
        if device.fp64 or not number.needs_fp64
        for rounding in number.roundings
    }
    failures = [f"{name} {rounding}: {v.reason}" for (name, rounding), v in results.items() if not v.passed]
    if failures:
        return SelftestSummary(False, failures[0], "unknown", "unknown")
    slow = any(slow_fma(device, number) for number in NUMBERS.values() if device.fp64 or not number.needs_fp64)
    flushed = [f"{name} {rounding}" for (name, rounding), v in results.items() if not v.denormals]
    denormals = f"flushed ({', '.join(flushed)})" if flushed else "kept"
    return SelftestSummary(True, "", "slow" if slow else "fast", denormals)


def rehearse(spec: str, number: str, rounding: str, formula: str) -> None:
    """Run the self-test in this process, which the driver may end."""
    device = next(candidate for candidate in discover() if candidate.spec == spec)
    format_, variant = by_name(number), default_variant(device, by_name(number))
    step = Formula.parse(formula)
    _run(device, format_, rounding, step, source_text(format_, rounding, variant, step), variant.lanes, ())


def _rehearsed(device: Device, number: NumberFormat, rounding: str, formula: Formula) -> str:
    """Run the self-test in another process; return why it failed, or an empty string."""
    import subprocess

    from mandelcl.workers.process import command_to_call
    from mandelcl.workers.run_delay import run_bounded

    command = command_to_call(f"{__name__}:rehearse", device.spec, number.name, rounding, formula.text)
    try:
        done = run_bounded(command, _REHEARSAL_S, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except subprocess.TimeoutExpired:
        return f"its driver hangs for {_REHEARSAL_S} s when kernels are built"
    return "" if done.returncode == 0 else f"its driver fails or ends the process: {first_error(done.stderr)}"


def source_text(number: NumberFormat, rounding: str, variant: Variant, formula: Formula) -> str:
    """Return the source text of a formula's self-test in a number and rounding, with a variant's lanes and digits."""
    defines = {"LANES": variant.lanes, "SMOOTH_RADIUS_SQUARED": int(SMOOTH_RADIUS_SQUARED)}
    defines |= {"SPEED_CHAINS": microbenchmarks.chains(number), "DIGITS_UNROLLED": int(variant.digits_unrolled)}
    defines |= number.defines(rounding, variant.double_digits)
    number_parts = number.parts(variant.double_digits)
    parts = source.formula_parts(formula, number, variant.double_digits)
    return texts.assemble((*number_parts, *parts, "selftest.cl", *number.selftest_parts), defines)


@cache
def _own_text() -> str:
    """Return the text of the test itself: when it changes, remembered results no longer hold."""
    this_file = Path(__file__)
    packages = [this_file.parents[1] / name for name in ("core/numbers", "formulas")]
    modules = [
        this_file,
        this_file.with_name("known_answers.py"),
        this_file.with_name("microbenchmarks.py"),
        *(path for package in packages for path in sorted(package.rglob("*.py"))),
    ]
    return "".join(module.read_text(encoding="utf-8") for module in modules)


def _read_cached(key: str) -> SelfTestResult | None:
    """Return the result that was kept under a key, if it is one that the test can have."""
    try:
        kept = SelfTestResult(**disk_cache.read_json("selftest", key))
    except TypeError:
        return None
    if [type(value) for value in astuple(kept)] != [bool, str, bool, float, int]:
        return None
    return kept if kept.passed == (not kept.reason) and 0 <= kept.speed < math.inf and kept.loop_limit >= 0 else None


def _run(
    device: Device,
    number: NumberFormat,
    rounding: str,
    formula: Formula,
    text: str,
    lanes: int,
    options: tuple[str, ...],
) -> SelfTestResult:
    program = device.build(text, options) if options else build(device, text)
    denormals = True
    for check in known_answers.checks(number, rounding, formula):
        got = check.canonical(_call(device, program, check, lanes))
        wrong = np.flatnonzero((got != check.canonical(check.answers)).any(axis=0))
        flushed = wrong[check.denormals[wrong]]
        denormals &= flushed.size == 0
        wrong = np.setdiff1d(wrong, flushed)
        if wrong.size:
            reason = f"wrong {check.what}: {_difference(check.inputs, got, check.answers, int(wrong[0]))}"
            return SelfTestResult(False, reason, denormals, 0.0, 0)
    speed = microbenchmarks.speed(device, program, number, lanes)
    loop_limit = microbenchmarks.loop_limit(device, kernel_of(program, "selftest_loop"))
    return SelfTestResult(True, "", denormals, speed, loop_limit)


def _difference(inputs: Words, got: Words, expected: Words, case: int) -> str:
    differing = int(np.flatnonzero(got[:, case] != expected[:, case])[0])
    shown = " ".join(f"{word:08x}" for word in inputs[:, case])
    return f"for {shown} word {differing} is {got[differing, case]:08x}, not {expected[differing, case]:08x}"


def _call(device: Device, program: BuiltProgram, check: Check, lanes: int) -> Words:
    """Return what a check's kernel answers, words × cases, cases padded to whole vectors."""
    cases = check.inputs.shape[1]
    padded = np.ascontiguousarray(np.pad(check.inputs, ((0, 0), (0, -cases % lanes)), mode="edge"))
    out = np.zeros((len(check.answers), padded.shape[1]), np.uint32)
    answers = device.allocate(out.nbytes)
    values = arguments(check.kernel, {"in": device.upload(padded), "out": answers, "cases": padded.shape[1]})
    device.launch(kernel_of(program, check.kernel), (padded.shape[1] // lanes,), (1,), *values)
    device.wait(device.read(answers, out))
    return out[:, :cases]
