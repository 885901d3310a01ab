"""What turns a palette: bends of the count, and an even distribution over a picture."""

import json

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base import names
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, colourise, find_palette, paint
from mandelcl.colour.cycles import BENDS, UNITS, bent
from mandelcl.colour.equalising import KNOTS, knots_of, sampled_rows, sampled_view
from mandelcl.colour.painting import places_of
from mandelcl.core.field import Field
from mandelcl.core.job import Job

FUNCTIONS = {
    "root4": lambda n: (8 + n) ** 0.25,
    "root2": lambda n: (8 + n) ** 0.5,
    "log": lambda n: np.log(8 + n),
    "linear": lambda n: n,
}


def a_field(width: int = 200, height: int = 120, max_iterations: int = 5000, column: int = 0, row: int = 0) -> Field:
    y, x = np.mgrid[row : row + height, column : column + width]
    depth = 30 + 900 / (1 + np.hypot(x - 90, y - 60)) + 5 * np.sin(x / 7) * np.cos(y / 9)
    counts = depth.astype(np.uint32)
    counts[np.hypot(x - 40, y - 40) < 12] = max_iterations
    planes: dict[str, npt.NDArray[np.generic]] = {"counts": counts, "smooth": (depth % 1).astype(np.float32)}
    view = View.centred(0, 0, 1, 200, 120).part(column, row, width, height)
    return Field(Job(view, max_iterations, planes=("counts", "smooth")), planes)


def places(colouring: Colouring, field: Field) -> npt.NDArray[np.int64]:
    return places_of(field.job, field.planes, colouring)


@pytest.mark.parametrize("transfer", names.TRANSFERS)
def test_transfer_maps_counts_by_its_function(transfer: str) -> None:
    assert tuple(BENDS) == names.TRANSFERS
    field, length = a_field(), 1.6 * UNITS[transfer]
    nu = field.counts + field.planes["smooth"].astype(np.float64) - 1
    turned = FUNCTIONS[transfer](nu) / length
    if transfer != "linear":
        turned -= FUNCTIONS[transfer](0.0) / length
    got = places(Colouring(find_palette("classic"), transfer=transfer), field)
    apart = (got - turned * 4096 + 2048) % 4096 - 2048
    assert np.abs(apart[~field.inside]).max() < 1.5
    assert (got[field.inside] == 4096).all()
    longer = places(Colouring(find_palette("classic"), 2 * length, transfer=transfer), field)
    apart = (longer - turned / 2 * 4096 + 2048) % 4096 - 2048
    assert np.abs(apart[~field.inside]).max() < 1.5


def test_default_transfers_may_be_named() -> None:
    field = a_field()
    for palette, transfer in (("ice", "root4"), ("coursework", "linear")):
        named = colourise(field, palette, transfer=transfer)
        np.testing.assert_array_equal(named, colourise(field, palette))
    named = colourise(field, "ice", transfer="linear", cycle=60)
    np.testing.assert_array_equal(named, colourise(field, "ice", cycle=60))
    with pytest.raises(InvalidInputError, match=r"^unknown transfer 'cube'; there is root4, root2, log, linear$"):
        Colouring(find_palette("ice"), transfer="cube")


def test_fast_cycle_does_not_overflow() -> None:
    for transfer in ("root4", "root2", "log"):
        turns = bent(4096, transfer, 1e-300, 0.0)
        assert turns.chords.starts.dtype == np.uint32


