"""Prove that a device computes correctly, and probe what it does not say of itself.

A device is tested with the very parts and lanes that the loop uses, before it is first used for a job. The verdict is
remembered by device, driver and source text, so it costs its fraction of a second once.
"""

import json
import time
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from mandelcl import cache, known_answers, source
from mandelcl.device import Device, Kernel, kernel_of
from mandelcl.errors import DeviceError
from mandelcl.job import SMOOTH_RADIUS_SQUARED
from mandelcl.known_answers import Words
from mandelcl.numbers import NUMBERS, NumberFormat
from mandelcl.program import build
from mandelcl.variant import default_variant

_VERSION = 1
_SPEED_TARGET_S = 2e-3
_SLOW_FMA = 3.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the self-test found for a number and rounding.

    `reason` is empty where it passed. `denormals` says whether the device keeps them. `speed` is in steps z² + c a
    second, all lanes together; 0 where the test failed. `slow_fma` says that fma takes so much longer than a product
    and a sum that it must be software; it is measured with rounding `fused` only.
    """

    passed: bool
    reason: str
    denormals: bool
    speed: float
    slow_fma: bool


def verdict(device: Device, number: NumberFormat, rounding: str, options: tuple[str, ...] = ()) -> Verdict:
    """Return the self-test's verdict for a number in a rounding; from the cache where nothing has changed.

    `options` are further build options: with relaxed maths, say, the test must fail.
    """
    if number.needs_fp64 and not device.fp64:
        return Verdict(False, "no double precision (cl_khr_fp64)", False, 0.0, False)
    text = _text(device, number, rounding)
    key = source.digest(f"{_VERSION}\n{device.identity}\n{' '.join(options)}\n{text}")
    remembered = _recall(key)
    if remembered is not None:
        return remembered
    try:
        result = _run(device, number, rounding, text, options)
    except DeviceError as error:
        return Verdict(False, str(error), False, 0.0, False)  # not remembered: it may be out of memory, or mended
    cache.write("selftest", key, json.dumps(asdict(result)).encode())
    return result


@dataclass(frozen=True, slots=True)
class Summary:
    """What `mandelcl devices` tells: every number in every rounding taken together.

    `fma` is `"fast"` or `"slow"` (measured); `denormals` is `"kept"`, or `"flushed"` with the numbers and roundings in
    which they are; both are `"unknown"` where the test failed.
    """

    passed: bool
    reason: str
    fma: str
    denormals: str


def summary(device: Device) -> Summary:
    """Return the verdicts of all numbers and roundings that the device offers, as one."""
    verdicts = {
        (number.name, rounding): verdict(device, number, rounding)
        for number in NUMBERS.values()
        if device.fp64 or not number.needs_fp64
        for rounding in ("fused", "separate")
    }
    failures = [f"{name} {rounding}: {v.reason}" for (name, rounding), v in verdicts.items() if not v.passed]
    if failures:
        return Summary(False, failures[0], "unknown", "unknown")
    slow = verdicts["float", "fused"].slow_fma
    flushed = [f"{name} {rounding}" for (name, rounding), v in verdicts.items() if not v.denormals]
    denormals = f"flushed ({', '.join(flushed)})" if flushed else "kept"
    return Summary(True, "", "slow" if slow else "fast", denormals)


def _text(device: Device, number: NumberFormat, rounding: str) -> str:
    defines = {
        "LANES": default_variant(device, number).lanes,
        "USE_FP64": int(number.needs_fp64),
        "ROUNDING_FUSED": int(rounding == "fused"),
        "SMOOTH_RADIUS_SQUARED": int(SMOOTH_RADIUS_SQUARED),
    }
    return source.assemble((*number.parts, "selftest.cl", "selftest_ieee.cl"), defines)


def _recall(key: str) -> Verdict | None:
    payload = cache.read("selftest", key)
    if payload is None:
        return None
    try:
        return Verdict(**json.loads(payload))
    except (TypeError, ValueError):
        return None


def _run(device: Device, number: NumberFormat, rounding: str, text: str, options: tuple[str, ...]) -> Verdict:
    program = device.build(text, options) if options else build(device, text)
    lanes = default_variant(device, number).lanes
    fused = rounding == "fused"
    checks = (
        ("integer arithmetic", "selftest_integers", known_answers.integers(), 0),
        ("rounding of a·b ± c", "selftest_shapes", known_answers.shapes(number, fused), 10 if fused else 8),
        ("z² + c", "selftest_number", known_answers.steps(number, fused), 6),
    )
    denormals = True
    for what, name, (inputs, answers), reals in checks:
        kernel = kernel_of(program, name)
        got = known_answers.canonical(number, _call(device, kernel, inputs, answers.shape[0], lanes), reals)
        expected = known_answers.canonical(number, answers, reals)
        wrong = np.flatnonzero((got != expected).any(axis=0))
        if reals:
            flushed = wrong[known_answers.has_denormals(number, inputs, expected, reals)[wrong]]
            denormals &= flushed.size == 0
            wrong = np.setdiff1d(wrong, flushed)
        if wrong.size:
            return Verdict(
                False, f"wrong {what}: {_difference(inputs, got, expected, int(wrong[0]))}", denormals, 0.0, False
            )
    speed = _speed(device, kernel_of(program, "selftest_speed"), number, lanes)
    slow_fma = False
    if fused:
        fma, sums = (
            _speed(device, kernel_of(program, f"selftest_{chains}_chains"), number, lanes) for chains in ("fma", "sum")
        )
        slow_fma = fma * _SLOW_FMA < sums
    return Verdict(True, "", denormals, speed, slow_fma)


def _difference(inputs: Words, got: Words, expected: Words, case: int) -> str:
    plane = int(np.flatnonzero(got[:, case] != expected[:, case])[0])
    shown = " ".join(f"{word:08x}" for word in inputs[:, case])
    return f"for {shown} word {plane} is {got[plane, case]:08x}, not {expected[plane, case]:08x}"


def _call(device: Device, kernel: Kernel, inputs: Words, planes: int, lanes: int) -> Words:
    """Return the kernel's output planes for the input planes, cases padded to whole vectors."""
    cases = inputs.shape[1]
    padded = np.ascontiguousarray(np.pad(inputs, ((0, 0), (0, -cases % lanes)), mode="edge"))
    out = np.zeros((planes, padded.shape[1]), np.uint32)
    given, taken = device.upload(padded), device.allocate(out.nbytes)
    device.launch(kernel, (padded.shape[1] // lanes,), (1,), given, taken, np.uint32(padded.shape[1]))
    device.wait(device.read(taken, out))
    return out[:, :cases]


def _speed(device: Device, kernel: Kernel, number: NumberFormat, lanes: int) -> float:
    """Return the steps a second of all lanes of a kernel with four chains, from a launch that the clock can time."""
    items, local = (device.compute_units * 4, (1,)) if lanes > 1 else (device.compute_units * 512, None)
    point = np.concatenate([number.encode(Fraction(n, 4)) for n in (-1, 1)])
    given, taken = device.upload(point), device.allocate(4 * items)

    def launch(steps: int) -> float:
        started = time.perf_counter()
        device.wait(device.launch(kernel, (items,), local, given, taken, np.uint32(steps)))
        return time.perf_counter() - started

    launch(1)  # some drivers compile on the first launch
    steps, seconds = 16, 0.0
    while seconds < _SPEED_TARGET_S and steps < 1 << 24:
        steps *= 4
        seconds = min(launch(steps), launch(steps))
    return items * lanes * 4 * steps / seconds
