"""The distance estimate from the words of the kernels: its logarithm, its lattice, its ends; in jobs and files."""

import io
import math
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.distance import distances_of, logarithms
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.planes import PLANES, values_of
from mandelcl.core.report import Stopwatch
from mandelcl.files.archive import read_archive, write_archive
from mandelcl.formulas import formula_named

UPRIGHT = (1.0, 0.0, 0.0, -1.0)
NORM = 20_000.0


def estimate(re: float, im: float, steps: tuple[float, float, float, float] = UPRIGHT, norm: float = NORM) -> complex:
    norms, slopes_re, slopes_im = (np.array([part], np.float32) for part in (norm, re, im))
    return complex(distances_of(norms, slopes_re, slopes_im, steps)[0])


def test_distance_uses_the_exact_logarithm() -> None:
    values = np.exp(np.linspace(-80, 80, 20_001))
    exact = np.array([math.log(value) for value in values])
    errors = np.abs(logarithms(values) - exact) / np.maximum(1, np.abs(exact))
    assert errors.max() <= 2.0**-37
    assert logarithms(np.ones(1))[0] == 0


@pytest.mark.parametrize("slope", [(3.0, 0.0), (0.0, -5.0), (4000.0, 250.0)])
def test_distance_points_along_the_gradient(slope: tuple[float, float]) -> None:
    g = complex(*slope)
    wanted = NORM * math.log(NORM) / 2 * g / abs(g) ** 2
    assert estimate(*slope) == pytest.approx(wanted, rel=1e-6)


def test_distance_is_in_lattice_pixels() -> None:
    """Of pixels twice as wide, a slope along re is twice as steep; the lattice that is turned turns the vector."""
    assert estimate(3, 0, (2.0, 0.0, 0.0, -1.0)) == pytest.approx(estimate(3, 0) / 2, rel=1e-6)
    job = Job(View(Lattice.upright(0, 0, Fraction(1)).rotated(Fraction(90)), 4, 4), planes=("counts", "distance"))
    # The plane is turned to the left, so what led to the right leads up.
    assert estimate(3, 0, job.facts.steps) == pytest.approx(1j * estimate(3, 0), rel=1e-6)


def test_distance_is_finite_everywhere() -> None:
    assert estimate(math.inf, 1) == 0
    assert estimate(0, 0) == 2.0**100
    assert estimate(1e-30, 0).real == 2.0**100
    assert abs(estimate(1, 1, norm=math.inf)) == pytest.approx(2.0**100)


def test_job_facts_are_near_one_at_any_depth() -> None:
    job = Job(View.centred(0, 0, Fraction(10) ** 400, 30, 20, rotation=20))
    assert max(map(abs, job.facts.steps)) < 2
    assert job.view.lattice.scale > 1300


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"planes": ("distance",), "algorithm": "border"}, "what is filled has no distances; use --algorithm escape"),
        ({"planes": ("distance",), "algorithm": "auto", "strict": True}, "what is filled has no distances"),
        ({"planes": ("distance", "certified"), "method": "perturbation"}, "--certify keeps counts and smooth"),
        ({"planes": ("last", "certified"), "method": "perturbation"}, "not last"),
        ({"planes": ("last",), "radius_squared": 129**2}, "the plane last needs an escape radius of at most 128"),
    ],
)
def test_distance_jobs_without_meaning_are_refused(settings: dict[str, object], what: str) -> None:
    with pytest.raises(InvalidInputError, match=what):
        Job(View.centred(0, 0, 1, 4, 4), **settings)  # type: ignore[arg-type]


def test_a_file_has_the_planes() -> None:
    job = Job(View.centred(0, 0, 1, 4, 3), 100, formula=formula_named("burning-ship"), planes=("distance", "last"))
    assert Job.from_json(job.to_json()) == job
    words = np.zeros((job.words, 3, 4), np.uint32)
    words[0] = 7
    words[0, 0, 0] = 100
    words[1:] = np.random.default_rng(3).uniform(1, 1000, (5, 3, 4)).astype(np.float32).view(np.uint32)
    field = Field(job, values_of(job.planes, words, job.facts))
    assert field.distance is not None
    assert field.last is not None
    assert field.distance[0, 0] == 0
    assert (np.abs(field.distance) > 0).sum() == 11
    file = io.BytesIO()
    write_archive(file, field, Stopwatch())
    file.seek(0)
    loaded = read_archive(file)
    for name in job.planes:
        assert loaded.planes[name].dtype == PLANES[name].dtype
        np.testing.assert_array_equal(loaded.planes[name], field.planes[name])
