"""The automatic iteration limit follows from a survey's counts alone, and is worked out here of made-up ones."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.engine import iteration_limit
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.iteration_limit import Proofs, automatic_limit, round_up, surveyed, unproved
from mandelcl.engine.resolve import resolve

VIEW = View.centred("-0.75", "0.1", "2", 640, 640)
POINTS = 64 * 64
NEVER = 1 << 32


@dataclass
class Points:
    """Points that escape after these iterations, of which some that never do are proved inside (a `Survey`)."""

    escapes: list[int]
    proofs: bool = False
    of_reference: int = 0
    stages: list[int] = field(default_factory=list)

    def counts(self, job: Job) -> Words:
        assert job.view.pixels == len(self.escapes)
        self.stages.append(job.iterations)
        counts = np.minimum(np.array(self.escapes, np.uint64), np.uint64(job.iterations))
        return counts.astype(np.uint32).reshape(job.view.height, job.view.width)

    def proved(self, job: Job) -> Proofs:
        stays = np.array(self.escapes, np.uint64) == NEVER
        return np.asarray(stays & self.proofs).reshape(job.view.height, job.view.width)

    def period(self, job: Job) -> int:
        return self.of_reference if self.of_reference <= job.iterations else 0


def job(**changes: object) -> Job:
    open_job = replace(Job(VIEW, auto_iterations=True), **changes)  # type: ignore[arg-type]
    return resolve(open_job, [DeviceClass()]).job


def points(*groups: tuple[int, int]) -> list[int]:
    """Return so many points that escape after as many iterations, group by group, and the rest at once."""
    escapes = [count for number, count in groups for _ in range(number)]
    return escapes + [1] * (POINTS - len(escapes))


@pytest.mark.parametrize(
    ("escapes", "limit"),
    [
        (points(), 1000),
        (points((POINTS, 0)), 1000),
        (points((100, 300)), 1000),
        (points((100, 400)), 2000),
        (points((3000, 900), (100, 1700)), 10_000),
        (points((POINTS - 100, NEVER)), 1000),
        (points((4000, 40_000)), 200_000),
    ],
)
def test_limit_is_three_times_the_99_5_percentile(escapes: list[int], limit: int) -> None:
    assert automatic_limit(job(), Points(escapes)).iterations == limit


def test_survey_continues_while_few_points_escape() -> None:
    late = Points(points((4050, 100_000)))
    assert automatic_limit(job(), late) == iteration_limit.IterationLimit(500_000)
    assert late.stages[:4] == [1000, 8000, 64_000, 512_000]
    inside = Points([NEVER] * POINTS, proofs=True)
    assert automatic_limit(job(), inside) == iteration_limit.IterationLimit(1000)
    assert inside.stages == [1000]


def test_survey_without_an_answer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs may come sooner on one device than on another; the limit is the same with all and without any."""
    dark = Points([NEVER] * POINTS)
    found = automatic_limit(job(), dark)
    assert found.iterations == automatic_limit(job(), replace(dark, proofs=True, stages=[])).iterations == 1000
    assert max(dark.stages) < iteration_limit.MOST, "the bound on work comes first"
    (note,) = found.notes
    assert f"{max(dark.stages):,}" in note
    assert "--iterations" in note
    monkeypatch.setattr(iteration_limit, "_MOST_WORK", float("inf"))
    dark.stages.clear()
    assert automatic_limit(job(), dark).notes
    assert max(dark.stages) == iteration_limit.MOST


def test_survey_continues_to_its_own_suggestion() -> None:
    censored = Points(points((2000, 999), (1500, 4500), (300, 13_000)))
    assert automatic_limit(job(), censored).iterations == 50_000
    assert censored.stages == [1000, 5000, 20_000]
    few_more = Points(points((2000, 999), (20, 4500), (1000, NEVER)))
    assert automatic_limit(job(), few_more).iterations == 5000


def test_survey_of_a_dark_view_extends_its_limit() -> None:
    """Where that shows nothing more, the limit is what it was: a proof would have said so at once."""
    late = Points(points((3000, 40_000), (100, 900)))
    assert automatic_limit(job(), late).iterations == 200_000
    never = Points(points((3000, NEVER), (100, 900)))
    assert automatic_limit(job(), never).iterations == 5000
    assert len(never.stages) > 3
    assert automatic_limit(job(), replace(never, proofs=True, stages=[])).iterations == 5000


def test_few_slow_points_do_not_raise_limit_of_inside_view() -> None:
    slow = points((POINTS - 20, NEVER), (8, 500_000), (6, 60_000))
    limits = [automatic_limit(job(), Points(slow, proofs)).iterations for proofs in (False, True)]
    assert limits == [1000, 1000]


def test_a_minibrot_has_two_periods_of_its_reference() -> None:
    for period, limit in ((0, 1000), (300, 1000), (900, 1800), (3300, 6600)):
        assert automatic_limit(job(), Points(points((500, NEVER)), of_reference=period)).iterations == limit


def test_limit_is_at_least_that_of_the_job() -> None:
    assert automatic_limit(job(iterations=3000), Points(points())).iterations == 3000
    assert automatic_limit(job(iterations=10), Points(points())).iterations == 1000


@pytest.mark.parametrize(("width", "height"), [(1, 1), (16, 9), (1920, 1080), (7, 4000)])
def test_views_of_all_sizes(width: int, height: int) -> None:
    view = View.centred("-0.75", "0.1", "2", width, height)
    small = surveyed(replace(job(), view=view)).view
    assert max(small.width, small.height) <= 64
    assert automatic_limit(job(view=view), Points([7] * small.pixels)).iterations == 1000
    assert automatic_limit(job(view=view), Points([NEVER] * small.pixels, proofs=True)).iterations == 1000


def test_unproved_inside_pixels() -> None:
    half = Points(points((POINTS // 2, NEVER)))
    assert unproved(replace(job(), iterations=500), half) == 0.5
    assert unproved(replace(job(), iterations=500), replace(half, proofs=True)) == 0
    assert unproved(replace(job(), iterations=500), Points(points())) == 0


def test_resolved_jobs_have_no_automatic_limit() -> None:
    """With a survey or without one, and the number follows from the limit."""
    at_edge = Job(View.centred("-0.75", "0.1", "1e3", 640, 480), auto_iterations=True)
    assert not resolve(at_edge, [DeviceClass()]).job.auto_iterations
    surveys: list[Callable[[], Points]] = [lambda: Points([1] * 64 * 48), lambda: Points([400_000] * 64 * 48)]
    for make in surveys:
        survey = make()
        resolved = resolve(at_edge, [DeviceClass()], survey).job
        fixed = replace(at_edge, iterations=resolved.iterations, auto_iterations=False)
        assert resolved == resolve(fixed, [DeviceClass()]).job
    assert resolved.iterations == 2_000_000


def test_automatic_limit_survives_json() -> None:
    open_job = Job(VIEW, auto_iterations=True)
    assert Job.from_json(open_job.to_json()) == open_job
    assert "auto" not in Job(VIEW, number="float", rounding="fused", method="direct").to_json()
    with pytest.raises(InvalidInputError, match="auto_iterations"):
        Job.from_json(open_job.to_json().replace('"auto_iterations": true', '"auto_iterations": 1'))
    assert [round_up(number) for number in (1, 3, 5, 11, 999, 1001, 50_001)] == [1, 5, 5, 20, 1000, 2000, 100_000]
