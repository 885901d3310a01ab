"""Planes of last iterates: their values follow from words, and go on from one count to the next."""

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.names import TRAIL_PLANES
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.planes import TRAILS, Facts, Plane
from mandelcl.engine.job_text import trail_parts


def value(plane: Plane, step: int, norm: float, before: float, after: float, degree: int = 2) -> float:
    """Return a plane's value of a pixel whose orbit left the smooth radius at a step, with |z|² there."""
    floats = (np.array([part], np.float32).view(np.uint32) for part in (norm, before, after))
    words = [np.array([step], np.uint32), *floats]
    return float(plane.derive(np.array([step], np.uint32), words, Facts(1000, (degree,)))[0])


@pytest.mark.parametrize("degree", [2, 3, 5])
@pytest.mark.parametrize("plane", TRAILS, ids=[plane.name for plane in TRAILS])
def test_a_plane_goes_on_where_the_count_has_a_step(plane: Plane, degree: int) -> None:
    """At the smooth radius the iterates up to m count, a step later those up to m − 1, which are the same."""
    outer = value(plane, 40, 128.0**2 + 0.01, 3.0, 5.0, degree)
    inner = value(plane, 41, 128.0 ** (2 * degree) - 0.01, 5.0, 9.0, degree)
    assert outer == pytest.approx(inner, rel=1e-4)
    between = value(plane, 40, 128.0 ** (1 + degree**0.5), 3.0, 5.0, degree)
    assert min(outer, between) > value(plane, 40, 128.0 ** (2 * degree), 3.0, 5.0, degree)


def test_early_orbits_have_fewer_iterates() -> None:
    stripe, point = (next(plane for plane in TRAILS if plane.name == name) for name in ("stripe-3", "trap-point"))
    assert value(stripe, 2, 128.0**2, 0.25, 1.0) == pytest.approx(0.5)
    assert value(stripe, 2, 128.0**4, 0.25, 1.0) == pytest.approx(0.25, abs=1e-4)
    assert value(stripe, 1, 128.0**3, 0.0, 0.75) == pytest.approx(0.75)
    assert value(stripe, 0, 128.0**3, 0.0, 0.0) == 0
    assert value(point, 1, 128.0**3, 2.0**100, 4.0) == pytest.approx(2)


def test_names_are_listed_where_nothing_is_loaded() -> None:
    assert tuple(plane.name for plane in TRAILS) == TRAIL_PLANES


def test_the_kernels_have_a_term_for_each_plane_and_nothing_without_any() -> None:
    view = View.centred(0, 0, 1, 4, 3)
    text = trail_parts(Job(view, 10, planes=("trap-point", "stripe-4", "smooth")))[1]
    assert not isinstance(text, str)
    assert "terms[0] = trail_stripe(z, 4);" in text.text
    assert "return k == 1;" in text.text
    assert "if (k == 0) return 3;" in text.text
    assert trail_parts(Job(view, 10)) == ()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"planes": ("triangle", "certified"), "method": "perturbation"}, "alone, not triangle"),
        ({"planes": ("stripe-3",), "radius_squared": 129**2}, "stripe-3 needs an escape radius of at most 128"),
        ({"planes": ("stripe-9",)}, "unknown plane 'stripe-9'"),
    ],
)
def test_what_has_no_last_iterates_is_refused(settings: dict[str, object], what: str) -> None:
    with pytest.raises(InvalidInputError, match=what):
        Job(View.centred(0, 0, 1, 4, 3), 100, **settings)  # type: ignore[arg-type]
