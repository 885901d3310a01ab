"""What perturbation does not do, and references that make no sense: one line each."""

from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Run, refused

DEEP = ("--center", "0", "1", "--zoom", "1e50")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--julia", "1", "0", "--formula", " / ".join(8 * ["sqr add"]), "--method", "perturbation"), "does not have"),
        (("--formula", "store absx mul add", "--method", "perturbation"), "does not have store absx mul add"),
        ((*DEEP, "--formula", "sqr add absx", "--method", "perturbation"), "does not have sqr add absx"),
        ((*DEEP, "--formula", "sqr / sqr add", "--reference", "0", "1", "1"), "does not have sqr / sqr add"),
        ((*DEEP, "--algorithm", "border", "--strict", "--method", "perturbation"), "leave --strict out"),
        ((*DEEP, "--number", "fp128", "--method", "perturbation"), "choose another --number"),
        ((*DEEP, "--number", "fixed:8", "--method", "perturbation"), "choose another --number"),
        ((*DEEP, "--rounding", "separate", "--method", "perturbation"), "leave --rounding out"),
        ((*DEEP, "--reference", "0", "1", "0"), "radius must be positive"),
        ((*DEEP, "--reference", "0", "1", "-1e-40"), "radius must be positive"),
        ((*DEEP, "--reference", "0", "i", "1e-40"), "'i' is not a number"),
        ((*DEEP, "--reference", "0", "1", "1e-40", "--method", "direct"), "only perturbation has a reference"),
        ((*DEEP, "--iterations", str(10**15 + 1)), f"from 1 to {10**15}"),
        ((*DEEP, "--escape-radius", "129"), "at most 128"),
        (("--center", "0", "1", "--zoom", "1e12001"), "more than 12000 digits"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused_deep_options(run: Run, folder: Path, options: tuple[str, ...], why: str) -> None:
    assert why in refused(run, folder, "render", *SMALL, *options)


@pytest.mark.usefixtures("usable")
def test_reference_with_too_small_radius(run: Run, folder: Path) -> None:
    line = refused(run, folder, "render", *SMALL, *DEEP, "--reference", "0", "0.5", "1e-50")
    assert "does not reach all of the view" in line


@pytest.mark.full
@pytest.mark.usefixtures("usable_double")
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((*DEEP, "--reference", "0", "1", "1e-46"), "more than 256 times what the view needs"),
        ((*DEEP, "--reference", "1e-48", "1", "2e-48"), "more than 4 times as far"),
        (DEEP, ""),
        (("--center", "-2", "0", "--zoom", "1e400"), ""),
    ],
)
def test_deep_warnings(draw: Run, options: tuple[str, ...], why: str) -> None:
    *warnings, last = draw("render", *SMALL, *options, "-o", "a.png").err.splitlines()
    assert "perturbation" in last
    assert len(warnings) == bool(why)
    assert why in "".join(warnings)


@pytest.mark.full
@pytest.mark.usefixtures("usable_double")
@pytest.mark.parametrize(("formula", "how"), [("burning-ship", "perturbation"), ("store absx mul add", "fixed")])
def test_other_formulas_use_perturbation_at_depth_where_they_have_it(draw: Run, formula: str, how: str) -> None:
    assert how in draw("render", *SMALL, "--formula", formula, "--center", "-1.7", "0", "--zoom", "1e60").err
