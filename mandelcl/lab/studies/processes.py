"""Whole processes, timed from start to end: the role `render`, and other programs."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mandelcl.base.words import sha256
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.variant import Variant
from mandelcl.files.leftovers import in_temporary_folder
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.timing import Timed, TimingSample
from mandelcl.opencl.device import Device
from mandelcl.workers.channel import Channel
from mandelcl.workers.dialogue import Dialogue

STAGES = ("start", "build", "allocate", "kernel", "copy", "colour", "encode", "end")


@dataclass(frozen=True, slots=True)
class RenderTask:
    """What to do: a job (JSON) on a device by its SPEC, the process confined to `cores` cores unless that is 0.

    `variant` is a variant's fields, or None. The picture goes to `output` in the colours of `palette`. With `staged`
    each stage waits for the one before and its seconds are reported; otherwise it is done as by `mandelcl render`.
    """

    job: str
    device: str
    output: str
    palette: str
    cores: int = 0
    variant: Mapping[str, Any] | None = None
    staged: bool = False


def timed_process(task: RenderTask, check: Callable[[], None]) -> dict[str, Any]:
    """Return the report of a new process that does the task, with the seconds of its whole life as `process_s`.

    Raises DeviceError if it fails. `check` is called from time to time, and may raise.
    """
    check()
    started = time.time()
    with Dialogue("render", check) as process:
        answer = process.ask({"task": asdict(task), "started": started})
        process.leave()
        seconds = time.time() - started
    if "stages" in answer:
        answer["stages"]["end"] = max(0.0, seconds - sum(answer["stages"].values()))
    return answer | {"process_s": seconds}


def in_folder(work: Callable[[Path], Any]) -> Any:
    """Return work(folder), with a temporary folder."""
    with in_temporary_folder("mandelcl-bench-") as folder:
        return work(folder)


def serve(channel: Channel) -> None:
    """Do one task, the role `render`."""
    question = channel.question()
    task, started = RenderTask(**question["task"]), float(question["started"])
    from mandelcl.colour.colour import Colouring, find_palette
    from mandelcl.core.job import Job
    from mandelcl.engine import choose
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.engine.variant import Variant
    from mandelcl.lab.studies import pinned
    from mandelcl.lab.studies.timing import plain
    from mandelcl.rendering.streaming import render_to

    if task.cores:
        pinned.keep_to(task.cores)  # before the driver starts its threads
    job, colouring = Job.from_json(task.job), Colouring(find_palette(task.palette))
    device = choose.matching([task.device])[0]
    if task.staged:
        from mandelcl.lab.studies import stages

        channel.answer(stages.run(job, device, colouring, Path(task.output), started))
        return
    variant = Variant(**task.variant) if task.variant else None
    report = render_to([task.output], job, colouring, [device], plain(Settings(variant=variant)), digest=True)
    channel.answer(report.as_dict())


def whole_process(
    bench: Bench, row: Row, device: Device, job: Job, task: RenderTask, path: Path
) -> tuple[Row, list[dict[str, Any]]]:
    """Return the row and what each timed process said, the first one thrown away.

    The counts are validated in this process, before; each child's must have the same SHA-256. Row and answers hold
    the children's times; `output_sha256` is that of the file they left.
    """
    settings = Settings(variant=Variant(**task.variant)) if task.variant else None
    timed = Timed(job, device, settings, bench.cancel)
    expected: list[str] = []

    def once() -> TimingSample:
        if not expected:  # the first run is this process's own, validated by `timed_row`
            sample = timed.run()
            expected.append(sha256(timed.counts))
            timed_process(task, bench.check)  # the first process fills caches
            return sample
        answer = timed_process(task, bench.check)
        answers.append(answer)
        times = (answer["kernel_s"], answer["copy_s"], answer["process_s"])
        return TimingSample(*times, answer["launches"], answer["longest_launch_ms"] / 1e3)

    answers: list[dict[str, Any]] = []
    row = bench.timed_row(row, timed.job, once, lambda: timed.counts, timed.rate, timed.build_s)
    if row.validation == "ok" and any(answer["counts_sha256"] != expected[0] for answer in answers):
        row = replace(row, validation="WRONG", differing_pixels=None, checked="a process of its own differs")
    output_sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return replace(row, extra={**row.extra, "output_sha256": output_sha256}), answers
