"""Kernels of the user's own: the examples are exact, and each planted mistake and fault is explained."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import selftest
from mandelcl.lab import own_kernel
from mandelcl.lab.own_kernel import contract
from mandelcl.lab.own_kernel import trial as trials
from mandelcl.lab.own_kernel.contract import KernelFile, read_kernel
from mandelcl.lab.own_kernel.diagnosis import diagnosis
from mandelcl.lab.own_kernel.evidence import Evidence
from mandelcl.lab.own_kernel.faults import KernelFaultError, Overrun
from mandelcl.lab.own_kernel.measuring import simulated
from mandelcl.lab.own_kernel.study import OwnKernels
from mandelcl.lab.own_kernel.trial import LaunchShape, Trial
from mandelcl.lab.own_kernel.worker import RunTask
from mandelcl.lab.studies import plots
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.timing import TimingSample
from mandelcl.opencl import oclgrind
from mandelcl.opencl.device import Device
from tests.device import planted
from tests.device.planted import NAIVE, Planted, built_here, counts_of, run_here
from tests.device.targets import devices as found_devices
from tests.device.targets import expected

# Sizes that no work-group divides, of one pixel, of less than a vector; iteration limits around a stride.
PICTURES = (
    (planted.WHOLE, 150),
    (planted.CHAOS, 333),
    (View.centred(Fraction("-0.7"), Fraction("0.2"), Fraction(4, 3), 3, 50), 17),
    (View.centred(Fraction("-0.1"), Fraction("0.7"), Fraction(4, 3), 1, 1), 16),
    *((planted.SMALL, max_iterations) for max_iterations in (1, 7, 8, 9, 16)),
)


def own(text: str, name: str = "mine.cl") -> KernelFile:
    return KernelFile(name, text)


def replaced(old: str, new: str) -> KernelFile:
    assert NAIVE.count(old) == 1
    return own(NAIVE.replace(old, new))


def trial(device: Device, kernel: KernelFile, number: str = "float", patience: float = 30.0) -> Trial:
    return Trial(kernel, device.spec, by_name(number), patience, lambda: None)


@pytest.fixture(scope="module")
def best() -> Device:
    """A device with double, where there is one, that compiles quickly: the last of these."""
    every = [found for parameter in found_devices() if isinstance(found := parameter.values[0], Device)]
    if not every:
        pytest.skip("no OpenCL device")
    return max(every, key=lambda device: (device.fp64, device.spec))


@pytest.mark.parametrize("number", ["float", "double"])
@pytest.mark.parametrize("name", own_kernel.EXAMPLES)
def test_examples_are_exact(device: Device, name: str, number: str) -> None:
    if number == "double" and not device.fp64:
        pytest.skip("no double precision")
    built = built_here(device, own_kernel.example(name), number)
    for view, max_iterations in PICTURES:
        job = Job(view, max_iterations, number=number, rounding="separate")
        running = run_here(built, job)
        assert not running.overrun
        assert np.array_equal(counts_of(running, job), expected(job)), (view, max_iterations)


def check_planted(device: Device, case: Planted) -> None:
    job, right = case.job, expected(case.job)
    running = run_here(built_here(device, case.text, case.number), job)
    counts = counts_of(running, job)
    assert (counts != right).any(), "the mistake does not show here"
    evidence = Evidence(job, counts, right, contract.launched((job.view.width, job.view.height), (8, 8)))
    sentences = diagnosis(evidence)
    assert case.reported in sentences[0], sentences
    assert bool(running.overrun) == (case.name == "no bounds")


@pytest.mark.full
@pytest.mark.parametrize("case", planted.SINGLE, ids=lambda case: case.name)
def test_each_planted_mistake_is_named(best: Device, case: Planted) -> None:
    check_planted(best, case)


@pytest.mark.full
@pytest.mark.parametrize("case", planted.DOUBLES, ids=lambda case: case.name)
def test_each_planted_mistake_with_double_is_named(best: Device, case: Planted) -> None:
    if not best.fp64:
        pytest.skip("no double precision")
    check_planted(best, case)


@pytest.mark.parametrize("name", ["upside down", "too late", "no bounds", "new x"])
def test_planted_mistakes_are_named_on_each_device(device: Device, name: str) -> None:
    check_planted(device, next(case for case in planted.SINGLE if case.name == name))


@pytest.mark.full
def test_kernel_is_timed_beside_ours_and_wrong_one_is_reported(device: Device, tmp_path: Path) -> None:
    wrong = own(planted.PLACES[0].text, "wrong.cl")
    job = Job(planted.WHOLE, 150, number="float", rounding="separate")
    study = OwnKernels((read_kernel("naive"), wrong), job, LaunchShape()).study()
    rows = list(study.run(Bench([device], repeat=2, patience=30)))
    assert [row.case for row in rows] == ["ours", "naive.cl", "wrong.cl"]
    assert [row.validation for row in rows] == ["ok", "ok", "WRONG"]
    assert [row.differing_pixels == 0 for row in rows] == [True, True, False]
    for row in rows:
        assert row.checked == "every pixel recomputed"
        assert row.kernel_s is not None
        assert row.samples >= 2
    assert rows[0].kernel_s is not None
    assert rows[1].kernel_s is not None
    assert rows[1].extra["speed"] == pytest.approx(rows[0].kernel_s.median / rows[1].kernel_s.median)
    assert "The picture is upside down" in str(rows[2].extra["explanation"])
    document = Document(study, rows, "test", "2026-01-01", "0.0")
    assert "## Explained\n\n**wrong.cl" in document.to_markdown()
    pytest.importorskip("matplotlib")
    plots.save(study, document.as_dict()["rows"], tmp_path / "plot.png")


def test_build_errors_name_lines_of_the_file(device: Device) -> None:
    text = NAIVE.replace(planted.IMAGINARY, "2 * x * y + imaginary")
    line = next(k for k, line in enumerate(text.splitlines(), 1) if "imaginary" in line)
    with pytest.raises(KernelFaultError, match="does not build") as fault, trial(device, own(text)):
        pass
    assert fault.value.kind == "build"
    assert f"mine.cl:{line}" in str(fault.value)
    assert "imaginary" in "\n".join(fault.value.explanation)
    assert "clBuildProgram" not in "\n".join(fault.value.explanation)


@pytest.mark.full
@pytest.mark.parametrize("text", ["", "// nothing\n", "int no_kernel(void) { return 1; }\n"])
def test_file_without_any_kernel_is_reported(device: Device, text: str) -> None:
    with pytest.raises(KernelFaultError, match="no kernel `mandelbrot`; it has no kernel at all") as fault:
        trial(device, own(text)).__enter__()
    assert fault.value.kind == "name"


@pytest.mark.one_device
def test_kernel_with_an_include_is_not_built(device: Device, tmp_path: Path) -> None:
    (tmp_path / "more.h").write_text("#error a line of another file\n")
    with (
        pytest.raises(KernelFaultError, match=r"mine\.cl:2 asks for another file, and a kernel is one file") as fault,
        trial(device, own(f'\n#include "{tmp_path}/more.h"\n{NAIVE}')),
    ):
        pass
    assert fault.value.kind == "build"
    assert "a line of another file" not in "\n".join(fault.value.explanation)


@pytest.mark.full
@pytest.mark.one_device
def test_build_that_hangs_is_stopped(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_LEAST_BUILD_S", 2.0)
    terms = "".join(f"#define T{k} {' + '.join([f'T{k - 1}'] * 10)}\n" for k in range(1, 10))
    endless = own(f"#define T0 cap\n{terms}{NAIVE.replace('n = 0', 'n = 0 * (T9)')}")
    assert endless.text != NAIVE
    with (
        pytest.raises(KernelFaultError, match="the compiler did not end within 2 s and was stopped") as fault,
        trial(device, endless, patience=1.0),
    ):
        pass
    assert fault.value.kind == "hang"


@pytest.mark.full
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("void mandelbrot", "void mandel", "has no kernel `mandelbrot`; it has `mandel`"),
        ("global uint *counts", "global float *counts", "parameter 1 is `global float* counts`, the contract has"),
    ],
)
def test_different_kernel_signature_is_reported(device: Device, old: str, new: str, why: str) -> None:
    with pytest.raises(KernelFaultError) as fault, trial(device, replaced(old, new)):
        pass
    assert why in str(fault.value)
    assert contract.SIGNATURE in "\n".join(fault.value.explanation)


@pytest.mark.full
@pytest.mark.one_device
def test_a_hanging_kernel_is_stopped(device: Device) -> None:
    if selftest.result(device, by_name("float"), "separate").loop_limit:
        pytest.skip("its driver ends every loop by itself")
    job = Job(planted.SMALL, 50, number="float", rounding="separate")
    # No compiler may leave out a loop with an atomic operation, as some do with an endless one that only computes.
    forever = replaced(planted.GROW, "    atomic_add(&counts[0], 0u);\n")
    with trial(device, forever, patience=1.0) as process:
        task = process.task(job, LaunchShape())
        with pytest.raises(KernelFaultError, match="did not end within 1 s and was stopped, with 16x16") as fault:
            process.run(task)
    assert fault.value.kind == "hang"
    with trial(device, own(NAIVE)) as process:  # nothing else is lost: the device still works
        counts, _ = process.run(process.task(job, LaunchShape()))
    assert np.array_equal(counts, expected(job))


def test_kernel_that_crashes_its_process_is_reported(device: Device) -> None:
    far = replaced(planted.WRITE, "counts[(ulong)row * 40000000000ul + column * 40000000ul] = n;")
    job = Job(planted.WHOLE, 50, number="float", rounding="separate")
    with trial(device, far) as process:
        task = process.task(job, LaunchShape())
        if device.type != "cpu":
            pytest.skip("a GPU may report an error instead, or lose the writes")
        with pytest.raises(KernelFaultError, match="its process ended: ") as fault:
            process.run(task)
        assert fault.value.kind == "crash"


@pytest.mark.parametrize(
    ("index", "first"),
    [("row * width + column + 7", 2623), ("(int)(row * width + column) - 5", -5)],
)
def test_writes_outside_the_counts_are_detected(device: Device, index: str, first: int) -> None:
    job = Job(planted.WHOLE, 50, number="float", rounding="separate")
    running = run_here(built_here(device, NAIVE.replace(planted.WRITE, f"counts[{index}] = n;"), "float"), job)
    runs = [*running.overrun.before, *running.overrun.after]
    assert runs == [(first, abs(first) if first < 0 else 7)]


@pytest.mark.full
def test_kernel_with_its_own_local_size(device: Device) -> None:
    required = own("__attribute__((reqd_work_group_size(4, 2, 1)))\n" + NAIVE.partition("*/\n")[2])
    job = Job(planted.SMALL, 20, number="float", rounding="separate")
    with trial(device, required) as process:
        task = process.task(job, LaunchShape())
        assert task.local == (4, 2)
        counts, overrun = process.run(task)
        with pytest.raises(KernelFaultError, match="work-groups of 4x2x1"):
            process.task(job, LaunchShape(local=(8, 8)))
    assert not overrun
    assert np.array_equal(counts, expected(job))


def test_too_large_work_group_is_reported(best: Device) -> None:
    job = Job(planted.SMALL, 20, number="float", rounding="separate")
    with trial(best, own(NAIVE)) as process, pytest.raises(KernelFaultError, match="give a smaller --local"):
        process.task(job, LaunchShape(local=(1 << 14, 1 << 10)))


@pytest.mark.full
def test_runs_do_not_see_earlier_memory(best: Device) -> None:
    drifting = "if (counts[row * width + column] != 0xFFFFFFFFu) n++; counts[row * width + column] = n;"
    job = Job(planted.SMALL, 20, number="float", rounding="separate")
    with trial(best, replaced(planted.WRITE, drifting)) as process:
        task = process.task(job, LaunchShape())
        counts, _ = process.run(task)
        _, same, _ = process.time(task, 2)
    assert np.array_equal(counts, expected(job))
    assert same


def test_nondeterministic_counts_are_reported(best: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = Trial.time

    def changing(self: Trial, task: RunTask, repeat: int) -> tuple[list[TimingSample], bool, Overrun]:
        samples, _, overrun = timed(self, task, repeat)
        return samples, False, overrun

    monkeypatch.setattr(Trial, "time", changing)
    job = Job(planted.SMALL, 20, number="float", rounding="separate")
    _, row = OwnKernels((own(NAIVE),), job, LaunchShape()).study().run(Bench([best], repeat=1))
    assert row.validation == "WRONG"
    assert "change from run to run" in str(row.extra["explanation"])


def in_oclgrind(kernel: KernelFile) -> Row:
    library = oclgrind.library()
    if library is None:
        pytest.skip("Oclgrind is not installed")
    job = Job(planted.WHOLE, 20, number="float", rounding="separate")
    return simulated(Bench([], repeat=1), kernel, job, LaunchShape(), library)


def test_oclgrind_accepts_a_correct_kernel(exercised: list[str]) -> None:
    row = in_oclgrind(own(NAIVE))
    exercised.append(f"{row.platform}|{row.device}, driver {row.driver}")
    assert (row.error, row.validation, row.differing_pixels) == ("", "ok", 0)


def test_oclgrind_is_explained(exercised: list[str]) -> None:
    row = in_oclgrind(replaced(planted.BOUNDS, ""))
    exercised.append(f"{row.platform}|{row.device}, driver {row.driver}")
    line = next(k for k, text in enumerate(NAIVE.splitlines(), 1) if planted.WRITE in text)
    assert f"Oclgrind: mine.cl:{line}: `{planted.WRITE}` writes out of bounds" in row.error
    assert "work-item (0, 29) at counts[1073], 1 beyond the last" in str(row.extra["explanation"])


def test_oclgrind_builds_with_the_lines_of_the_file() -> None:
    row = in_oclgrind(own("\nkernel void mandelbrot(global uint *counts) {\n  counts[0] = missing;\n}\n"))
    assert "does not build: mine.cl:3" in row.error
