"""A soak with made-up devices and a made-up clock: wrong words, slow-downs, deaths and hangs, and the verdicts."""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np
import pytest

from mandelcl.base.errors import NEVER, CancelledError, DeviceError, Token
from mandelcl.base.system import system
from mandelcl.cli import soak as shown
from mandelcl.lab.soak import process, run
from mandelcl.lab.soak.jobs import compared, repeats, sized
from mandelcl.lab.soak.process import Soaking, SoakProcess
from mandelcl.lab.soak.record import JobFacts, JobRun, Record, Round, WrongWord
from mandelcl.lab.soak.run import CoreQueue, Soak, Start
from mandelcl.lab.soak.verdict import FAILED, NOTHING, PASS, SLOWED, UNSTABLE, WRONG, verdict
from mandelcl.lab.soak.worker import Others
from mandelcl.opencl.device import Device
from mandelcl.workers.wire import WireError

FLOAT = JobFacts("float", "float fused, 64x48, limit 2000", "iterations", 64 * 48, 64, steady=True)
TRANSFER = JobFacts("transfer", "1 MiB to the device and back", "bytes", 1 << 18, 1024, steady=False)
JOBS = (FLOAT, TRANSFER)
ROUND_S = 2.0


@dataclass
class FakeDevice:
    """A device that does not exist: what happens in a round is planted."""

    spec: str = "9:0"
    type: str = "gpu"
    planted: Callable[[int, list[JobRun]], list[JobRun]] = lambda _round, runs: runs
    refuses: str = ""
    name: str = "Fake"
    platform: str = "Test"
    driver: str = "1"
    rounds: list[int] = field(default_factory=list)
    others: Callable[[int], float] = lambda _round: 0.0

    @property
    def label(self) -> str:
        return f"{self.spec} {self.name}"


class FakeSoaking:
    """A process that is none, with a clock of its own."""

    def __init__(self, device: FakeDevice, clock: "FakeClock") -> None:
        self.jobs: Sequence[JobFacts] = JOBS
        self.ended = False
        self._device, self._clock = device, clock
        self._chance = random.Random(0)

    def __enter__(self) -> "FakeSoaking":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.ended = True

    def round(self, number: int) -> Round:
        self._clock.now += ROUND_S
        self._device.rounds.append(number)
        noise = self._chance.gauss(1, 0.02)
        runs = self._device.planted(number, [JobRun(10e9, 0.5 * noise), JobRun(2**20, 1e-4 * noise)])
        return Round(runs, self._device.others(number))


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def starter(clock: FakeClock, processes: list[FakeSoaking] | None = None) -> Start:
    """Return what starts fake devices, and adds them to a list."""

    def start(device: Device, _seconds: float, _check: Callable[[], None]) -> FakeSoaking:
        fake = cast(FakeDevice, device)
        if fake.refuses:
            raise DeviceError(fake.refuses)
        soaking = FakeSoaking(fake, clock)
        if processes is not None:
            processes.append(soaking)
        return soaking

    return start


def soaked(*devices: FakeDevice, seconds: float = 600, cancel: Token = NEVER) -> tuple[list[Record], list[str]]:
    """Return the records of a soak, a device after the other so that the clock is theirs alone, and what was said."""
    reported: list[str] = []
    records = []
    for device in devices:
        clock = FakeClock()
        processes: list[FakeSoaking] = []
        start = starter(clock, processes)
        soak = Soak(seconds, start, clock, lambda record, word: reported.append(f"{record.label}: {word}"))
        records += soak.run([cast(Device, device)], cancel)
        assert all(each.ended for each in processes)
    return records, reported


def flipped(at: Sequence[int], index: int = 70, bits: int = 1 << 5) -> Callable[[int, list[JobRun]], list[JobRun]]:
    """Return a plant: a word of the first job is wrong in some rounds."""

    def plant(number: int, runs: list[JobRun]) -> list[JobRun]:
        if number not in at:
            return runs
        return [JobRun(runs[0].work, runs[0].seconds, 1, (index, 2000, 2000 ^ bits)), *runs[1:]]

    return plant


