"""Deep places have the counts of arbitrary precision, in nearly every pixel, and the same bits on every device."""

import numpy as np
import pytest

from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.golden.deep import HEIGHT, WIDTH, Place, load

PLACES = load()
every_place = pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)


def test_places_show_something() -> None:
    zooms = [place.job.view.pitch for place in PLACES]
    assert min(zooms) < 1e-40
    assert all(place.truth.shape == (HEIGHT, WIDTH) and len(np.unique(place.truth)) > 20 for place in PLACES)


@every_place
def test_counts_are_true(device: Device, place: Place) -> None:
    assert (render(place.job, device)[0].counts == place.truth).mean() >= place.share


@pytest.mark.long
@every_place
def test_truth(place: Place) -> None:
    np.testing.assert_array_equal(place.compute(), place.truth)
