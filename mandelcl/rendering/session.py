"""Sessions: devices whose contexts, programs, rates and memory are kept for several jobs."""

import os
import weakref
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from mandelcl.base.errors import NEVER, InvalidInputError, Token, require_type
from mandelcl.base.renamed import renamed_arguments
from mandelcl.core.job import Job
from mandelcl.core.planes import CERTIFIED
from mandelcl.engine import choose
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings, ShowProgress
from mandelcl.engine.computing.work import Work
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.host_buffers import HostPool
from mandelcl.engine.iteration_limit import Survey
from mandelcl.engine.loop import survey
from mandelcl.engine.loop.survey import DeviceSurvey
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.resolve import limited, samples_of
from mandelcl.files import cache
from mandelcl.opencl.device import Device
from mandelcl.rendering.waiting import ExactCounts, await_reference

if TYPE_CHECKING:  # imported where needed: most processes do one job on one device
    from distributed import Client

    from mandelcl.rendering.crew.crew import Crew
    from mandelcl.rendering.crew.dask.connection import Connection

OnMessage = Callable[[str], None]
_MOST_CHOICES = 256


def _silent(_line: str) -> None:
    """Report nothing."""


@dataclass(slots=True)
class _MessageSink:
    """The receiver of fault reports. A crew refers to this object rather than to the session that owns it."""

    on_message: OnMessage = _silent

    def report(self, line: str) -> None:
        self.on_message(line)


def require_devices(devices: Any, kinds: tuple[type, ...]) -> None:
    """Raise InvalidInputError unless `devices` is one object of these types, or a sequence of them."""
    several = isinstance(devices, Collection) and not isinstance(devices, str)
    for device in devices if several else [devices]:
        require_type(device, kinds, "a device")