def slower(since: int, factor: float, until: int = 10**9) -> Callable[[int, list[JobRun]], list[JobRun]]:
    def plant(number: int, runs: list[JobRun]) -> list[JobRun]:
        late = factor if since <= number < until else 1.0
        return [JobRun(each.work, each.seconds * late) for each in runs]

    return plant


def dies(at: int, why: str) -> Callable[[int, list[JobRun]], list[JobRun]]:
    def plant(number: int, runs: list[JobRun]) -> list[JobRun]:
        if number == at:
            raise DeviceError(why)
        return runs

    return plant


def test_a_good_device_passes() -> None:
    (record,), reported = soaked(FakeDevice())
    found = verdict(record)
    assert (found.word, reported) == (PASS, [])
    assert found.text == "300 rounds in 10.0 min, 79,564,800 words compared, none wrong"
    assert record.rounds == 300
    assert found.speeds["float"].median == pytest.approx(20, rel=0.01)
    assert found.speeds["transfer"].median == pytest.approx(10.5, rel=0.01)


def test_the_first_wrong_word_is_shown_and_all_are_counted() -> None:
    (record,), reported = soaked(FakeDevice(planted=flipped([7, 9, 200], bits=0b101)))
    assert reported == [
        "9:0 Fake: float, round 8, after 16.0 s: column 6, row 1 is 2005 (0x000007d5), not 2000 (0x000007d0): "
        "bits 0, 2 differ"
    ]
    assert (record.wrong_words, record.wrong_rounds, record.rounds) == (3, 3, 300)
    found = verdict(record)
    assert found.word == WRONG
    assert found.findings[0] == "3 words wrong, in 3 of 300 rounds"
    assert record.first_wrong is not None
    assert (record.first_wrong.round, record.first_wrong.index, record.first_wrong.bits) == (7, 70, [0, 2])


def test_single_differing_bit_is_worded_correctly() -> None:
    (_,), reported = soaked(FakeDevice(planted=flipped([0])))
    assert reported[0].endswith(": bit 5 differs")


def test_slowdown_is_detected_with_its_time() -> None:
    (record,), _ = soaked(FakeDevice(planted=slower(150, 1.25)))
    found = verdict(record)
    assert found.word == SLOWED
    assert found.findings[0] == "float slowed by 20% after 5.0 min, from 20 to 16 Giter/s"
    change = found.speeds["float"].slowdown
    assert change is not None
    assert change.since == pytest.approx(300, abs=20)


@pytest.mark.parametrize("since", [40, 100, 250])
def test_slowdown_is_detected_at_any_time(since: int) -> None:
    (record,), _ = soaked(FakeDevice(planted=slower(since, 1.3)))
    assert verdict(record).word == SLOWED


def test_spikes_and_temporary_disturbances_are_not_slowdowns() -> None:
    spikes = FakeDevice(planted=lambda k, runs: slower(0, 5.0 if k % 9 == 3 else 1.0)(k, runs))
    passing = FakeDevice(planted=slower(100, 1.5, until=160))
    for record in soaked(spikes, passing)[0]:
        assert verdict(record).word == PASS, verdict(record).text


def test_slowdown_under_load_is_not_reported() -> None:
    device = FakeDevice(planted=slower(150, 1.4), others=lambda k: 0.4 if k >= 150 else 0.02)
    (record,), _ = soaked(device)
    assert verdict(record).word == PASS
    assert record.disturbed == 150
    always = FakeDevice(planted=slower(150, 1.4), others=lambda _k: 0.4)
    found = verdict(soaked(always)[0][0])
    assert found.word == PASS
    assert found.findings[-1].endswith("(other programs were busy in 300 rounds): too few to judge the speed")
    calm = FakeDevice(planted=slower(150, 1.4), others=lambda k: 0.4 if k % 2 else 0.02)
    assert verdict(soaked(calm)[0][0]).word == SLOWED


def test_oscillating_speed_is_unstable() -> None:
    def plant(number: int, runs: list[JobRun]) -> list[JobRun]:
        return slower(0, 1.0 + 0.8 * (number % 3 == 0) + 0.5 * (number % 3 == 1))(number, runs)

    (record,), _ = soaked(FakeDevice(planted=plant))
    found = verdict(record)
    assert found.word == UNSTABLE
    assert "too far to tell whether it slowed" in found.text
    assert not any(finding.startswith("transfer is unsteady") for finding in found.findings)


