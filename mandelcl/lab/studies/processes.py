"""Time whole processes, and check what they leave behind."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from mandelcl.base.words import sha256
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.variant import Variant
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.child import RenderTask, timed_process
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.timing import Timed, TimingSample
from mandelcl.opencl.device import Device


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