class Session:
    """Devices for several jobs: everything built, measured and allocated is kept until `close`.

    `devices` are SPECs as on the command line ("gpu", "0:0", or a list of them), or devices. Several devices share each
    picture, each in its own process, which is kept, too. By default, the fastest device is chosen for each job. With a
    `cluster`, its workers compute the pictures. `cluster` is a `distributed.Client`, which you close yourself, the
    address of a scheduler ("tcp://host:8786"), or "local:N" for N workers on this machine, to which the SPECs are
    assigned. `cluster_wait` is the number of seconds to wait while the cluster has no worker. A session does one job at
    a time. Use it as a context manager, or call `close`. Only the process that made it can use it, not a forked one.

        with mandelcl.Session("gpu") as session:
            for view in views:
                field, report = mandelcl.render(mandelcl.Job(view), session)
    """

    def __init__(
        self,
        devices: choose.DeviceSelection = (),
        *,
        cluster: "Client | str | None" = None,
        cluster_wait: float = 60.0,
    ) -> None:
        require_devices(devices, (str, Device))
        require_type(cluster_wait, (int, float), "how long a cluster may be without a worker")
        if not cluster_wait >= 0:
            raise InvalidInputError(f"a cluster may be without a worker for 0 s or more, not {cluster_wait} s")
        self._process, self._closed = os.getpid(), False
        self._cluster = None if cluster is None else _connected(cluster, devices, cluster_wait)
        selected, self._required_specs = choose.select(devices) if cluster is None else ([], set())
        self.devices: list[Device] = (selected or choose.matching(())) if cluster is None else []
        self._shared = len(selected) > 1
        self._device_pool: dict[str, DevicePool] = {}
        self._host_pools: dict[str, HostPool] = {}
        self._choices: dict[tuple[Job, bool], choose.Choice] = {}  # for resolved jobs that have not begun yet
        self._crew: Crew | None = None
        self._crew_of: tuple[object, ...] = ()
        self._dropped: weakref.finalize[..., Session] | None = None
        self._messages = _MessageSink()

    def __enter__(self) -> Self:
        self._require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def has_processes(self) -> bool:
        """Whether other processes compute the pictures."""
        return self._shared or self._cluster is not None

    def close(self) -> None:
        """Release all memory on the devices and end the processes. The session cannot be used afterwards."""
        if os.getpid() != self._process:
            return  # everything belongs to the parent of this forked process
        self._closed = True
        self._device_pool.clear()
        for host_pool in self._host_pools.values():
            host_pool.clear()
        self._end_crew()
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None

    def _end_crew(self) -> None:
        if self._dropped is not None:
            self._dropped.detach()
            self._dropped = None
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    def _keep(self, crew: "Crew", crew_of: tuple[object, ...]) -> None:
        """Keep a crew for further jobs of its kind. It ends with the session, even if that is never closed."""
        self._crew, self._crew_of = crew, crew_of
        self._dropped = weakref.finalize(self, _end, crew, self._process)
        self._dropped.atexit = False

    def _require_open(self) -> None:
        """Raise InvalidInputError if the session is closed or belongs to another process."""
        if self._closed:
            raise InvalidInputError("the session is closed; make a new one")
        if os.getpid() != self._process:
            raise InvalidInputError("the session belongs to the parent of this forked process; make a new session here")

    @renamed_arguments(notice="on_message")
    def begin(
        self,
        job: Job,
        settings: Settings | None = None,
        on_message: OnMessage = _silent,
        progress: ShowProgress | None = None,
        cancel: Token = NEVER,
    ) -> Work:
        """Resolve a job and begin the work on it, on one device or shared by several. Return the work.

        This ends any earlier work. `on_message` is called with lines for the user. `progress` is called while the job's
        reference orbit is computed (set `cancel` to end this with CancelledError) and, from any thread, while counts
        are proved. Raises DeviceError if no device can do the job, and InvalidInputError for a job that no number can
        hold, or for settings that several devices cannot share.
        """
        self._require_open()
        settings = settings or Settings()
        self._messages.on_message = on_message
        wait = partial(await_reference, progress=progress, on_message=on_message, cancel=cancel)
        job = self.limited(job, settings, on_message, progress, cancel)
        work: Work
        if self._cluster is not None:
            work = self._distribute(self._cluster, job, settings, wait)
            choice = choose.fastest(work.job, choose.matching(())) if CERTIFIED.name in work.job.planes else None
        elif self._shared:
            work, choice = self._share(job, settings, wait)
        else:
            choice = self._choices.get((job, settings.self_test)) or survey.fastest(
                job, self.devices, settings.self_test, wait
            )
            wait(choice.job)
            work = self._computation(choice, settings)
        if CERTIFIED.name in work.job.planes and choice is not None:
            from mandelcl.rendering.certify.work import certified

            work = certified(work, choice, settings, ExactCounts(progress, on_message).show, on_message)
        for warning in (*work.warnings, *cache.complaints()):
            on_message(warning)
        return work

    def resolved(self, job: Job, self_test: bool = True) -> tuple[Job, tuple[str, ...]]:
        """Return a job resolved for the devices, and warnings. Raises the same errors as `begin`; begins no work.

        The choice of a device is kept for a later `begin`.
        """
        self._require_open()
        job = self.limited(job, Settings(self_test=self_test))
        if self._cluster is not None:
            from mandelcl.rendering.crew.dask.placement import Placement

            parts, _ = Placement(self._cluster, self_test).resolved(job)
            return parts[0].job, parts[0].warnings
        if self._shared:
            choices, _ = choose.several(job, self.devices, self_test, self._required_specs)
            return choices[0].job, choices[0].warnings
        choice = survey.fastest(job, self.devices or choose.matching(()), self_test)
        self._choices[choice.job, self_test] = choice
        for old in list(self._choices)[:-_MOST_CHOICES]:
            del self._choices[old]
        return choice.job, choice.warnings

    @renamed_arguments(notice="on_message")
    def limited(
        self,
        job: Job,
        settings: Settings | None = None,
        on_message: OnMessage = _silent,
        progress: ShowProgress | None = None,
        cancel: Token = NEVER,
    ) -> Job:
        """Return a job with its automatic iteration limit resolved by a survey of its view; other jobs are unchanged.

        `on_message` is called with lines for the user, and `progress` while a reference orbit is computed. Raises the
        same errors as `begin`.
        """
        self._require_open()
        if not job.auto_iterations:
            return job
        job, notes = limited(job, *self._surveying(job, settings or Settings(), progress, cancel), shared=self._several)
        for note in notes:
            on_message(note)
        return job

    def samples_of(
        self,
        job: Job,
        settings: Settings | None = None,
        progress: ShowProgress | None = None,
        cancel: Token = NEVER,
    ) -> int | str:
        """Return how many samples a pixel of a job takes that leaves them open, by a survey of its view.

        They are `auto` if that is cheap, otherwise 1. Raises the errors of `begin`.
        """
        self._require_open()
        return samples_of(job, *self._surveying(job, settings or Settings(), progress, cancel), shared=self._several)

    @property
    def _several(self) -> bool:
        """Whether several devices share each job."""
        return self._shared or self._cluster is not None

    def _surveying(
        self, job: Job, settings: Settings, progress: ShowProgress | None, cancel: Token
    ) -> tuple[list[DeviceClass], Survey]:
        """Return the classes of all devices, and what surveys a job on them."""
        wait = partial(await_reference, progress=progress, on_message=_silent, cancel=cancel)
        if self._cluster is not None:
            from mandelcl.rendering.crew.dask.work import ClusterSurvey

            members = self._cluster.await_members()
            begin = partial(self._distribute, self._cluster, settings=settings, wait=wait)
            return [member.device.device_class for member in members], ClusterSurvey(begin, wait, cancel)
        classes = [choose.class_of(device, job.formula, settings.self_test) for device in self.devices]
        return classes, DeviceSurvey(self.devices, settings.self_test, wait, cancel)

    def _computation(self, choice: choose.Choice, settings: Settings) -> Work:
        device = choice.device
        device_pool = self._device_pool.setdefault(device.spec, DevicePool())
        host_pool = self._host_pools.setdefault(device.spec, HostPool(device))
        return Computation(choice, settings, device_pool=device_pool, host_pool=host_pool)

    def _share(self, job: Job, settings: Settings, wait: Callable[[Job], None]) -> tuple[Work, choose.Choice]:
        """Return a work shared by several devices, and the choice of one of them."""
        _require_shareable(settings, f"{len(self.devices)}")
        choices, notes = choose.several(job, self.devices, settings.self_test, self._required_specs)
        for note in notes:
            self._messages.report(note)
        wait(choices[0].job)  # each device's process reads the reference from disk
        if len(choices) == 1:
            return self._computation(choices[0], settings), choices[0]
        resolved = choices[0].job
        crew_of = (
            settings,
            resolved.method,
            resolved.number,
            resolved.rounding,
            *((c.device.spec, c.variant) for c in choices),
        )
        if self._crew is not None and self._crew_of == crew_of and self._crew.whole:
            self._crew.reset(resolved)
            return self._crew, choices[0]
        from mandelcl.rendering.crew.crew import Crew

        self._end_crew()
        crew = Crew(choices, settings, on_message=self._messages.report)
        self._keep(crew, crew_of)
        return crew, choices[0]

    def _distribute(self, cluster: "Connection", job: Job, settings: Settings, wait: Callable[[Job], None]) -> "Crew":
        """Return the work of a cluster. It keeps its workers for further jobs of the same kind."""
        _require_shareable(settings, "the workers of a cluster")
        from mandelcl.rendering.crew.dask.work import cluster_work, taken_over

        if self._crew is None or self._crew_of != (settings,) or not taken_over(self._crew, job, wait):
            self._end_crew()
            self._keep(cluster_work(cluster, job, settings, self._messages.report, wait), (settings,))
            assert self._crew is not None
        return self._crew


def _end(crew: "Crew", process: int) -> None:
    """End a crew whose session is gone, but only in the process that owns it."""
    if os.getpid() == process:
        crew.close()


def _connected(cluster: "Client | str", devices: choose.DeviceSelection, wait: float) -> "Connection":
    from mandelcl.rendering.crew.dask.connection import Connection

    given = [devices] if isinstance(devices, str | Device) else list(devices)
    specs = [device if isinstance(device, str) else device.spec for device in given]
    return Connection.to(cluster, specs, wait)


def _require_shareable(settings: Settings, who: str) -> None:
    """Raise InvalidInputError for settings that need a single device."""
    for what, value in (("blocks", settings.blocks), ("variants", settings.variant), ("rectangles", settings.watch)):
        if value is not None:
            raise InvalidInputError(f"{what} need a single device, but {who} share the picture; name one device")