def test_worst_verdict_comes_first_and_others_are_listed() -> None:
    def plant(number: int, runs: list[JobRun]) -> list[JobRun]:
        return dies(250, "it broke")(number, flipped([3])(number, slower(120, 1.5)(number, runs)))

    (record,), _ = soaked(FakeDevice(planted=plant))
    found = verdict(record)
    assert found.word == FAILED
    assert found.findings[0] == "after 8.3 min: it broke"
    assert found.findings[1] == "1 word wrong, in 1 of 250 rounds"
    assert not any("unsteady" in finding for finding in found.findings)  # a step is no unsteadiness
    assert found.findings[2].startswith(("float slowed by 33% after ", "float slowed by 34% after "))


def test_failing_device_leaves_others_running() -> None:
    dying = FakeDevice("1:0", planted=dies(5, "the driver ended the process (killed by SIGSEGV)"))
    refusing = FakeDevice("2:0", refuses="self-test failed: wrong fma")
    good = FakeDevice("3:0")
    clock = FakeClock()
    devices = cast(list[Device], [dying, refusing, good])
    records = Soak(100, starter(clock), clock).run(devices, NEVER)
    words = [verdict(record).word for record in records]
    assert words == [FAILED, FAILED, PASS]
    assert verdict(records[0]).findings[0].endswith("the driver ended the process (killed by SIGSEGV)")
    assert verdict(records[1]).findings[0] == "before the first round was over: self-test failed: wrong fma"


def test_internal_error_is_a_failure() -> None:
    def plant(_number: int, _runs: list[JobRun]) -> list[JobRun]:
        raise ZeroDivisionError("oops")

    (record,), _ = soaked(FakeDevice(planted=plant))
    assert verdict(record).findings[0] == "before the first round was over: ZeroDivisionError: oops"


class Later:
    """A token that is set once a device has done so many rounds."""

    def __init__(self, device: FakeDevice, rounds: int) -> None:
        self._device, self._rounds = device, rounds

    def is_set(self) -> bool:
        return len(self._device.rounds) >= self._rounds


def test_interrupted_soak_reports_verdicts_so_far() -> None:
    device = FakeDevice()

    def plant(number: int, runs: list[JobRun]) -> list[JobRun]:
        if number == 100:
            raise CancelledError("stopped")
        return runs

    device.planted = plant
    (record,), _ = soaked(device, cancel=Later(device, 101))
    found = verdict(record)
    assert (found.word, record.rounds) == (PASS, 100)
    assert found.text.startswith("100 rounds in 3.3 min, ")
    (nothing,), _ = soaked(FakeDevice(planted=dies(0, "")), cancel=Later(FakeDevice(), 0))
    assert verdict(nothing).word in (NOTHING, FAILED)
    assert verdict(Record("x")).word == NOTHING


def test_short_soak_reports_too_few_rounds() -> None:
    (record,), _ = soaked(FakeDevice(planted=slower(10, 2.0)), seconds=40)
    found = verdict(record)
    assert found.word == PASS
    assert found.findings[-1] == "fewer than 40 rounds after the warm-up: too few to judge the speed"


# CoreQueue: devices that share cores never compute at once, and none waits for long.


def test_devices_that_share_cores_take_turns() -> None:
    busy: list[str] = []
    together: list[int] = []
    order: list[str] = []

    class Slow(FakeSoaking):
        def round(self, number: int) -> Round:
            busy.append(self._device.spec)
            together.append(len(busy))
            order.append(self._device.spec)
            time.sleep(0.002)
            busy.remove(self._device.spec)
            if number == 30:
                raise DeviceError("over")
            return Round([JobRun(1, 1), JobRun(1, 1)])

    devices = [FakeDevice(f"{k}:0", "cpu") for k in range(3)]
    clock = FakeClock()
    soak = Soak(1e9, lambda device, _seconds, _check: cast(Soaking, Slow(cast(FakeDevice, device), clock)), clock)
    records = soak.run(cast(list[Device], devices), NEVER)
    assert max(together) == 1
    assert all(record.rounds == 30 for record in records)
    # One that the system keeps from asking again is overtaken meanwhile.
    assert {*order[:9]} == {*order[30:39]} == {"0:0", "1:0", "2:0"}


