"""The studies themselves and what they share, without a device."""

import sys

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies import STUDIES, find_study, plots
from mandelcl.lab.studies.scaling_devices import unit_counts


@pytest.mark.parametrize("most", [1, 2, 5, 8, 16, 128, 1000])
def test_compute_units_from_one_to_all(most: int) -> None:
    units = unit_counts(most)
    assert units[0] == 1
    assert units[-1] == most
    assert units == sorted(set(units))


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_there(name: str) -> None:
    study = find_study(name)
    assert study.name == name
    assert study.notes
    assert study.published or name == "devices"


def test_unknown_studies_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="there is devices, hybridizer"):
        find_study("nothing")


def test_a_missing_matplotlib_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InvalidInputError, match=r"needs matplotlib: .* install .*\[plot\]"):
        plots.require("plot.png")


def test_plots_need_a_known_suffix() -> None:
    with pytest.raises(InvalidInputError, match=r"\.png, \.svg, \.pdf"):
        plots.require("plot.gif")