@pytest.mark.parametrize("palette", ["classic", "spectrum"])
def test_an_even_distribution_is_even(palette: str) -> None:
    field = a_field(1600, 960)
    fitted = Colouring(find_palette(palette), equalise=1).fitted_to(field)
    histogram = np.bincount(places(fitted, field)[~field.inside] * 64 // 4096, minlength=64)
    assert np.abs(histogram / histogram.mean() - 1).max() < 0.25
    plain = np.bincount(places(Colouring(find_palette(palette)), field)[~field.inside] * 64 // 4096, minlength=64)
    assert np.abs(plain / plain.mean() - 1).max() > 0.5


def test_partial_equalisation_lies_between() -> None:
    field = a_field()
    classic = find_palette("classic")
    whole = Colouring(classic, equalise=1.0).fitted_to(field)
    order = np.argsort(field.counts + field.planes["smooth"], axis=None)
    turned = places(whole, field).reshape(-1)[order][: -int(field.inside.sum())]
    assert (np.diff(turned) >= 0).all()  # it never goes back
    half = Colouring(classic, equalise=0.5).fitted_to(field)
    assert not np.array_equal(paint(field.job, field.planes, half), paint(field.job, field.planes, whole))
    nothing = Colouring(classic, equalise=1e-9).fitted_to(field)
    base = places(Colouring(classic), field)
    apart = places(nothing, field) - base
    assert len(np.unique(apart[~field.inside] % 4096 // 8)) <= 2  # the same but for where it begins


def test_parts_of_a_picture_share_samples() -> None:
    whole, rows = a_field(), None
    samples = sampled_rows(whole.job.view, whole.planes)
    coarse = sampled_view(whole.job.view)
    assert samples["counts"].shape == (coarse.height, coarse.width) == (15, 25)
    for column, row in ((0, 0), (3, 5), (8, 16), (15, 1)):
        part = a_field(100, 60, column=column, row=row)
        view = sampled_view(part.job.view)
        rows = sampled_rows(part.job.view, part.planes)
        assert rows["counts"].shape == (view.height, view.width)
        left, top = -(-column // 8), -(-row // 8)
        height, width = rows["counts"].shape
        np.testing.assert_array_equal(rows["counts"], samples["counts"][top : top + height, left : left + width])
        assert view.point(0, 0) == whole.job.view.point(8 * left, 8 * top)
    tiny = View.centred(0, 0, 1, 200, 120).part(1, 1, 3, 3)
    assert (sampled_view(tiny).width, sampled_view(tiny).height) == (1, 1)


def test_equalising_needs_a_distribution() -> None:
    field = a_field()
    colouring = Colouring(find_palette("ice"), equalise=0.75)
    with pytest.raises(InvalidInputError, match="must be fitted to the picture"):
        paint(field.job, field.planes, colouring)
    fitted = colouring.fitted_to(field)
    assert len(fitted.knots) == KNOTS
    assert Colouring.from_json(fitted.to_json()) == fitted
    np.testing.assert_array_equal(colouring.picture(field).paint(3, 90), paint(field.job, field.rows(3, 90), fitted))
    np.testing.assert_array_equal(colourise(field, "ice", equalise=0.75), colourise(field, fitted))
    assert not fitted.by_device


def test_pictures_without_outside_and_of_one_count() -> None:
    inside = Field(Job(View.centred(0, 0, 1, 9, 9), 50), {"counts": np.full((9, 9), 50, np.uint32)})
    assert (colourise(inside, "ice", equalise=1.0) == 0).all()
    one = Field(Job(View.centred(0, 0, 1, 9, 9), 50), {"counts": np.full((9, 9), 7, np.uint32)})
    assert len(np.unique(colourise(one, "coursework", equalise=1.0).reshape(-1, 3), axis=0)) == 1
    assert len(knots_of(one.job, one.planes, True)) == KNOTS


@pytest.mark.parametrize("knots", [[1.0], [0.0] * 258, [1e300] * 257, [float("nan")] * 257, [3, 2] * 128 + [9], "x"])
def test_invalid_distribution_is_refused(knots: object) -> None:
    values = json.loads(Colouring(find_palette("ice"), equalise=1).to_json()) | {"knots": knots}
    with pytest.raises(InvalidInputError, match="not a mandelcl colouring"):
        Colouring.from_json(json.dumps(values))
