"""`mandelcl devices --soak MINUTES`: progress, the verdicts as tables, and JSON."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from mandelcl.cli import terminal_table
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.progress import print_line, sized
from mandelcl.cli.terminal_table import Layout
from mandelcl.lab.soak.process import SoakProcess
from mandelcl.lab.soak.record import Record, WrongWord
from mandelcl.lab.soak.run import Soak, Start
from mandelcl.lab.soak.verdict import PASS, SoakVerdict, duration, verdict
from mandelcl.opencl.device import Device

_PARTS = [f"{k} %" for k in range(10, 101, 10)]  # of the time; the table has a column of speeds for each
_VERDICTS = Layout((), {"Device": 20, "What was found": 32})
_SPEEDS = Layout((*_PARTS[::2], *_PARTS[1::2]), {"Job": 20})
_LINE_S = 60.0  # between two lines on each device, without a terminal


def soaked(
    devices: Sequence[Device], minutes: float, *, self_test: bool = True, start: Start | None = None
) -> tuple[list[Record], bool]:
    """Soak devices. Return the records, and whether Ctrl-C stopped the soak. Progress goes to standard error.

    `start` starts a device under soak, by default in its own process.
    """
    console = sized(Console(stderr=True, markup=False, highlight=False))
    cancelled: list[bool] = []

    def wrong(record: Record, word: WrongWord) -> None:
        console.print(f"mandelcl: {record.label}: {word}", soft_wrap=True, style="red" if console.is_terminal else None)

    def work(cancel: threading.Event) -> list[Record]:
        soak = Soak(60 * minutes, start or partial(SoakProcess, self_test=self_test), wrong=wrong)
        records = soak.run(devices, cancel, show)
        cancelled.append(cancel.is_set())
        return records

    with _bars(console) as bars:
        show = _shown(console, bars, devices, 60 * minutes)
        records = interruptible(work)
    return records, cancelled[0]


def as_dict(
    devices: Sequence[Device], records: Sequence[Record], found: Sequence[SoakVerdict], minutes: float, stopped: bool
) -> dict[str, Any]:
    """Return a soak as JSON-ready values, with the speed of each job in each round."""
    rows = [_row(*each) for each in zip(devices, records, found, strict=True)]
    return {"minutes": minutes, "stopped": stopped, "devices": rows}


def show_tables(
    devices: Sequence[Device], records: Sequence[Record], found: Sequence[SoakVerdict], wide: bool = False
) -> None:
    """Print a table of the verdicts, and one of the speeds over time."""
    judged, speeds = [], []
    for device, record, verdict_ in zip(devices, records, found, strict=True):
        findings = [*verdict_.findings, *([f"first: {record.first_wrong}"] if record.first_wrong else [])]
        judged.append([device.spec, device.name, verdict_.word, "\n".join(findings)])
        for job in record.jobs:
            held = verdict_.speeds.get(job.name)
            median, spread = (f"{held.median:.3g}", f"{held.spread:.0%}") if held else ("", "")
            over_time = [f"{speed:.3g}" if speed else "" for speed in record.over_time(job, len(_PARTS))]
            speeds.append([device.spec, f"{job.name}: {job.text}", job.unit, median, spread, *over_time])
    terminal_table.show(["SPEC", "Device", "SoakVerdict", "What was found"], judged, wide, _VERDICTS)
    click.echo("")
    terminal_table.show(["SPEC", "Job", "Unit", "Median", "Spread", *_PARTS], speeds, wide, _SPEEDS)


def _row(device: Device, record: Record, found: SoakVerdict) -> dict[str, Any]:
    word = record.first_wrong
    first = None
    if word is not None:
        place = {"job": word.job.name, "round": word.round, "elapsed_s": word.seconds}
        place |= {"column": word.column, "row": word.row, "expected": word.expected, "found": word.found}
        first = place | {"bits": word.bits}
    return {
        "spec": device.spec,
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "verdict": found.word,
        "findings": list(found.findings),
        "rounds": record.rounds,
        "elapsed_s": record.seconds,
        "words": record.words,
        "disturbed_rounds": record.disturbed,
        "wrong_words": record.wrong_words,
        "wrong_rounds": record.wrong_rounds,
        "first_wrong": first,
        "jobs": [_job(record, found, index) for index in range(len(record.jobs))],
    }


def _job(record: Record, found: SoakVerdict, index: int) -> dict[str, Any]:
    job = record.jobs[index]
    held, series = found.speeds.get(job.name), record.series[job.name]
    change = held.slowdown if held else None
    slowed = {"since_s": change.since, "before": change.before, "after": change.after} if change else None
    return {
        "name": job.name,
        "text": job.text,
        "unit": job.unit,
        "median": held.median if held else None,
        "spread": held.spread if held else None,
        "slowdown": slowed,
        "series": [[round(time, 3), speed] for time, speed in zip(series.times, series.speeds, strict=True)],
    }


def _bars(console: Console) -> ProgressBar:
    """Return a bar per device, shown only on a terminal and removed at the end."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    return ProgressBar(
        *columns,
        TextColumn("{task.fields[state]}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _shown(
    console: Console, bars: ProgressBar, devices: Sequence[Device], seconds: float
) -> Callable[[Sequence[Record]], None]:
    """Return a callback that shows progress: bars on a terminal, otherwise one line per device and minute."""
    tasks = [bars.add_task(f"{device.spec} {device.name}", total=seconds, state="") for device in devices]
    last = time.monotonic()

    def show(records: Sequence[Record]) -> None:
        nonlocal last
        for task, record in zip(tasks, records, strict=True):
            bars.update(task, completed=seconds if record.failure else record.seconds, state=_state(record))
        if not console.is_terminal and time.monotonic() - last >= _LINE_S:
            last = time.monotonic()
            for record in records:
                done = f"{duration(record.seconds)} of {duration(seconds)}"
                console.print(f"mandelcl: {record.label}: {done}, {_state(record)}", soft_wrap=True)

    return show


def _state(record: Record) -> str:
    if record.failure:
        return f"failed: {record.failure}"
    if not record.began:
        return "is being prepared"
    latest = [f"{job.name} {series.speeds[-1]:.3g} {job.unit}" for job, series in record.latest()]
    rounds = f"{record.rounds} round{'s' * (record.rounds != 1)}"
    return ", ".join([rounds, f"{record.wrong_words} wrong word{'s' * (record.wrong_words != 1)}", *latest])


def report(
    records: Sequence[Record],
    devices: Sequence[Device],
    minutes: float,
    stopped: bool,
    as_json: bool,
    wide: bool = False,
) -> int:
    """Print the verdicts of a soak; return the exit code, 0 if every device passed."""
    found = [verdict(record) for record in records]
    if as_json:
        import json

        click.echo(json.dumps(as_dict(devices, records, found, minutes, stopped)))
    else:
        show_tables(devices, records, found, wide)
    if stopped:
        print_line(f"mandelcl: stopped before {minutes:g} min had passed")
    return int(stopped or any(verdict_.word != PASS for verdict_ in found))
