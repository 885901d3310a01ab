"""Tables on a terminal: columns that do not fit are left out, the least telling first."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mandelcl.cli import devices, soak
from mandelcl.cli.terminal_table import _FOLDED, _NEVER, Layout, fitted, show
from mandelcl.core.locations import LOCATIONS
from tests.tables import failed, planted, table

TABLE = table(
    planted("float 4096² cap 5000", extra={"n": 3, "good": True}),
    planted("float 4096² cap 5000", device="日本" * 20, validation="WRONG"),
    failed("double 4096² cap 5000"),
)
HEADINGS, LINES = TABLE.table()


@given(st.integers(1, 400))
def test_columns_are_dropped_until_the_table_fits(width: int) -> None:
    headings, lines, missing = fitted(HEADINGS, LINES, width)
    assert len(lines) == len(LINES)
    assert all(len(line) == len(headings) for line in lines)
    assert sorted([*headings, *missing]) == sorted(
        heading if heading in headings else heading.removesuffix(" (min … max)") for heading in HEADINGS
    )
    widest = [max(map(cell_len, cells)) for cells in zip(headings, *lines, strict=True)]
    folded = [min(most, _FOLDED.get(heading, most)) for heading, most in zip(headings, widest, strict=True)]
    assert sum(folded) + 3 * (len(headings) - 1) <= width or set(headings) <= {*_NEVER, "SPEC"}


def test_time_ranges_are_dropped_before_columns() -> None:
    assert fitted(HEADINGS, LINES, 400) == (HEADINGS, LINES, [])
    headings, lines, missing = fitted(HEADINGS, LINES, 230)
    assert not missing
    assert lines[0][headings.index("Kernel ms")] == "1000"
    headings, _, missing = fitted(HEADINGS, LINES, 80)
    assert missing[:2] == ["SPEC", "Platform"]
    assert {"Case", "Device", "Kernel ms", "Giter/s", "Counts"} <= set(headings)


def test_devices_of_the_same_name_keep_their_numbers() -> None:
    twins = table(planted(spec="0:0"), planted(spec="0:1"))
    assert "SPEC" in fitted(*twins.table(), 40)[0]
    assert "SPEC" not in fitted(*table(planted(), planted(device="X")).table(), 40)[0]


def test_terminal_output_is_cut_to_width_and_pipe_output_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show(HEADINGS, LINES)
    first = capsys.readouterr().out.splitlines()[0]
    assert all(heading in first for heading in HEADINGS)
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes rich take it for a terminal
    monkeypatch.setenv("COLUMNS", "80")
    show(HEADINGS, LINES)
    out, err = capsys.readouterr()
    assert "Driver" not in out
    assert err.startswith("mandelcl: columns left out: SPEC, Platform, Driver, ")
    show(HEADINGS, LINES, wide=True)
    assert capsys.readouterr().err == ""


A_DEVICE: dict[str, Any] = {
    "spec": "10:0",
    "name": "pthread-skylake-avx512-AMD EPYC 9754 128-Core Processor",
    "platform": "Portable Computing Language",
    "driver": "2026.22.10.0.01_160000",
    "type": "accelerator",
    "compute_units": 512,
    "clock_mhz": 2596,
    "memory_bytes": 512 << 30,
    "max_alloc_bytes": 128 << 30,
    "fp64": True,
    "fma": "slow",
    "denormals": "flushed (float fused)",
    "watchdog": None,
    "timer_resolution_ns": 1000,
    "selftest": "FAIL",
    "reason": "no double precision (cl_khr_fp64), and whatever else a reason may be",
}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")


def lines_of(text: str) -> list[str]:
    """Return lines without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


@pytest.mark.usefixtures("terminal")
def test_devices_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    devices._print([A_DEVICE], wide=False)
    out, err = capsys.readouterr()
    assert max(map(cell_len, lines_of(out))) <= 80
    assert all(heading in lines_of(out)[0] for heading in ("SPEC", "Device", "Platform", "Double", "FMA", "Self-test"))
    assert err.startswith("mandelcl: columns left out: Driver, ")
    assert "\x1b[31m" in out  # a device that fails is red
    devices._print([A_DEVICE], wide=True)
    assert capsys.readouterr().err == ""


def test_devices_in_a_pipe_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    devices._print([A_DEVICE], wide=False)
    out, err = capsys.readouterr()
    assert A_DEVICE["name"] in out
    assert A_DEVICE["reason"] in out
    assert err == ""


def test_a_soak_fits_80_columns() -> None:
    headings = ["SPEC", "Job", "Unit", "Median", "Spread", *soak._PARTS]
    cells = ["0:0", "float: float fused, 864x864, limit 2000", "Giter/s", "0.952", "25%", *["0.952"] * len(soak._PARTS)]
    shown, _, missing = fitted(headings, [cells], 80, soak._SPEEDS)
    assert shown == ["SPEC", "Job", "Unit", "Median", "Spread", "60 %", "80 %", "100 %"]
    assert missing == ["10 %", "20 %", "30 %", "40 %", "50 %", "70 %", "90 %"]


def test_layout_gives_columns_priority() -> None:
    layout = Layout(("B", "A"), {"C": 4})
    assert fitted(["A", "B", "C"], [["a" * 5, "b" * 5, "c" * 9]], 12, layout)[0] == ["A", "C"]
    assert fitted(["A", "B", "C"], [["a" * 5, "b" * 5, "c" * 9]], 20, layout)[2] == []
    assert fitted(["A", "B", "C"], [["a" * 5, "b" * 5, "c" * 9]], 1, layout)[0] == ["C"]


def test_places_fit_80_columns() -> None:
    width = max(map(len, LOCATIONS))
    assert all(width + 2 + len(place.description) <= 80 for place in LOCATIONS.values())
