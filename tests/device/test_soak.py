"""A short soak of each device with a planted fault: it is found, and nothing else is."""

import sys
import threading
from collections.abc import Sequence
from functools import partial

import pytest

from mandelcl.lab.soak.process import SoakProcess
from mandelcl.lab.soak.record import Record
from mandelcl.lab.soak.run import Soak, Start
from mandelcl.lab.soak.verdict import FAILED, SLOWED, WRONG, verdict
from mandelcl.opencl.device import Device
from mandelcl.workers.supervised import RestartPolicy
from tests.device.soaking_worker import BIT, INDEX


@pytest.fixture(autouse=True)
def _real(device: Device) -> None:
    if "oclgrind" in device.platform.lower():
        pytest.skip("Oclgrind is a hundred times too slow for a soak")


def faulty(kind: str, at: int) -> Start:
    line = (sys.executable, "-m", "tests.device.soaking_worker", kind, str(at))
    return partial(SoakProcess, command_line=line, policy=RestartPolicy(start=120, launch=3))


def soaked(device: Device, rounds: int, start: Start = SoakProcess) -> Record:
    """Return the record of a soak that ends after about so many short rounds."""
    cancel = threading.Event()

    def enough(records: Sequence[Record]) -> None:
        if records[0].rounds >= rounds:
            cancel.set()

    soak = Soak(600, lambda each, _seconds, check: start(each, 0.02, check))
    (record,) = soak.run([device], cancel, enough)
    return record


@pytest.mark.full
@pytest.mark.one_device
def test_planted_wrong_word_is_reported_and_soak_continues(device: Device) -> None:
    record = soaked(device, 4, faulty("flip", 1))
    found = verdict(record)
    assert found.word == WRONG, found.text
    assert (record.wrong_words, record.wrong_rounds) == (1, 1)
    assert record.rounds >= 2
    word = record.first_wrong
    assert word is not None
    assert (word.job.name, word.round, word.bits) == ("float", 1, [BIT])
    assert word.index % word.job.width == INDEX % word.job.width, "in whichever block was finished first"
    assert f"column {word.index % word.job.width}, row {word.index // word.job.width} is " in str(word)
    names = [job.name for job in record.jobs]
    assert names == ["float", *(["double"] if device.fp64 else []), "fp128", "results", "transfer"]
    assert record.words == record.rounds * sum(job.words for job in record.jobs)
    assert all(series.speeds[0] > 0 for series in record.series.values())


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.parametrize(("kind", "why"), [("die", "the driver ended the process"), ("hang", "its driver hangs: ")])
def test_a_device_that_dies_or_hangs_fails(device: Device, kind: str, why: str) -> None:
    record = soaked(device, 1000, faulty(kind, 1))
    found = verdict(record)
    assert found.word == FAILED
    assert why in found.findings[0]
    assert (record.rounds, record.wrong_words) == (1, 0)


@pytest.mark.long
def test_a_planted_slow_down_is_found(device: Device) -> None:
    at = 45
    record = soaked(device, 110, faulty("slow", at))
    found = verdict(record)
    assert found.word == SLOWED, found.text
    changes = [held.slowdown for held in found.speeds.values() if held.slowdown is not None]
    times = record.series["float"].times
    assert all(times[at - 12] <= change.since <= times[at + 12] for change in changes)
