"""A device under soak, seen from the parent: a process that is asked for one round after another, and may hang."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

from mandelcl.base.errors import DeviceError
from mandelcl.base.text import printable
from mandelcl.lab.soak.record import UNITS, JobFacts, JobRun, Round
from mandelcl.opencl.device import Device
from mandelcl.workers.dialogue import Dialogue
from mandelcl.workers.supervised import RestartPolicy

POLICY = RestartPolicy(start=300.0, launch=30.0)  # copies may take as long as launches
_MOST = 1 << 53


class Soaking(Protocol):
    """A device that does rounds of known jobs. It ends with the `with` block."""

    jobs: Sequence[JobFacts]

    def __enter__(self) -> Self:
        """Return itself."""

    def __exit__(self, *exception: object) -> None:
        """End it."""

    def round(self, number: int) -> Round:
        """Do each job once; raises DeviceError if the device fails, hangs or dies."""


class SoakProcess:
    """A device under soak in a process of its own (a `Soaking`).

    Each of its jobs takes about `seconds`. `check` is called while it works, and may raise. Raises DeviceError if the
    device cannot be prepared.
    """

    def __init__(
        self,
        device: Device,
        seconds: float,
        check: Callable[[], None],
        *,
        self_test: bool = True,
        policy: RestartPolicy = POLICY,
        command_line: tuple[str, ...] = (),
    ) -> None:
        self._dialogue = Dialogue("soak", check, command_line=command_line, policy=policy)
        try:
            order = {"spec": device.spec, "type": device.type, "seconds": seconds, "self_test": self_test}
            answer = self._dialogue.ask(order)
            self.jobs: Sequence[JobFacts] = [_job(values) for values in _list(answer.get("jobs"))]
        except BaseException:
            self._dialogue.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._dialogue.__exit__()

    def round(self, number: int) -> Round:
        """Do each job once; raises DeviceError if the device fails, hangs or dies."""
        answer = self._dialogue.ask({"round": number})
        runs = [_run(values) for values in _list(answer.get("runs"))]
        if len(runs) != len(self.jobs):
            raise DeviceError("the process sent an invalid message")
        return Round(runs, _number(answer.get("others")))


def _list(value: object) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise DeviceError("the process sent an invalid message")
    return value


def _job(values: Mapping[str, Any]) -> JobFacts:
    """Return the facts of a job in a process's message. Raises DeviceError if they are invalid."""
    name, text, counted, steady = (values.get(key) for key in ("name", "text", "counted", "steady"))
    if not (isinstance(name, str) and isinstance(text, str) and isinstance(steady, bool) and counted in UNITS):
        raise DeviceError("the process sent an invalid message")
    sizes = _whole(values.get("words")), _whole(values.get("width"))
    return JobFacts(printable(name), printable(text), str(counted), sizes[0], max(1, sizes[1]), steady)


def _run(values: Mapping[str, Any]) -> JobRun:
    first = values.get("first")
    if first is not None:
        if not isinstance(first, list) or len(first) != 3:
            raise DeviceError("the process sent an invalid message")
        index, expected, found = (_whole(value) for value in first)
        first = index, expected, found
    return JobRun(_number(values.get("work")), _number(values.get("seconds")), _whole(values.get("wrong")), first)


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value < _MOST:
        raise DeviceError("the process sent an invalid message")
    return value


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise DeviceError("the process sent an invalid message")
    return value
