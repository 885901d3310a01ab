"""A held zoom comes to other numbers and to perturbation: what these need is built before a view waits for it."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import choose, smoothing, verdicts
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.explore.prefetch import BuildPrefetcher, zoomed
from mandelcl.opencl.api import BuiltProgram
from mandelcl.opencl.device import Device


class _Counting(Device):
    """A device that counts, by thread, what its driver builds from texts or binaries."""

    def __init__(self, device: Device) -> None:
        super().__init__(device.spec, device.handle)
        self.by: list[int] = []

    def build(self, source: str, options: tuple[str, ...] = ()) -> BuiltProgram:
        self.by.append(threading.get_ident())
        return super().build(source, options)

    def load(self, binary: bytes) -> BuiltProgram:
        self.by.append(threading.get_ident())
        return super().load(binary)


@pytest.mark.full
@pytest.mark.one_device
def test_prebuilt_kernels_serve_a_held_zoom(device: Device) -> None:
    """From float to double to perturbation, three octaves a view, each view as the explorer's worker begins it."""
    counting, ahead, own = _Counting(device), BuildPrefetcher(), threading.get_ident()
    job = Job(View.centred(Fraction(0), Fraction(1), Fraction(1 << 12), 32, 32), 100)
    kinds, waited = [], []
    for _ in range(13):
        before = counting.by.count(own)
        choice = choose.fastest(job, [counting])
        work = Computation(choice, Settings())
        assert list(work.run([Block(0, 0, 32, 32)]))
        kinds.append((choice.job.method, choice.job.number))
        waited.append(counting.by.count(own) - before)
        ahead.look(job, counting)
        ahead.join()
        job = zoomed(job, 3)
    assert len(set(kinds)) >= 2
    assert kinds[-1][0] == "perturbation"
    assert waited[0] > 0
    assert not any(waited[1:])


@pytest.mark.one_device
def test_tested_device_computes_fractions(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_SEEN", {})
    monkeypatch.setattr(smoothing, "gains", lambda _device: True)
    ahead, job = BuildPrefetcher(), Job(View.centred(0, 0, 1, 32, 32), 100, planes=("counts", "smooth"))
    counting = _Counting(device)
    assert smoothing.ready(counting, job) is None
    ahead.look(job, counting)
    ahead.join()
    before, form = len(counting.by), smoothing.ready(counting, job)
    assert form is not None
    assert form.made(np.zeros((3, 8), np.uint32)).shape == (2, 8)
    assert len(counting.by) == before
