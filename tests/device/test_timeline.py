"""A trace of a render: on every device, of a crew, and after an interrupt."""

import json
import subprocess
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.block import whole_of
from mandelcl.core.job import Job
from mandelcl.core.report import Report
from mandelcl.core.timeline.chrome import recording
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.lab.studies.processes import RenderTask, timed_process
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.streaming import render_to
from tests import traces
from tests.interruptible import STOPPED, Interruptible
from tests.traces import Traced

JOB = Job(
    View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), 320, 240), 3000, number="float", rounding="separate"
)


def traced(folder: Path, job: Job, devices: list[Device], outputs: tuple[str, ...]) -> tuple[list[Traced], Report]:
    """Return the spans of a render to files, and its report."""
    paths = [folder / name for name in outputs]
    settings = Settings(block_pixels=16_000, budget=0.01)
    with recording(folder / "trace.json", "test", {}):
        report = render_to(
            paths, job, Colouring(find_palette("classic")), devices, settings, store_after=0, digest=True
        )
    return traces.read(folder / "trace.json"), report


@pytest.mark.parametrize("algorithm", ["escape", "border"])
def test_a_trace_of_each_device(device: Device, algorithm: str, tmp_path: Path) -> None:
    job = Job(JOB.view, JOB.iterations, number="float", rounding="separate", algorithm=algorithm)
    spans, report = traced(tmp_path, job, [device], ("a.png", "b.npz"))
    traces.check_nesting(spans)
    launches = traces.launches(spans)
    assert len([span for span in launches if "strides" in span.details]) <= report.launches
    assert launches
    if not any("timed" in span.details for span in launches):  # the host's clock counts what else the machine does
        total = sum(span.duration for span in launches) / 1e6
        assert total == pytest.approx(report.kernel_s, rel=0.01, abs=1e-5)
    names = {span.name for span in spans}
    assert {"begin", "compute", "colour", "encode", "hash", "store", "put in place"} <= names
    assert device.shares_memory or "copy back" in names
    assert {"wait for the device", "wait for rows"} & names
    blocks = [span for span in spans if span.kind == "block"]
    assert sum(span.details["width"] * span.details["rows"] for span in blocks) == job.view.pixels
    (compute,) = (span for span in spans if span.name == "compute")
    # How well a device's clock is known depends on how busy the host is: most launches lie where they should.
    assert compute.start <= median(span.start for span in launches)
    assert median(span.end for span in launches) <= compute.end


def test_launches_have_trace_details(device: Device, tmp_path: Path) -> None:
    spans, _ = traced(tmp_path, JOB, [device], ("a.npz",))
    fresh = [span.details for span in spans if span.name == "advance_block" and "strides" in span.details]
    rows = {row for part in fresh for row in range(part["y"], part["y"] + part["rows"])}
    assert rows == set(range(JOB.view.height))
    assert all(part["x"] == 0 and part["width"] == JOB.view.width for part in fresh)


@pytest.mark.full
def test_each_worker_of_a_crew_has_its_tracks(tmp_path: Path, exercised: list[str]) -> None:
    devices = [device for device in discover() if "oclgrind" not in device.platform.lower()]
    choices = choose.several(JOB, devices, required_specs=())[0]
    if len(choices) < 2:
        pytest.skip("a crew needs two OpenCL devices")
    with recording(tmp_path / "trace.json", "test", {}), closing(Crew(choices)) as crew:
        crew.assemble()
        for _ in range(2):  # between the two a worker waits
            for _ in crew.run([whole_of(JOB.view)]):
                pass
            crew.reset(crew.job)
    spans = traces.read(tmp_path / "trace.json")
    exercised += [f"{c.device.platform}|{c.device.name}, driver {c.device.driver}" for c in choices]
    traces.check_nesting(spans)
    tracks = traces.by_track(spans)
    workers = {process.partition(" ")[2] for process, _ in tracks if "worker" in process}
    assert workers == {f"worker {choice.device.label}" for choice in choices}
    done = [span for span in spans if span.kind == "block"]
    assert sum(span.details["width"] * span.details["rows"] for span in done) >= JOB.view.pixels
    computing = {span.process for span in done if "worker" in span.process}
    assert computing <= {span.process for span in traces.launches(spans)}
    names = {span.name for span in spans if "worker" in span.process}
    assert "wait for blocks" in names
    assert names & {"compile", "load binary"}  # of an earlier test, where the driver's programs are kept


def test_a_process_that_a_study_starts_has_its_tracks(device: Device, tmp_path: Path) -> None:
    task = RenderTask(JOB.to_json(), device.spec, str(tmp_path / "a.png"), "classic")
    with recording(tmp_path / "trace.json", "test", {}):
        timed_process(task, lambda: None)
    spans = traces.read(tmp_path / "trace.json")
    traces.check_nesting(spans)
    theirs = [span for span in spans if span.process.endswith(" worker")]
    assert {"compute", "encode", "put in place"} <= {span.name for span in theirs}
    assert traces.launches(theirs)
    assert {span.name for span in spans if span not in theirs} == {"wait for a process"}


def has_launches(path: Path) -> bool:
    """Whether a trace that is still being written has a launch; between two writes it may end anywhere."""
    try:
        return any("strides" in span.details for span in traces.read(path))
    except (FileNotFoundError, json.JSONDecodeError):
        return False


def test_an_interrupted_render_leaves_a_whole_trace(device: Device, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    line = ["render", "--device", device.spec, "--size", "640x360", "--iterations", "4000000000", "--no-shortcuts"]
    command = ("-m", "mandelcl", *line, "--number", "float", "-o", "a.png", "--trace", str(path))
    with Interruptible(*command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + 600
            while not has_launches(path):
                assert time.monotonic() < until
                assert process.poll() is None, process.stderr and process.stderr.read()
                time.sleep(0.1)
            process.interrupt()
            _, error = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == STOPPED
    assert "Traceback" not in error
    spans = traces.read(path)
    traces.check_nesting(spans)
    assert traces.launches(spans)