def test_unpreparable_device_is_not_waited_for() -> None:
    good, bad = FakeDevice("1:0", "cpu"), FakeDevice("2:0", "cpu", refuses="no")
    clock = FakeClock()
    records = Soak(100, starter(clock), clock).run(cast(list[Device], [good, bad]), NEVER)
    assert [verdict(record).word for record in records] == [PASS, FAILED]


def test_waiting_for_a_turn_can_be_cancelled() -> None:
    turns, cancel = CoreQueue(2), threading.Event()
    with turns.place(NEVER):
        timer = threading.Timer(0.05, cancel.set)
        timer.start()
        with pytest.raises(CancelledError), turns.place(cancel):
            pass
    with turns.place(NEVER):  # nobody is left in the way
        pass


def test_soak_rounds_are_short_enough_for_a_verdict() -> None:
    assert Soak(600).job_seconds(1) == pytest.approx(0.4)
    assert Soak(36000).job_seconds(3) == run._MOST_JOB_S
    assert Soak(1).job_seconds(1) == run._LEAST_JOB_S
    assert Soak(600).job_seconds(2) == pytest.approx(0.2)


# Jobs.


@pytest.mark.parametrize("rate", [1e5, 1e7, 1e9, 1e10, 1e12, 1e13])
def test_soak_picture_size_follows_the_round_time(rate: float) -> None:
    side, max_iterations = sized(rate, 0.5, 2000, 200_000)
    assert 64 <= side <= 2048
    assert 2000 <= max_iterations <= 200_000
    assert max_iterations == 2000 or side == 2048
    seconds = 0.17 * max_iterations * side * side / rate
    assert seconds < 0.7 or (side, max_iterations) == (64, 2000)
    assert seconds > 0.2 or (side, max_iterations) == (2048, 200_000)


def test_fast_device_repeats_the_picture() -> None:
    for rate in (1e7, 1e10, 6e12, 1e15):
        side, max_iterations = sized(rate, 0.4, 2000, 200_000)
        times = repeats(side, max_iterations, rate, 0.4)
        assert times * 0.17 * max_iterations * side * side / rate < 0.45 or (times, side) == (1, 64)
        assert times == 1 or (side, max_iterations) == (2048, 200_000)
    assert repeats(2048, 200_000, 6e12, 0.4) == 16


def test_every_word_is_compared() -> None:
    expected = np.arange(12, dtype=np.uint32).reshape(3, 4)
    assert compared(JobRun(1, 2), expected.copy(), expected) == JobRun(1, 2)
    for index in range(12):
        found = expected.copy()
        found.flat[index] ^= 1 << 31
        found.flat[11] ^= 8
        got = compared(JobRun(1, 2), found, expected)
        assert got.wrong == (1 if index == 11 else 2)
        assert got.first == (index, index, int(found.flat[index]))


# The process.


