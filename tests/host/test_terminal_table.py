"""Tables on a terminal: columns that do not fit are left out, the least telling first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mandelcl.cli.terminal_table import _FOLDED, _NEVER, fitted, show
from tests.tables import failed, planted, table

TABLE = table(
    planted("float 4096² cap 5000", extra={"n": 3, "good": True}),
    planted("float 4096² cap 5000", device="日本" * 20, validation="WRONG"),
    failed("double 4096² cap 5000"),
)
HEADINGS, LINES = TABLE.table()


@given(st.integers(1, 400))
def test_what_is_left_fits_or_is_never_left_out(width: int) -> None:
    headings, lines, missing = fitted(HEADINGS, LINES, width)
    assert len(lines) == len(LINES)
    assert all(len(line) == len(headings) for line in lines)
    assert sorted([*headings, *missing]) == sorted(
        heading if heading in headings else heading.removesuffix(" (min … max)") for heading in HEADINGS
    )
    widest = [max(map(cell_len, cells)) for cells in zip(headings, *lines, strict=True)]
    folded = [min(most, _FOLDED.get(heading, most)) for heading, most in zip(headings, widest, strict=True)]
    assert sum(folded) + 3 * (len(headings) - 1) <= width or set(headings) <= {*_NEVER, "SPEC"}


def test_times_lose_their_range_before_a_column_goes() -> None:
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


def test_a_terminal_gets_what_fits_and_a_pipe_everything(
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
    assert err.startswith("mandelcl: left out: SPEC, Platform, Driver, ")
    show(HEADINGS, LINES, wide=True)
    assert capsys.readouterr().err == ""
