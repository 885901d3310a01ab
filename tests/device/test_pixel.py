"""The host's own count of a pixel agrees with the oracle's and the devices', in every number and rounding."""

import random

from mandelcl.engine.methods import direct as pixel
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.targets import Target


def test_single_pixels_agree_with_the_device(target: Target) -> None:
    job = target.job(views.whole(31, 23), 400)
    field, _ = render(job, target.device)
    chance = random.Random(1)
    for _ in range(20):
        column, row = chance.randrange(31), chance.randrange(23)
        assert pixel.count(job, column, row, 400) == field.counts[row, column]


def test_periodic_orbit_is_inside_at_any_limit(target: Target) -> None:
    job = target.job(views.whole(31, 23), 4_000_000_000)
    assert pixel.count(job, 21, 11, 500) == 4_000_000_000, "c is about 0.03"


def test_time_limit_ends_the_measurement(target: Target) -> None:
    job = target.job(views.whole(31, 23), 60)
    inside = (int(31 * 0.6), 11)
    assert pixel.count(job, *inside, 60) == 60
    assert pixel.count(job, *inside, 59) is None