class FakeDialogue:
    """Answers as told."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.ended = False

    def ask(self, _question: object) -> dict[str, Any]:
        return self.answers.pop(0)

    def __exit__(self, *_exception: object) -> None:
        self.ended = True


GOOD_JOB: dict[str, Any] = {"name": "a", "text": "b", "counted": "bytes", "words": 8, "width": 4, "steady": True}
GOOD_RUN: dict[str, Any] = {"work": 5, "seconds": 0.5, "wrong": 1, "first": [1, 2, 3]}


WRONG_JOBS: list[Any] = [None, 1, [1], [{}], [GOOD_JOB | {"words": -1}], [GOOD_JOB | {"counted": "x"}]]
WRONG_RUNS: list[Any] = [None, [], [{}], [GOOD_RUN, GOOD_RUN], [GOOD_RUN | {"seconds": -1}]]
WRONG_RUNS += [[GOOD_RUN | {"first": value}] for value in (1, [1, 2], [1, 2, "x"])]


def opened(monkeypatch: pytest.MonkeyPatch, dialogue: FakeDialogue) -> SoakProcess:
    monkeypatch.setattr(process, "Dialogue", lambda *_arguments, **_options: dialogue)
    return SoakProcess(cast(Device, FakeDevice()), 0.1, lambda: None)


def test_worker_output_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(monkeypatch, FakeDialogue({"jobs": [GOOD_JOB]}, {"runs": [GOOD_RUN], "others": 0.25})) as soaking:
        assert soaking.jobs == [JobFacts("a", "b", "bytes", 8, 4, True)]
        assert soaking.round(0) == Round([JobRun(5, 0.5, 1, (1, 2, 3))], 0.25)


@pytest.mark.parametrize(
    ("jobs", "runs"),
    [
        *((value, None) for value in WRONG_JOBS),
        *(([GOOD_JOB], value) for value in WRONG_RUNS),
    ],
)
def test_invalid_message_is_a_failure_of_its_device(monkeypatch: pytest.MonkeyPatch, jobs: Any, runs: Any) -> None:
    dialogue = FakeDialogue({"jobs": jobs}, {"runs": runs, "others": 0.0})
    with pytest.raises((DeviceError, WireError), match="an invalid message"):
        opened(monkeypatch, dialogue).round(0)
    assert dialogue.ended or jobs == [GOOD_JOB]


# What is printed.


def test_tables_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    devices = [FakeDevice(), FakeDevice("9:1", planted=flipped([7])), FakeDevice("9:2", planted=slower(150, 1.25))]
    records, _ = soaked(*devices)
    assert shown.report(records, cast(list[Device], devices), 10, stopped=False, as_json=False) == 1
    text = capsys.readouterr().out
    for expected in ("PASS", "WRONG", "SLOWED", "first: float, round 8", "300 rounds in 10.0 min", "Giter/s", "GB/s"):
        assert expected in text
    assert shown.report(records, cast(list[Device], devices), 10, stopped=False, as_json=True) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["minutes"], found["stopped"]) == (10, False)
    assert [row["verdict"] for row in found["devices"]] == [PASS, WRONG, SLOWED]
    first = found["devices"][1]["first_wrong"]
    assert (first["column"], first["row"], first["expected"], first["found"]) == (6, 1, 2000, 2032)
    assert first["bits"] == [5]
    jobs = found["devices"][2]["jobs"]
    assert [job["name"] for job in jobs] == ["float", "transfer"]
    assert len(jobs[0]["series"]) == 300
    assert jobs[0]["slowdown"]["since_s"] == pytest.approx(300, abs=20)


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    devices = [FakeDevice()]
    records, _ = soaked(*devices)
    assert shown.report(records, cast(list[Device], devices), 10, stopped=False, as_json=True) == 0
    assert capsys.readouterr().err == ""
    assert shown.report(records, cast(list[Device], devices), 10, stopped=True, as_json=True) == 1
    assert capsys.readouterr().err == "mandelcl: stopped before 10 min had passed\n"


def test_progress_without_a_terminal_is_one_line_a_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "_LINE_S", 0.0)
    clock = FakeClock()
    device = FakeDevice(planted=flipped([3]))

    def slow(number: int, runs: list[JobRun]) -> list[JobRun]:
        time.sleep(0.02)
        return flipped([3])(number, runs)

    device.planted = slow
    monkeypatch.setattr(shown, "Soak", partial(Soak, clock=clock))
    records, stopped = shown.soaked(cast(list[Device], [device]), 2, start=starter(clock))
    assert (records[0].rounds, stopped) == (60, False)
    lines = capsys.readouterr().err.splitlines()
    assert any("bit 5 differs" in line for line in lines)
    assert any("of 2.0 min" in line and "Giter/s" in line and "1 wrong word," in line for line in lines)


def test_wrong_word_reports_its_position() -> None:
    word = WrongWord(FLOAT, 0, 1.0, 64 * 5 + 3, 1, 3)
    assert (word.column, word.row, word.bits) == (3, 5, [1])


def test_other_load_is_detected_if_the_system_reports_it() -> None:
    if system() != "linux":
        assert Others().share() == 0
        return
    program = "import time; until = time.time() + 1.5\nwhile time.time() < until: pass"
    with subprocess.Popen([sys.executable, "-c", program]) as other:
        time.sleep(0.4)
        others = Others()
        time.sleep(0.6)
        assert others.share() > 0.5 / (os.cpu_count() or 1)
        other.wait()
    assert 0 <= Others().share() <= 1
