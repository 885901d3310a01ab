"""The host's own count of a pixel agrees with the oracle's and the devices', in every number and rounding."""

import random

from mandelcl import pixel
from mandelcl.rendering import render
from tests.device import views
from tests.device.targets import Target


def test_single_pixels_agree_with_the_device(target: Target) -> None:
    job = target.job(views.whole(31, 23), 60)
    field, _ = render(job, target.device)
    chance = random.Random(1)
    for _ in range(12):
        column, row = chance.randrange(31), chance.randrange(23)
        assert pixel.count(job, column, row, 60) == field.counts[row, column]


def test_patience_ends(target: Target) -> None:
    job = target.job(views.whole(31, 23), 60)
    inside = (int(31 * 0.6), 11)
    assert pixel.count(job, *inside, 60) == 60
    assert pixel.count(job, *inside, 59) is None
