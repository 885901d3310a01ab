"""A device of the explorer in a separate process, the role `explore`: views and blocks come in, frames go out.

The parent sends `start` once, then a `view` for each job, a `block` for each rectangle of it, and `drop` for a view
that is no longer wanted. Its work in flight ends within one launch. Blocks are counted from the view's first pixel. A
job `ahead` is one whose reference will be needed.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from mandelcl.base.errors import CancelledError, MandelclError
from mandelcl.base.lattice import Lattice
from mandelcl.base.machine import give_way
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.engine import choice_cache, choose, smoothing
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import OutputPlan
from mandelcl.engine.host_buffers import HostPool
from mandelcl.engine.loop.survey import DeviceSurvey
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.methods import method_of
from mandelcl.engine.resolve import named_as_chosen
from mandelcl.engine.smoothing import Smoothed
from mandelcl.explore.frames import FrameAddress
from mandelcl.explore.packing import Packer
from mandelcl.explore.pending import Dropped, Head, Order, PendingTasks, ViewBlocks
from mandelcl.explore.prefetch import BuildPrefetcher
from mandelcl.opencl.api import opencl_errors
from mandelcl.perturbation.pool import Pool
from mandelcl.perturbation.reference_jobs import begun_in
from mandelcl.rendering.crew.messages import corners
from mandelcl.rendering.crew.watched_device import WatchedDevice
from mandelcl.workers.channel import LAUNCHING, STARTING, Channel


@dataclass(frozen=True, slots=True)
class _View:
    """A view that is being computed: its address, its levels' pixels, and the work on the levels that have begun.

    If there is a `form`, the device makes this output from the results.
    """

    pane: int
    generation: int
    choice: Choice
    levels: Mapping[int, View]
    form: Smoothed | None
    motion: bool
    work: dict[int, Computation] = field(default_factory=dict)


class _Explorer:
    """The devices that may be used, and the programs built on them."""

    def __init__(self, channel: Channel, order: Head) -> None:
        self._channel = channel
        self._pending = PendingTasks(channel)
        self._settings = Settings(budget=order["budget"])
        found, _ = choice_cache.resolved(Job.from_json(order["job"]), order["specs"], True)
        chosen, _ = choose.select(found)
        self._devices = [WatchedDevice(device, channel) for device in chosen or choose.matching(())]
        self._device_pool: dict[str, DevicePool] = {}
        self._host_pools: dict[str, HostPool] = {}
        self._views: dict[int, _View] = {}
        self._packer = Packer(channel)
        self._prefetch = BuildPrefetcher()
        self._references = Pool(1, keeps=True, at_once=True)
        self._limit = 0  # the iteration limit of the last view
        self._last: tuple[Job, Choice] | None = None

    def run(self) -> None:
        """Handle the parent's messages, for ever."""
        while True:
            order = self._pending.next(self._packer.finish)
            if not isinstance(order, Order) and order["do"] == "ahead":
                self._look_ahead(order)
                continue
            view = order.view if isinstance(order, Order) else order["view"]
            self._views = {number: kept for number, kept in self._views.items() if self._pending.wants(number)}
            try:
                if isinstance(order, Order):
                    self._compute(order)
                else:
                    self._begin(order)
            except CancelledError:
                pass  # the view was dropped
            except MandelclError as error:
                self._channel.send({"say": "refused", "view": view, "why": str(error)})

    def _begin(self, order: Head) -> None:
        """Resolve a job and prepare its levels."""
        number = order["view"]
        cancel = Dropped(self._pending, number)
        for device in self._devices:
            device.between = STARTING
        job = self._job(order)

        def show(iterations: int) -> None:
            self._channel.send({"say": "reference", "view": number, "iterations": iterations})

        def prepare(resolved: Job) -> None:
            method_of(resolved).prepare(resolved, show, cancel)

        survey = DeviceSurvey(self._devices, True, prepare, cancel)
        choice = self._as_last(job, order["motion"]) or choose.fastest(job, self._devices, True, survey)
        prepare(choice.job)
        self._last = job, choice
        lattice = choice.job.view.lattice
        levels = {level: _view_of(lattice, level, block) for level, block in order["levels"]}
        form = smoothing.ready(choice.device, choice.job)
        view = self._views[number] = _View(order["pane"], order["generation"], choice, levels, form, order["motion"])
        work, self._limit = self._work(view, 0), choice.job.iterations
        self._channel.send(
            {
                "say": "settled",
                "view": number,
                "job": choice.job.to_json(),
                "spec": choice.device.spec,
                "name": choice.device.name,
                "warnings": choice.warnings,
                "pixels_per_s": work.rate / method_of(choice.job).cost(choice.job),
                "saturation": work.program.saturation,
                "gpu": choice.device.type != "cpu",
            }
        )
        for device in self._devices:
            device.between = LAUNCHING
            device.progressed()
        self._prefetch.look(replace(job, iterations=choice.job.iterations, auto_iterations=False), choice.device)

    def _job(self, order: Head) -> Job:
        """Return an ordered job. A reference that the server has chosen has the version that suits the devices."""
        job = Job.from_json(order["job"])
        if not order["named"]:
            return job
        return named_as_chosen(job, [choose.class_of(device, job.formula) for device in self._devices])

    def _as_last(self, job: Job, motion: bool) -> Choice | None:
        """Return the choice of the last view, for a view in motion beside the same reference; None for others.

        All that a job by perturbation leaves open follows from its reference.
        """
        if not motion or self._last is None or job.method != "perturbation" or job.auto_iterations:
            return None
        last, choice = self._last
        reference = job.reference
        if reference is None or replace(last, view=job.view) != job or not reference.reaches(job.view):
            return None
        return replace(choice, job=replace(choice.job, view=job.view), warnings=())

    def _look_ahead(self, order: Head) -> None:
        """Have the reference of a job computed by another process, so that this one keeps its time for frames."""
        job = self._job(order)
        if job.auto_iterations and self._limit:
            job = replace(job, iterations=self._limit, auto_iterations=False)
        with suppress(MandelclError):  # a view that needs the reference will report the error
            resolved = choose.fastest(job, self._devices).job
            with begun_in(self._references):
                method_of(resolved).begin(resolved)

    def _work(self, view: _View, level: int) -> Computation:
        """Return the work on a level of a view."""
        if level not in view.work:
            choice = view.choice
            spec = choice.device.spec
            device_pool = self._device_pool.setdefault(spec, DevicePool())
            host_pool = self._host_pools.setdefault(spec, HostPool(choice.device))
            own = replace(choice, job=choice.job.at(view.levels[level]))
            view.work[level] = Computation(own, self._settings, device_pool=device_pool, host_pool=host_pool)
        return view.work[level]

    def _compute(self, first: Order) -> None:
        """Compute a block, and further blocks of the same view and level that have arrived."""
        view = self._views[first.view]
        try:
            work = self._work(view, first.level)
        except MandelclError:
            self._pending.give_back([first])
            raise
        blocks = ViewBlocks(self._pending, first)
        output_plan = OutputPlan(lambda _block, shape, dtype: work.acquire(shape, dtype), form=view.form)
        reported, done = work.log.kernel_seconds, work.log.totals.iterations
        address = FrameAddress(view.pane, view.generation, first.level)
        cancel = Dropped(self._pending, first.view)
        try:
            for block, results in work.run_blocks(blocks, cancel=cancel, output_plan=output_plan):
                order = blocks.under_way.pop(block)
                seconds, iterations = work.log.kernel_seconds, work.log.totals.iterations
                head = {"say": "done", "view": order.view, "level": order.level, "block": corners(block)}
                head |= {"seconds": seconds - reported, "iterations": iterations - done}
                reported, done = seconds, iterations
                self._packer.send(head, order, address, work.job, results, view.form, motion=view.motion)
        except (CancelledError, MandelclError):
            with opencl_errors(work.device):
                work.device.finish()  # so that no kernel writes to its memory any more
            self._pending.give_back(blocks.under_way.values())
            raise


def _view_of(lattice: Lattice, level: int, block: Sequence[int]) -> View:
    """Return a block at a level of a lattice as a view. The block is counted from the anchor."""
    x, y, width, height = block
    a, b, c, d = (entry * (1 << level) for entry in lattice.matrix)
    return View(replace(lattice, matrix=(a, b, c, d), column=-x, row=-y), width, height)


def serve(channel: Channel) -> None:
    """Serve until the parent closes the pipe."""
    order, _ = channel.receive()
    give_way(5)  # the waiting page and server have priority
    _Explorer(channel, order).run()
