"""At rest the counts are those of the copied command, on each device."""

import random
import shlex
from fractions import Fraction
from typing import Any

import pytest

from mandelcl.cli import cli
from mandelcl.cli.job_options import JobOptions
from mandelcl.cli.render import command
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.explore.page import Page

CLASSIC = {"palette": "classic", "cycle": None, "offset": 0}
PLACES = (
    ("-0.75", "0", 0),
    ("-0.7436438870371587", "0.1318259042053119", 9),
    ("-0.235125", "0.827215", 5),
    ("0", "1", 14),
    ("-1.25066", "0.02012", 4),
)


def views() -> list[dict[str, Any]]:
    """Return twenty views: shallow and deep, turned, panned far from the anchor, other formulas and numbers."""
    rng = random.Random(20)
    found = []
    for k in range(20):
        re, im, depth = PLACES[k % len(PLACES)]
        zoom = Fraction(10) ** (depth * rng.randrange(0, 3 if depth < 14 else 4)) * rng.randrange(8, 16) / 8
        pitch = 4 / (zoom * 36)
        chart = {"re": re, "im": im, "pitch": f"{pitch.numerator}/{pitch.denominator}"}
        if k % 4 == 3:
            chart["rotation"] = str(rng.randrange(1, 3600) / 10)
        origin = [-32 + rng.randrange(-300, 300), -18 + rng.randrange(-300, 300)]
        wanted: dict[str, Any] = {"lattice": chart, "origin": origin, "size": [64, 36], "iterations": 400 + 100 * k}
        found.append(wanted)
    found[4] |= {"formula": {"name": "julia", "re": "-0.12", "im": "0.74"}, "number": "float"}
    found[10] |= {"formula": {"name": "burning-ship"}}
    found[15] |= {"formula": {"name": "multibrot-3"}}
    found[18] |= {"number": "float", "rounding": "separate"}
    return found


VIEWS = views()


def job_of(text: str, device: Device) -> Any:
    """Return the job of a command, as `mandelcl render` reads it."""
    words = [*shlex.split(text)[2:], "--device", device.spec]
    with command.make_context("render", words, **cli.context_settings) as context:
        values: dict[str, Any] = {name: context.params.get(name) for name in JobOptions.__dataclass_fields__}
        return JobOptions(**values).job(())


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=[pytest.mark.long] if number % 3 else []) for number in range(20)]
)
def test_view_at_rest_equals_the_copied_command(page: Page, device: Device, number: int) -> None:
    page.patience = 600  # one of the devices has no double, and is slow
    picture = page.view(VIEWS[number], devices=[device.spec])
    copied, _ = page.ask("copy", "copied", pane=0, colouring=CLASSIC)
    job = job_of(copied["command"], device)
    field, _ = render(job, [device])
    assert field.counts_sha256() == picture.sha256 == picture.of("complete")["sha256"]
