"""A program's whole run in a process of its own, for studies that time all of it.

`python -m mandelcl.studies.child TASK` does a task (JSON, see `Task`) and prints one JSON object.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mandelcl.errors import DeviceError

STAGES = ("start", "build", "allocate", "kernel", "copy", "colour", "encode", "end")


@dataclass(frozen=True, slots=True)
class Task:
    """What to do: a job (JSON) on a device by its SPEC, the process kept to so many `cores` where not 0.

    `variant` is a variant's fields, or None. The picture goes to `output` in the colours of `palette`. With `staged`
    each stage waits for the one before, and its seconds are told; otherwise it is done as `mandelcl render` does it.
    """

    job: str
    device: str
    output: str
    palette: str
    cores: int = 0
    variant: Mapping[str, Any] | None = None
    staged: bool = False


def measured(task: Task, check: Callable[[], None]) -> dict[str, Any]:
    """Return what a child process said, with the seconds of its whole life as `process_s`.

    Raises DeviceError with the last line of its errors where it fails.
    """
    check()
    started = time.time()
    text = json.dumps(asdict(task) | {"started": started})
    command = [sys.executable, "-m", "mandelcl.studies.child", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.time() - started
    if done.returncode:
        check()
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise DeviceError(f"the process failed: {said[-1][:200]}")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "stages" in answer:
        answer["stages"]["end"] = max(0.0, seconds - sum(answer["stages"].values()))
    return answer | {"process_s": seconds}


def in_folder(work: Callable[[Path], Any]) -> Any:
    """Return work(folder), with a folder for files that nobody keeps."""
    with tempfile.TemporaryDirectory(prefix="mandelcl-bench-", ignore_cleanup_errors=True) as name:
        return work(Path(name))


def main() -> None:
    """Do the task of the command line."""
    values = json.loads(sys.argv[1])
    started = float(values.pop("started"))
    task = Task(**values)
    from mandelcl.computing.settings import Settings
    from mandelcl.engine import choose
    from mandelcl.engine.variant import Variant
    from mandelcl.job import Job
    from mandelcl.rendering.streaming import render_to
    from mandelcl.shading.colour import Colouring, find_palette
    from mandelcl.studies import pinned
    from mandelcl.studies.timing import plain

    if task.cores:
        pinned.keep_to(task.cores)  # before the driver starts its threads
    job, colouring = Job.from_json(task.job), Colouring(find_palette(task.palette))
    device = choose.matching([task.device])[0]
    if task.staged:
        from mandelcl.studies import stages

        print(json.dumps(stages.run(job, device, colouring, Path(task.output), started)))
        return
    variant = Variant(**task.variant) if task.variant else None
    report = render_to([task.output], job, colouring, [device], plain(Settings(variant=variant)))
    print(json.dumps(report.as_dict()))


if __name__ == "__main__":
    main()
