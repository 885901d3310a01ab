"""`mandelcl devices --soak`: verdicts, JSON, exit codes, an interrupt, bad input."""

import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run, refused, start


def spec_of_one(run: Run) -> str:
    rows = json.loads(run("devices", "--json").out)["devices"]
    return str(next(row["spec"] for row in rows if row["selftest"] == "PASS"))


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_a_short_soak_of_one_device(draw: Run, folder: Path) -> None:
    spec = spec_of_one(draw)
    result = draw("devices", "--soak", "0.005", "--device", spec, "--json")
    found = json.loads(result.out)
    (row,) = found["devices"]
    assert (found["minutes"], found["stopped"]) == (0.005, False)
    assert (row["spec"], row["verdict"], row["wrong_words"], row["first_wrong"]) == (spec, "PASS", 0, None)
    assert row["rounds"] >= 1
    assert row["words"] > 1_000_000
    assert [job["name"] for job in row["jobs"]][-3:] == ["fp128", "results", "transfer"]
    assert all(len(job["series"]) == row["rounds"] for job in row["jobs"])
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("usable")
def test_device_that_cannot_run_the_soak_fails_with_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of_one(run)
    monkeypatch.setenv("MANDELCL_CACHE", "/dev/null/nowhere")  # no harm
    monkeypatch.setattr("mandelcl.lab.soak.process.SoakProcess.__init__", _refuse)
    result = run("devices", "--soak", "0.01", "--device", spec)
    assert result.code == 1
    assert "FAILED" in result.out
    assert "before the first round was over: out of order" in result.out


def _refuse(*_arguments: object, **_options: object) -> None:
    from mandelcl.base.errors import DeviceError

    raise DeviceError("out of order")


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_an_interrupt_ends_with_the_verdicts_on_what_was_done(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, fresh = spec_of_one(run), tmp_path / "cache"
    monkeypatch.setenv("MANDELCL_CACHE", str(fresh))
    process = start("devices", "--soak", "30", "--device", spec)
    while not list(fresh.glob("selftest/*")):  # what is under soak leaves its verdict there
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.interrupt()
    out, err = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "stopped before 30 min had passed" in err
    assert "Traceback" not in err
    assert "Verdict" in out
    assert "PASS" in out or "NOTHING" in out


@pytest.mark.parametrize("minutes", ["0", "-1", "x", ""])
def test_invalid_minutes(run: Run, folder: Path, minutes: str) -> None:
    assert "--soak" in refused(run, folder, "devices", "--soak", minutes, code=2)


@pytest.mark.parametrize("minutes", ["inf", "nan"])
def test_infinite_minutes(run: Run, folder: Path, minutes: str) -> None:
    assert f"--soak must be a number of minutes, not {minutes}" in refused(run, folder, "devices", "--soak", minutes)


@pytest.mark.usefixtures("usable")
def test_devices_can_be_named(run: Run, folder: Path) -> None:
    spec = spec_of_one(run)
    rows = json.loads(run("devices", "--device", spec, "--json", "--no-self-test").out)["devices"]
    assert [row["spec"] for row in rows] == [spec]
    for soak in ((), ("--soak", "1")):
        assert "no device matches" in refused(run, folder, "devices", "--device", "nothing of this name", *soak, code=1)
