"""The line about counts that rounding decides, beside folds."""

import re
from dataclasses import replace

import pytest

from mandelcl.base.errors import Token
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.report import Report
from mandelcl.formulas import Formula
from mandelcl.opencl.device import Device
from mandelcl.rendering import by_rounding
from mandelcl.rendering.certify.exactly import Exactly
from mandelcl.rendering.certify.refining import Indices
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session

NEVER_SHORT_S = 1e6


class _Never:
    def is_set(self) -> bool:
        return False


def _drawn(session: Session, formula: str, x: str, y: str, zoom: str) -> tuple[Job, Report]:
    job = Job(View.centred(x, y, zoom, 96, 64), 1000, formula=Formula.parse(formula))
    job, _ = session.resolved(job)
    return job, render(job, session)[1]


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.usefixtures("builds_perturbation")
@pytest.mark.parametrize(
    ("formula", "x", "y", "zoom", "least", "most"),
    [
        ("buffalo", "-0.5", "0.3", "1e30", 30, 80),  # half of these counts are not those of exact orbits
        ("burning-ship", "-1.768025966302943913", "-0.034725856392697519", "1e17", None, None),  # here all are
        ("mandelbrot", "0", "1", "1e30", None, None),  # no folds
    ],
)
def test_a_line_says_how_many_counts_rounding_decides(
    device: Device, formula: str, x: str, y: str, zoom: str, least: int | None, most: int | None
) -> None:
    with Session([device]) as session:
        job, report = _drawn(session, formula, x, y, zoom)
        lines = by_rounding.lines(job, report, NEVER_SHORT_S, session, True, _Never())
        if least is None or most is None:
            assert lines == []
            return
        (line,) = lines
        assert least <= int(line.partition("about ")[2].partition(" %")[0]) <= most
        assert by_rounding.lines(job, report, 1e-6, session, True, _Never()) == []  # no time for it
        proved = replace(job, planes=("counts", "certified"))
        assert by_rounding.lines(proved, report, NEVER_SHORT_S, session, True, _Never()) == []


@pytest.mark.parametrize(("width", "height"), [(1, 1), (64, 64), (65, 64), (1920, 1080), (100_000, 3), (7, 40_000)])
def test_a_sample_is_spread_over_the_view(width: int, height: int) -> None:
    view = View.centred("0", "0", "1e30", width, height, 30)
    found = by_rounding.sampled(view, 4096)
    assert 0 < found.pixels <= 4096
    assert found.pixels == view.pixels or found.pixels > 1000
    assert found.point(0, 0) == view.point(0, 0)
    last = view.point(view.width - 1, view.height - 1)
    assert all(
        abs(a - b) <= found.pitch * 2 for a, b in zip(last, found.point(found.width - 1, found.height - 1), strict=True)
    )


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.usefixtures("builds_perturbation")
def test_certifying_says_how_long_its_last_stage_takes(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def seconds_for(self: Exactly, job: Job, block: Block, indices: Indices, cancel: Token) -> float:
        asked.append(indices.size)
        seconds = original(self, job, block, indices, cancel)
        assert seconds > 0
        return seconds + 300

    original = Exactly.seconds_for
    monkeypatch.setattr(Exactly, "seconds_for", seconds_for)
    view = View.centred("-0.5", "0.3", "1e30", 12, 8)
    job, said = Job(view, 1000, formula=Formula.parse("buffalo"), planes=("counts", "certified")), list[str]()
    with Session([device]) as session:
        _, report = render(job, session, on_message=said.append)
    assert report.certified is not None
    assert report.certified.exactly <= asked[0]
    (line,) = (line for line in said if line.startswith("rounding may decide"))
    share, minutes = re.search(r"decide (\d+) % .* takes about (\d+) minutes", line).groups()  # type: ignore[union-attr]
    assert int(share) == -(-100 * asked[0] // view.pixels)
    assert int(minutes) >= 5
