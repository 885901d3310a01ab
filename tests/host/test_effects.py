"""The seam for effects: what is listed is an option, JSON and light; colourings without any are as they were."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.srgb import decode
from mandelcl.base.view import View
from mandelcl.colour import effects
from mandelcl.colour.colour import Colouring, colourise, find_palette, paint
from mandelcl.colour.effects import Listed, in_order
from mandelcl.colour.linear_light import bytes_of, light_of
from mandelcl.core.field import Field, Rows
from mandelcl.core.job import Job


@dataclass(frozen=True, slots=True)
class Dim:
    """Leaves the part `share` of the light where the count is odd."""

    share: float
    towards: str = "#000000"
    name: ClassVar[str] = "dim"
    planes: ClassVar[tuple[str, ...]] = ("smooth",)

    def factor(self, rows: Rows, job: Job) -> npt.NDArray[np.float32]:
        assert set(job.planes) == set(rows)
        return np.where(rows["counts"] % 2 == 1, np.float32(self.share), np.float32(1))

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(float(text))

    def to_json(self) -> Any:
        return self.share

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls(float(value))


@dataclass(frozen=True, slots=True)
class Tint(Dim):
    name: ClassVar[str] = "tint"


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {name: Listed(__name__, name.title(), "SHARE", "A test.") for name in ("dim", "tint")}
    monkeypatch.setattr(effects, "EFFECTS", table)


def a_field(smooth: bool = True, max_iterations: int = 1001) -> Field:
    counts = np.arange(1, 1 + 40 * 25, dtype=np.uint32).reshape(25, 40)
    counts[3:5] = max_iterations
    job = Job(View.centred(0, 0, 1, 40, 25), max_iterations, planes=("counts", "smooth") if smooth else ("counts",))
    planes: dict[str, npt.NDArray[Any]] = {"counts": counts}
    if smooth:
        planes["smooth"] = np.random.default_rng(1).random(counts.shape, np.float32)
    return Field(job, planes)


def test_colouring_json_without_effects_is_unchanged() -> None:
    ice = find_palette("ice")
    assert Colouring(ice).to_json() == '{"palette": "ice", "cycle": null, "offset": 0.0}'
    full = Colouring(ice, 60, 0.25, "#ffffff")
    assert full.to_json() == '{"palette": "ice", "cycle": 60, "offset": 0.25, "inside": "#ffffff"}'
    assert Colouring.from_json(full.to_json()) == full


@pytest.mark.parametrize("palette", ["classic", "coursework"])
@pytest.mark.usefixtures("listed")
def test_an_effect_leaves_a_part_of_the_light(palette: str) -> None:
    field = a_field()
    plain = colourise(field, palette)
    inside, odd = field.inside, field.counts % 2 == 1
    dimmed = colourise(field, palette, effects=(Dim(0.5),))
    np.testing.assert_array_equal(dimmed[inside | ~odd], plain[inside | ~odd])
    expected = 0.5 * decode(plain[odd & ~inside] / 255)
    assert np.abs(decode(dimmed[odd & ~inside] / 255) - expected).max() < 0.005
    np.testing.assert_array_equal(colourise(field, palette, effects=(Dim(1.0),)), plain)
    white = colourise(field, palette, effects=(Dim(0.0, "#ffffff"),))
    assert (white[odd & ~inside] == 255).all()


@pytest.mark.usefixtures("listed")
def test_effects_are_applied_in_list_order() -> None:
    field, palette = a_field(), find_palette("ember")
    both = Colouring(palette, effects=(Tint(0.5, "#0000ff"), Dim(0.25)))
    assert [effect.name for effect in both.effects] == ["dim", "tint"]
    assert both == Colouring(palette, effects=(Dim(0.25), Tint(0.5, "#0000ff")))
    blue = Colouring(palette, effects=(Tint(0.5), Dim(0.25)))
    assert Colouring.from_json(blue.to_json()) == blue
    strips = [both.picture(field).paint(*rows) for rows in ((0, 4), (4, 25))]
    np.testing.assert_array_equal(np.vstack(strips), paint(field.job, field.planes, both))


@pytest.mark.usefixtures("listed")
def test_effect_requires_its_planes_and_is_unique() -> None:
    colouring = Colouring(find_palette("coursework"), effects=(Dim(0.5),))
    assert colouring.planes == ("smooth",)
    assert not colouring.indexed
    with pytest.raises(InvalidInputError, match=r"^dim needs the plane smooth, .* with --planes smooth$"):
        colouring.picture(a_field(smooth=False))
    with pytest.raises(InvalidInputError, match="the effect dim is given twice"):
        in_order((Dim(0.5), Dim(0.5)))
    with pytest.raises(InvalidInputError, match="is not an effect"):
        in_order((object(),))  # type: ignore[arg-type]


def test_srgb_and_linear_light_round_trip() -> None:
    values = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(bytes_of(light_of(values)), values)
    assert bytes_of(np.array([-1, 0.5, 7], np.float32)).tolist() == [0, 188, 255]
    assert (np.diff(light_of(values)) > 0).all()
