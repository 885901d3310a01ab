"""Prove that a device computes correctly, and probe what it does not say of itself.

A device is tested with the very parts and lanes that the loop uses, before it is first used for a job. The verdict is
remembered by device, driver and source text, so it costs its fraction of a second once.
"""

import json
import time
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
import pyopencl as cl

from mandelcl import cache, known_answers, source
from mandelcl.device import Device, opencl_errors
from mandelcl.errors import DeviceError
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
    second, all lanes together; 0 where the test failed.
    """

    passed: bool
    reason: str
    denormals: bool
    speed: float


def verdict(device: Device, number: NumberFormat, rounding: str, options: tuple[str, ...] = ()) -> Verdict:
    """Return the self-test's verdict for a number in a rounding; from the cache where nothing has changed.

    `options` are further build options: with relaxed maths, say, the test must fail.
    """
    if number.needs_fp64 and not device.fp64:
        return Verdict(False, "no double precision (cl_khr_fp64)", False, 0.0)
    text = _text(device, number, rounding)
    key = source.digest(f"{_VERSION}\n{device.identity}\n{' '.join(options)}\n{text}")
    remembered = _recall(key)
    if remembered is not None:
        return remembered
    try:
        result = _run(device, number, rounding, text, options)
    except DeviceError as error:
        return Verdict(False, str(error), False, 0.0)  # not remembered: it may be out of memory, or mended
    cache.write("selftest", key, json.dumps(asdict(result)).encode())
    return result


@dataclass(frozen=True, slots=True)
class Summary:
    """What `mandelcl devices` tells: every number in every rounding taken together.

    `fma` is `"fast"` or `"slow"` (measured), `denormals` `"kept"` or `"flushed"`, by number where they differ; both
    `"unknown"` where the test could not be run.
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
    slow = fma_is_slow(device)
    kept = {name: v.denormals for (name, rounding), v in verdicts.items() if rounding == "separate"}
    if len(set(kept.values())) == 1:
        denormals = "kept" if kept["float"] else "flushed"
    else:
        denormals = ", ".join(f"{name} {'kept' if flag else 'flushed'}" for name, flag in kept.items())
    return Summary(True, "", "slow" if slow else "fast", denormals)


def fma_is_slow(device: Device) -> bool:
    """Return whether a step with fma takes much longer than one with separate rounding: fma is then software."""
    number = NUMBERS["float"]
    fused, separate = (verdict(device, number, rounding).speed for rounding in ("fused", "separate"))
    return fused * _SLOW_FMA < separate


def _text(device: Device, number: NumberFormat, rounding: str) -> str:
    defines = {
        "LANES": default_variant(device, number).lanes,
        "USE_FP64": int(number.needs_fp64),
        "ROUNDING_FUSED": int(rounding == "fused"),
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
        ("integer arithmetic", program.selftest_integers, known_answers.integers(), 0),
        ("rounding of a·b ± c", program.selftest_shapes, known_answers.shapes(number, fused), 10 if fused else 8),
        ("z² + c", program.selftest_number, known_answers.steps(number, fused), 6),
    )
    denormals = True
    for what, kernel, (inputs, answers), reals in checks:
        got = known_answers.canonical(number, _call(device, kernel, inputs, answers.shape[0], lanes), reals)
        expected = known_answers.canonical(number, answers, reals)
        wrong = np.flatnonzero((got != expected).any(axis=0))
        if reals:
            flushed = wrong[known_answers.has_denormals(number, inputs, expected, reals)[wrong]]
            denormals &= flushed.size == 0
            wrong = np.setdiff1d(wrong, flushed)
        if wrong.size:
            return Verdict(False, f"wrong {what}: {_difference(inputs, got, expected, int(wrong[0]))}", denormals, 0.0)
    return Verdict(True, "", denormals, _speed(device, program, number, lanes))


def _difference(inputs: Words, got: Words, expected: Words, case: int) -> str:
    plane = int(np.flatnonzero(got[:, case] != expected[:, case])[0])
    shown = " ".join(f"{word:08x}" for word in inputs[:, case])
    return f"for {shown} word {plane} is {got[plane, case]:08x}, not {expected[plane, case]:08x}"


def _call(device: Device, kernel: cl.Kernel, inputs: Words, planes: int, lanes: int) -> Words:
    """Return the kernel's output planes for the input planes, cases padded to whole vectors."""
    cases = inputs.shape[1]
    padded = np.ascontiguousarray(np.pad(inputs, ((0, 0), (0, -cases % lanes)), mode="edge"))
    out = np.zeros((planes, padded.shape[1]), np.uint32)
    flags = cl.mem_flags
    with opencl_errors(device):
        given = cl.Buffer(device.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=padded)
        taken = cl.Buffer(device.context, flags.WRITE_ONLY, out.nbytes)
        kernel(device.queue, (padded.shape[1] // lanes,), None, given, taken, np.uint32(padded.shape[1]))
        cl.enqueue_copy(device.queue, out, taken)
    return out[:, :cases]


def _speed(device: Device, program: cl.Program, number: NumberFormat, lanes: int) -> float:
    """Return the steps a second of all lanes, from a launch long enough for the host's clock."""
    items = device.compute_units * (4 if lanes > 1 else 512)
    point = np.concatenate([number.encode(Fraction(n, 4)) for n in (-1, 1)])
    flags = cl.mem_flags
    with opencl_errors(device):
        given = cl.Buffer(device.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=point)
        taken = cl.Buffer(device.context, flags.WRITE_ONLY, 4 * items)
        steps, seconds = 16, 0.0
        while seconds < _SPEED_TARGET_S and steps < 1 << 24:
            steps *= 4
            started = time.perf_counter()
            program.selftest_speed(device.queue, (items,), None, given, taken, np.uint32(steps)).wait()
            seconds = time.perf_counter() - started
    return items * lanes * 4 * steps / seconds
