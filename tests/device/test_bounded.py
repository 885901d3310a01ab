"""Orbits in fixed point with a bound on their error: what they prove is true, and they prove nearly all."""

import threading
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import selftest
from mandelcl.engine.computing.settings import Progress
from mandelcl.engine.variant import default_variant
from mandelcl.opencl.device import Device
from mandelcl.perturbation import counting
from mandelcl.rendering.certify import bounding, exactly, work
from mandelcl.rendering.certify.refining import Refiner
from mandelcl.rendering.render import render
from tests.device import deep
from tests.device.comparing import exact_counts
from tests.device.targets import SetPace, name_of, planes


def bounded(view: View, iterations: int, words: int, **settings: Any) -> Job:
    """Return a job of the method, with all planes."""
    settings = {"planes": ("counts", "smooth", "certified")} | settings
    return Job(view, iterations, number=f"fixed:{words}", rounding="fixed", method="bounded", **settings)


def minibrot(depth: int = 1, width: int = 12, height: int = 9) -> tuple[View, int]:
    """Return a view of a minibrot at 1e-20, or of one in it at 1e-43, and its surroundings, and an iteration limit."""
    centre, size, period = deep.minibrot(depth)
    return deep.around(centre, 3 * max(map(abs, size)), width, height), 40 * period


@pytest.mark.full
@pytest.mark.parametrize("radius_squared", [Fraction(4), Fraction(25)])
def test_proved_counts_are_exact(device: Device, radius_squared: Fraction) -> None:
    view, iterations = minibrot()
    job = bounded(view, iterations, 6, radius_squared=radius_squared)
    counts, _, _, certified = planes(job, device)[0]
    assert set(np.unique(certified)) <= {0, 1}
    assert certified.mean() > 0.99
    np.testing.assert_array_equal(counts[certified == 1], exact_counts(job)[certified == 1])
    assert len(np.unique(counts)) > 30


@pytest.mark.full
def test_too_few_bits_prove_fewer_but_exact_counts(device: Device) -> None:
    """Pixels are 1e-44 apart, which six words, with 160 bits after the point, tell apart, but not to the end."""
    view, iterations = minibrot(2, 8, 6)
    expected = exact_counts(bounded(view, iterations, 10))
    for words in (5, 6, 10):
        counts, _, _, certified = planes(bounded(view, iterations, words), device)[0]
        np.testing.assert_array_equal(counts[certified == 1], expected[certified == 1])
        assert certified.all() == (words == 10)


@pytest.mark.full
def test_launches_and_digits_change_no_bit(device: Device) -> None:
    view, iterations = minibrot()
    job = bounded(view, iterations, 6)
    expected, _ = planes(job, device)
    cut, launches = planes(job, device, block=(7, 4), pace=SetPace((3, 2), (1,)))
    np.testing.assert_array_equal(cut, expected)
    assert launches > 10
    if device.fp64:
        digits = default_variant(device, by_name(job.number), double_digits=False)
        np.testing.assert_array_equal(planes(job, device, digits)[0], expected)


@pytest.fixture
def coarse(device: Device, monkeypatch: pytest.MonkeyPatch) -> Job:
    """Return a job of which much is in doubt; nothing is made finer, and no count is too few for a device."""
    if not device.fp64:
        pytest.skip(f"{name_of(device)} takes two minutes for what gives the same bits elsewhere")
    monkeypatch.setattr(work, "finer", lambda job, _double: job)
    monkeypatch.setattr(bounding, "_WORTH", 1)
    view, iterations = minibrot(2, 12, 8)
    return Job(view, iterations, number="float", method="perturbation", planes=("counts", "certified"))


@pytest.mark.full
@pytest.mark.parametrize("smooth", [False, True])
def test_many_uncertain_counts_are_proved_on_the_device(
    device: Device, coarse: Job, smooth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture is that which whole numbers alone make of it."""
    asked: list[int] = []

    def outcomes(task: Any, points: Any, **settings: Any) -> Any:
        asked.append(len(points))
        return counted(task, points, **settings)

    counted = counting.exact_outcomes
    monkeypatch.setattr(exactly, "exact_outcomes", outcomes)
    monkeypatch.setattr(exactly.Exactly, "seconds_for", lambda *_: 0.0)  # which counts some pixels to tell the time
    job = replace(coarse, planes=("counts", "smooth", "certified")) if smooth else coarse
    by_device, report = render(job, device)
    left = sum(asked)
    monkeypatch.setattr(bounding, "_WORTH", 1 << 62)
    by_hosts, _ = render(job, device)
    alone = sum(asked) - left
    assert alone > 20
    assert left < alone / 10
    assert report.certified is not None
    assert (report.certified.share, report.certified.exactly) == (1, alone)
    np.testing.assert_array_equal(by_device.counts, by_hosts.counts)
    if smooth:
        np.testing.assert_allclose(by_device.planes["smooth"], by_hosts.planes["smooth"], atol=1e-4)


@pytest.mark.full
def test_a_device_that_fails_its_self_test_proves_nothing(
    device: Device, coarse: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = selftest.result

    def result(tested: Device, number: Any, *rest: Any, **settings: Any) -> Any:
        found = own(tested, number, *rest, **settings)
        return replace(found, passed=False) if number.name.startswith("fixed:") else found

    def refined(self: Refiner, *arguments: Any) -> Words:
        assert self._program.job.number == "float"
        return by_refiner(self, *arguments)

    by_refiner = Refiner.refined
    monkeypatch.setattr(selftest, "result", result)
    monkeypatch.setattr(Refiner, "refined", refined)
    field, report = render(coarse, device)
    assert report.certified is not None
    assert report.certified.share == 1
    np.testing.assert_array_equal(field.counts, exact_counts(coarse))


@pytest.mark.parametrize("worth", [1, 1 << 62])
def test_exact_counts_report_progress_and_can_be_cancelled(
    device: Device, coarse: Job, worth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounding, "_WORTH", worth)
    seen: list[Progress] = []
    _, report = render(coarse, device, progress=seen.append)
    assert report.certified is not None
    done = [progress.exact[0] for progress in seen if progress.exact[1] == report.certified.exactly]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, report.certified.exactly)

    cancel = threading.Event()

    def stop(progress: Progress) -> None:
        if progress.exact[0]:
            cancel.set()

    if worth > 1:  # counts on a device may all be there at once
        with pytest.raises(CancelledError):
            render(coarse, device, progress=stop, cancel=cancel)
