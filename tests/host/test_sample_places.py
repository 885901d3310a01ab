"""Where samples lie, and which renders have several."""

from fractions import Fraction
from typing import Any

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.colour.samples import bits_of, shifts
from mandelcl.core.job import Job
from mandelcl.rendering.sampling import finest, require_sampled

ICE = find_palette("ice")
JOB = Job(View.centred(0, 0, 1, 8, 6))


@pytest.mark.parametrize("bits", range(1, 9))
def test_samples_are_stratified(bits: int) -> None:
    places = [(x % 1, y % 1) for x, y in shifts(1 << bits)]
    for across in range(bits + 1):
        boxes = {(int(x * (1 << across)), int(y * (1 << (bits - across)))) for x, y in places}
        assert len(boxes) == 1 << bits


@pytest.mark.parametrize("samples", [1, 2, 3, 7, 16, 100, 256])
def test_sample_offsets_are_exact_and_centred(samples: int) -> None:
    places = shifts(samples)
    assert list(places[0]) == [0, 0]
    assert len(set(places)) == samples
    for place in (part for both in places for part in both):
        assert Fraction(-1, 2) <= place < Fraction(1, 2)
        assert (1 << bits_of(samples)) % place.denominator == 0
    assert finest(JOB, Colouring(ICE, samples=samples)).view.lattice.pitch * (1 << bits_of(samples)) == JOB.view.pitch


def test_first_samples_do_not_depend_on_the_total() -> None:
    assert shifts(64)[:16] == shifts(16)


@pytest.mark.parametrize("samples", [0, 257, -1, 2.0, True, "many", None])
def test_unsupported_sample_counts(samples: Any) -> None:
    with pytest.raises(InvalidInputError, match="from 1 to 256, or auto, not"):
        Colouring(ICE, samples=samples)


def test_options_that_need_one_count_per_pixel() -> None:
    several = Colouring(ICE, samples=4)
    assert Colouring.from_json(several.to_json()) == several
    require_sampled(["a.png", "b.jpg"], JOB, several, counts=False)
    require_sampled(["a.npz"], JOB, Colouring(ICE), counts=True)
    for paths, counts, why in ((["a.png", "a.npz"], False, r"a\.npz"), (["a.png"], True, "--confirm or a digest")):
        with pytest.raises(InvalidInputError, match=f"has no single count; leave out {why} or --samples"):
            require_sampled(paths, JOB, several, counts)
    with pytest.raises(InvalidInputError, match="a height map has one sample per pixel"):
        Colouring(ICE, samples=4, height="counts")
