"""The trial of a user's kernel on one device, from outside its process, with deadlines."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.engine.variant import fit_local
from mandelcl.files.leftovers import in_temporary_folder
from mandelcl.lab import own_kernel
from mandelcl.lab.own_kernel import contract, faults
from mandelcl.lab.own_kernel.contract import KernelFile, Size
from mandelcl.lab.own_kernel.faults import KernelFaultError, Overrun
from mandelcl.lab.own_kernel.one_file import other_file
from mandelcl.lab.own_kernel.worker import BuildTask, RunTask
from mandelcl.lab.studies.timing import TimingSample
from mandelcl.opencl import oclgrind
from mandelcl.opencl.kernels import Parameter
from mandelcl.workers.dialogue import Dialogue

_START_S = 120.0  # for a process to start, and a driver to load
_LEAST_BUILD_S = 15.0  # for a compiler, whatever patience there is
_SMALL_SIDE, _SMALL_ITERATIONS, _SMALL_S = 16, 16, 15.0
_GRACE_S = 5.0  # copies, and a driver that compiles at the first launch


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """The launch of a kernel: its work-group, None for a suitable one, and its work-items, None for one per pixel."""

    local: Size | None = None
    items: Size | None = None


class Trial:
    """A kernel built in a process of its own, for a device by its SPEC; it ends with the `with` block.

    `facts` are what `running.Built.facts` returns. What the kernel does wrong is raised as a KernelFaultError; `check`
    is called from time to time, and may raise. With `simulator`, Oclgrind's library, it runs there, and on no device.
    """

    def __init__(
        self,
        kernel: KernelFile,
        device: str,
        number: NumberFormat,
        patience: float,
        check: Callable[[], None],
        simulator: Path | None = None,
    ) -> None:
        self.kernel, self._device, self._number, self._patience = kernel, device, number, patience
        self._simulator = simulator
        self._ends = ExitStack()
        self._check = check

    def __enter__(self) -> Self:
        line = other_file(self.kernel.text)
        if line:
            raise faults.not_one_file(self.kernel, line)
        try:
            self._folder = self._ends.enter_context(in_temporary_folder("mandelcl-kernel-"))
            self._log = self._folder / "oclgrind.log"
            self._process = self._ends.enter_context(Dialogue("kernel", self._check, 4 * contract.MOST_PIXELS))
            self.facts = self._built()
        except BaseException:
            self._ends.close()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ends.close()

    def _built(self) -> Mapping[str, Any]:
        environment = dict(oclgrind.checking(self._log))
        if self._simulator is not None:
            environment |= oclgrind.alone(self._simulator, self._folder)
        text, double = contract.source(self.kernel, self._number), self._number.needs_fp64
        folder, alone = str(self._folder), self._simulator is not None
        task = BuildTask(self._device, text, contract.KERNEL, double, folder, environment, alone)
        self._process.allow(_START_S, DeviceError(f"the driver did not open the device within {_START_S:g} s"))
        self._ask(asdict(task))
        seconds = max(self._patience, _LEAST_BUILD_S)
        self._process.allow(seconds, faults.hung_build(seconds))
        facts = self._heard(self._process.hear)[0]
        if "log" in facts:
            raise faults.not_built(self.kernel, str(facts["log"]), self._number)
        if contract.KERNEL not in facts["names"]:
            raise faults.no_kernel(self.kernel, facts["names"])
        reason = self._wrong_parameters(facts)
        if reason:
            raise faults.wrong_parameters(reason)
        return facts

    def _wrong_parameters(self, facts: Mapping[str, Any]) -> str:
        parameters = self.parameters(facts)
        if parameters is not None:
            return contract.wrong_parameter(parameters, self._number)
        given, wanted = facts["number_of_parameters"], len(contract.PARAMETERS)
        return "" if given == wanted else f"it has {given} parameters, the contract has {wanted}"

    def parameters(self, facts: Mapping[str, Any] | None = None) -> list[Parameter] | None:
        """Return the kernel's parameters as its source declares them; None if the driver does not report them."""
        found = (self.facts if facts is None else facts)["parameters"]
        return None if found is None else [Parameter(*own) for own in found]

    def task(self, job: Job, shape: LaunchShape) -> RunTask:
        """Return the launch of a resolved job; raises KernelFaultError for work-groups that it cannot have."""
        view, encode = job.view, by_name(job.number).arithmetic("separate").encode
        left, top, pitch = (float(encode(value)) for value in (view.lattice.re, view.lattice.im, view.pitch))
        local, items = self._grid(view, shape)
        return RunTask(view.width, view.height, left, top, pitch, job.iterations, local, items)

    def _grid(self, view: View, shape: LaunchShape) -> tuple[Size, Size]:
        required, limit = self.facts["required_group"], int(self.facts["group_limit"])
        local = shape.local or fit_local(*own_kernel.LOCAL, limit)
        if required is not None:
            if shape.local is not None and [*shape.local, 1] != [*required]:
                demanded = "x".join(map(str, required))
                raise KernelFaultError(
                    "group", f"it asks for work-groups of {demanded} (reqd_work_group_size), --local for others"
                )
            local = required[0], required[1]
        if local[0] * local[1] > limit:
            given = f"work-groups of {local[0]}x{local[1]} work-items"
            raise KernelFaultError(
                "group", f"{given} are too large: this kernel may have {limit} here; give a smaller --local"
            )
        return local, shape.items or (view.width, view.height)

    def run(self, task: RunTask) -> tuple[Words, Overrun]:
        """Return the counts of one run and what was written beside them.

        A small picture has to end first, except in Oclgrind. Raises KernelFaultError if the kernel hangs, or ends
        its process.
        """
        on_device = self.facts["platform"] != oclgrind.PLATFORM
        if on_device:
            self._run_small(task)
        self._process.allow(self._patience + _GRACE_S, faults.hung(self._patience, small_ended=on_device))
        answer, data = self._ask(asdict(task))
        counts: Words = np.frombuffer(data, np.uint32).reshape(task.height, task.width)
        return counts, _overrun(answer)

    def _run_small(self, task: RunTask) -> None:
        pitch = task.pitch * max(task.width, task.height) / _SMALL_SIDE  # to show the same, inside and outside
        small = replace(task, width=_SMALL_SIDE, height=_SMALL_SIDE, pitch=pitch, items=(_SMALL_SIDE, _SMALL_SIDE))
        small = replace(small, max_iterations=min(task.max_iterations, _SMALL_ITERATIONS))
        seconds = min(self._patience, _SMALL_S)
        self._process.allow(seconds + _GRACE_S, faults.hung_small(seconds))
        self._ask(asdict(small))

    def time(self, task: RunTask, repeat: int) -> tuple[list[TimingSample], bool, Overrun]:
        """Return the times of `repeat` runs or more, whether the last had the counts of the first, and the overrun."""
        seconds = 2 * self._patience + _GRACE_S  # the last run may begin just before the patience ends
        self._process.allow(seconds, faults.hung(self._patience, small_ended=True))
        answer, _ = self._ask(asdict(replace(task, repeat=repeat, patience=self._patience)))
        samples = [TimingSample(**sample) for sample in answer["samples"]]
        return samples, bool(answer["same"]), _overrun(answer)

    def complaints(self) -> str:
        """Return Oclgrind's output, if the kernel runs there. It is complete when a run has ended."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""

    def _ask(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        return self._heard(lambda: self._process.ask_for_bytes(question))

    def _heard(self, next_answer: Callable[[], tuple[dict[str, Any], Any]]) -> tuple[dict[str, Any], Any]:
        try:
            answer, data = next_answer()
        except KernelFaultError:
            raise
        except DeviceError as error:
            why = str(error)
            if "the driver ended the process" not in why:
                raise
            raise faults.crashed(why.partition("(")[2].removesuffix(")")) from None
        if "failed" in answer:
            raise KernelFaultError("failed", str(answer["failed"]))
        return answer, data


def _overrun(answer: Mapping[str, Any]) -> Overrun:
    runs = answer["overrun"]
    return Overrun(*([(int(first), int(number)) for first, number in runs[key]] for key in ("before", "after")))
