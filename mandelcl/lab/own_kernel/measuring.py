"""Examine one user's kernel on one device: run it, compare every pixel, explain faults, and time it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import selftest
from mandelcl.lab.own_kernel import complaints, contract, faults
from mandelcl.lab.own_kernel.contract import KernelFile, Size
from mandelcl.lab.own_kernel.diagnosis import diagnosis
from mandelcl.lab.own_kernel.difference import first_difference
from mandelcl.lab.own_kernel.evidence import Evidence
from mandelcl.lab.own_kernel.faults import KernelFaultError, Overrun
from mandelcl.lab.own_kernel.oracle import Oracle
from mandelcl.lab.own_kernel.trial import LaunchShape, Trial
from mandelcl.lab.own_kernel.worker import RunTask
from mandelcl.lab.studies import reference
from mandelcl.lab.studies.bench import Bench, filled, with_extra
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.validation import Validation
from mandelcl.opencl import oclgrind
from mandelcl.opencl.device import Device

_CHECKED_SIZE = 37, 29  # no work-group but one of one work-item divides them
_CHECKED_ITERATIONS = 50
_CHECKED_S = 60.0
_NOT_THE_SAME = "Its counts change from run to run: work-items race for the same place, or something is never set."


def with_fault(row: Row, kind: str, explanation: Iterable[str]) -> Row:
    """Return the row with what is wrong with its kernel: the kind in a word, and lines that explain it."""
    return with_extra(row, fault=kind, explanation="\n".join(explanation))


def measured(
    bench: Bench, row: Row, device: Device, kernel: KernelFile, job: Job, shape: LaunchShape, ours: Row, oracle: Oracle
) -> Row:
    """Return the row of a kernel on a device, with its times, or with its fault; `ours` is our own kernel's row.

    Raises DeviceError for what is not the kernel's fault, and what `bench.check` raises.
    """
    if ours.error:
        raise DeviceError(f"not run, because ours cannot be: {ours.error}")
    try:
        with Trial(kernel, device.spec, by_name(job.number), bench.patience, bench.check) as trial:
            task = trial.task(job, shape)
            row = with_extra(row, local="x".join(map(str, task.local)))
            return _timed(bench, row, trial, task, job, ours, oracle, _loop_limit(device, job))
    except KernelFaultError as fault:
        return with_fault(replace(row, error=str(fault)), fault.kind, fault.explanation)


def _timed(
    bench: Bench, row: Row, trial: Trial, task: RunTask, job: Job, ours: Row, oracle: Oracle, loop_limit: int
) -> Row:
    counts, overrun = trial.run(task)
    right, checked = oracle.counts(job)
    differing = int(np.count_nonzero(counts != right))
    lines = _explained(trial, task, job, counts, right, loop_limit) if differing else []
    _require_within(overrun, task, lines)
    samples, same, overrun = trial.time(task, bench.repeat)
    _require_within(overrun, task, lines)
    validation = Validation(not differing and same, differing or None, checked)
    row = filled(row, job, samples, validation, int(right.sum(dtype=np.uint64)), float(trial.facts["build_s"]))
    if ours.kernel_s is not None and row.kernel_s is not None and row.kernel_s.median:
        row = with_extra(row, speed=ours.kernel_s.median / row.kernel_s.median)
    lines += [] if same else [_NOT_THE_SAME]
    return with_fault(row, "counts", lines) if lines else replace(row, differing_pixels=0)


def _loop_limit(device: Device, job: Job) -> int:
    return selftest.result(device, by_name(job.number), job.rounding).loop_limit


def _require_within(overrun: Overrun, task: RunTask, lines: Iterable[str]) -> None:
    """Raise KernelFaultError for a kernel that wrote beside its counts; `lines` are about those that are wrong."""
    if overrun:
        fault = faults.out_of_bounds(overrun, (task.width, task.height), _launched(task))
        raise KernelFaultError(fault.kind, str(fault), [*fault.explanation, *lines])


def _explained(trial: Trial, task: RunTask, job: Job, counts: Words, right: Words, loop_limit: int) -> list[str]:
    lines = first_difference(job, counts, right)
    lines += diagnosis(Evidence(job, counts, right, _launched(task)), loop_limit)
    swapped = contract.swapped_names(trial.parameters() or [])
    return [*lines, *([f"Look at the parameters, too: {swapped}."] if swapped else [])]


def _launched(task: RunTask) -> Size:
    return contract.launched(task.items, task.local)


def simulated(bench: Bench, kernel: KernelFile, job: Job, shape: LaunchShape, library: Path) -> Row:
    """Return the row of a small picture by a kernel in Oclgrind, with Oclgrind's messages."""
    small = _small(job)
    size = f"{small.view.width}x{small.view.height}"
    name = oclgrind.PLATFORM
    row = Row(f"{kernel.name}, checked", "", name, name, "", "", "other", extra={"number": job.number, "size": size})
    bench.check()
    patience = max(bench.patience, _CHECKED_S)
    try:
        with Trial(kernel, name, by_name(job.number), patience, bench.check, library) as trial:
            device, driver, runtime = (str(trial.facts[key]) for key in ("name", "driver", "runtime"))
            row = replace(row, device=device, driver=driver, runtime=runtime)
            counts, _ = trial.run(trial.task(small, shape))
            log = trial.complaints()
    except KernelFaultError as fault:
        return with_fault(replace(row, error=str(fault)), fault.kind, fault.explanation)
    right = reference.counts(small, np.arange(small.view.pixels)).reshape(counts.shape)
    differing = int(np.count_nonzero(counts != right))
    word = Validation(not differing, differing, "").word
    row = replace(row, validation=word, differing_pixels=differing, checked=f"every pixel of {size} recomputed")
    lines = complaints.explained(complaints.complaints(log, counts.size), kernel, counts.size)
    if lines:
        return with_fault(replace(row, error=f"Oclgrind: {lines[0].rstrip(':')}"), "oclgrind", lines)
    if differing:
        return with_fault(row, "counts", first_difference(small, counts, right))
    return row


def _small(job: Job) -> Job:
    """Return the job of the same part of the plane in few pixels and with a low iteration limit."""
    (width, height), view = _CHECKED_SIZE, job.view
    pitch = view.pitch * max(-(-view.width // width), -(-view.height // height))
    smaller = View.upright(view.lattice.re, view.lattice.im, pitch, width, height)
    return replace(job, view=smaller, iterations=min(job.iterations, _CHECKED_ITERATIONS))
