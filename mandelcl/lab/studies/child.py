"""A program's whole run in a process of its own, for studies that time all of it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mandelcl.files.leftovers import in_temporary_folder
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
