"""Fields to write, and a look at what was written."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.colour.colour import PALETTES, Colouring
from mandelcl.core.field import Field
from mandelcl.core.job import Job

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
ICE = Colouring(PALETTES["ice"])


def field_of(job: Job, counts: Words, smooth: npt.NDArray[np.float32] | None = None) -> Field:
    return Field(job, {"counts": counts} | ({} if smooth is None else {"smooth": smooth}))


def refused(path: Path) -> str:
    """Return a pattern of the system's own words for why it does not open a file; Windows has two."""
    words = []
    for ask in (Path.stat, Path.open):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - whatever it is
            ask(path)
        words.append(re.escape(str(caught.value.strerror)))
    return "|".join(words)


@st.composite
def fields(draw: st.DrawFn) -> Field:
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    view = View.upright(
        draw(st.fractions()), draw(st.fractions()), draw(st.fractions(Fraction(1, 10**30), 4)), width, height,
        draw(st.integers(-9, 9)), draw(st.integers(-9, 9)),
    )  # fmt: skip
    max_iterations = draw(st.sampled_from([1, 2, 255, 1000, (1 << 32) - 2]))
    smooth = draw(st.booleans())
    job = Job(
        view,
        max_iterations,
        number=draw(st.sampled_from(["float", "double", "auto"])),
        rounding="fused",
        planes=("counts", "smooth")[: 1 + smooth],
    )
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    counts = random.integers(1, max_iterations, (height, width), endpoint=True, dtype=np.uint32)
    return field_of(job, counts, random.random((height, width), dtype=np.float32) if smooth else None)


def a_field(width: int = 4, height: int = 3, smooth: bool = True, max_iterations: int = 50) -> Field:
    view = View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), width, height)
    random = np.random.default_rng(7)
    counts = random.integers(1, max_iterations, (height, width), endpoint=True, dtype=np.uint32)
    job = Job(view, max_iterations, planes=("counts", "smooth")[: 1 + smooth])
    return field_of(job, counts, random.random(counts.shape, dtype=np.float32) if smooth else None)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_same(a: Field, b: Field) -> None:
    assert a.job == b.job
    assert b.counts.dtype == np.uint32
    np.testing.assert_array_equal(a.counts, b.counts)
    assert (a.smooth is None) == (b.smooth is None)
    if a.smooth is not None and b.smooth is not None:
        assert b.smooth.dtype == np.float32
        np.testing.assert_array_equal(a.smooth, b.smooth)
