"""A client's connection to a Dask cluster: its workers, and tasks for one worker at a time."""

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from mandelcl.base.errors import DeviceError, InvalidInputError
from mandelcl.base.extras import load
from mandelcl.base.text import printable
from mandelcl.rendering.crew.dask.address import SchedulerAddress, how_to_start
from mandelcl.rendering.crew.dask.members import Member, Members

if TYPE_CHECKING:
    from distributed import Client

    from mandelcl.rendering.crew.dask.supervisor import Supervisor

_T = TypeVar("_T")

WAIT_S = 60.0
_FIRST_LOOKS_S, _LOOKS_S = 0.1, 1.0  # how often the scheduler is asked for its workers: before the first one, and later
_ANSWER_S = 30.0  # how long the scheduler may be silent
_CLOSED_S = 5.0  # how long a connection that was closed may take to come back
_CLOSE_S = 5.0
_REACH_S = 3.0  # how long a worker may take to answer the client itself
_TICK_S = 0.05


class Connection:
    """A client of a cluster, and the workers with a device that the cluster has.

    `wait` is for how many seconds a cluster may be without a worker. What is `owned` is closed with it.
    """

    def __init__(
        self, client: "Client", wait: float = WAIT_S, *, owned: ExitStack | None = None,
        supervisor: "Supervisor | None" = None,
    ) -> None:  # fmt: skip
        if client.asynchronous:
            raise InvalidInputError("the client of a cluster must not be an asynchronous one")
        self.client, self.wait = client, wait
        self.session = uuid.uuid4().hex
        self.members = Members()
        self.address = _address_of(client)
        self._owned, self._supervisor = owned or ExitStack(), supervisor
        self._loop = _loop_of(client)
        self._answered = self._connected = time.monotonic()
        self._lost = ""
        self._direct = True  # whether all workers so far could be reached without the scheduler
        self._reaching: dict[Member, asyncio.Task[None]] = {}
        self._watching = self.spawn(self._watch())

    @classmethod
    def to(cls, where: "str | Client", devices: Sequence[str] = (), wait: float = WAIT_S) -> Self:
        """Return a connection to a cluster: a client's, that of a scheduler's address, or one on this machine.

        The devices are for workers on this machine. Raises InvalidInputError for a text that names no cluster, and
        DeviceError where none is reached.
        """
        address = SchedulerAddress.parse(where) if isinstance(where, str) else None
        if devices and (address is None or address.scheduler):
            raise InvalidInputError(
                "devices are for workers on this machine: name them to `mandelcl cluster-worker`, not here"
            )
        require_dask()
        if address is None:
            import distributed

            if not isinstance(where, distributed.Client):
                raise InvalidInputError("a cluster is a distributed.Client, an address or local[:N]")
            return cls(where, wait)
        if address.scheduler:
            from mandelcl.rendering.crew.dask.remote_scheduler import connected

            with ExitStack() as stack:
                client = stack.enter_context(connected(address.scheduler, wait))
                return cls(client, wait, owned=stack.pop_all())
        from mandelcl.rendering.crew.dask.address import local_cluster

        with ExitStack() as stack:
            client, supervisor = stack.enter_context(local_cluster(devices, address.workers))
            return cls(client, wait, owned=stack.pop_all(), supervisor=supervisor)

    def close(self) -> None:
        """Leave the cluster; what belongs to this connection alone ends."""
        self._watching.cancel()
        self._owned.close()

    def check(self) -> None:
        """Raise DeviceError where the cluster is lost."""
        if self._lost:
            raise DeviceError(f"cannot reach the cluster at {self.address}: {self._lost}")

    def require(self, since: float) -> None:
        """Raise DeviceError where the cluster has been without a worker for too long, `since` a time.monotonic."""
        self.check()
        supervisor, members = self._supervisor, self.members
        if supervisor is not None and supervisor.given_up:
            raise DeviceError("; ".join(dict.fromkeys(supervisor.trouble)))
        if time.monotonic() - since > self.wait:
            others = f"; {members.others} workers of it have no device" if members.others else ""
            why = f": {'; '.join(members.refused.values())}" if members.refused else ""
            cure = f"start some with `{how_to_start(self.address)}`"
            if supervisor is not None:
                why = f": {'; '.join(dict.fromkeys(supervisor.trouble))}" if supervisor.trouble else ""
                cure = f"on a busy machine `--cluster-wait {10 * max(self.wait, 1):g}` gives them time to start"
            raise DeviceError(f"no worker of {self.address} can compute after {self.wait:g} s{why}{others}; {cure}")

    def await_members(self, check: Callable[[], None] = lambda: None) -> list[Member]:
        """Return the workers with a device, as soon as there is one; raises DeviceError as `require` does.

        Where there is none a task waits for one, so that an adaptive cluster starts some. `check` may raise.
        """
        since = time.monotonic()
        knocking = None
        try:
            while not self.members.present:
                self.require(since)
                check()
                if knocking is None and self.members.known and not self.members.others:
                    knocking = self.spawn(self._knock())
                time.sleep(_TICK_S)
        finally:
            if knocking is not None:
                knocking.cancel()
        return list(self.members.present.values())

    def spawn(self, work: Coroutine[Any, Any, _T]) -> "ThreadFuture[_T]":
        """Have the client's event loop do some work; return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def ask(self, member: Member, task: Callable[..., _T], *values: Any, priority: int = 0) -> _T:
        """Return what a task of one worker returns.

        Raises what the task raises, DeviceError where the worker is gone, and asyncio.CancelledError where the task was
        cancelled or the connection is lost.
        """
        if member.call is not None:
            await asyncio.wait([member.call], timeout=_ANSWER_S)
        name = f"mandelcl-{getattr(task, '__name__', 'task')}"
        await self._reach(member)
        future = self.client.submit(
            task, *values, key=f"{name}-{uuid.uuid4().hex}", workers=[member.address], pure=False, priority=priority,
        )  # fmt: skip
        # A message by the scheduler takes three times as long, and Dask mixes results in flight.
        gathered = self.client.gather(future, direct=self._direct, asynchronous=True)
        done: asyncio.Future[_T] = asyncio.ensure_future(gathered)
        done.add_done_callback(lambda one: one.cancelled() or one.exception())  # the caller may have stopped waiting
        try:
            while not (await asyncio.wait([done], timeout=_LOOKS_S))[0]:
                if member.gone:
                    raise DeviceError("it has left the cluster")
            return done.result()
        finally:
            if not done.done():  # gathering ends by itself once the task is cancelled; if it were, Dask would complain
                with suppress(Exception):
                    await asyncio.wait_for(self.client.cancel([future], asynchronous=True, force=True), _CLOSE_S)
            future.release()

    def control(self, member: Member, task: Callable[..., Any], *values: Any) -> "ThreadFuture[None]":
        """Have a worker call something at once, whatever its tasks are; return the future of the call."""

        async def call() -> None:
            if member.gone:
                return
            member.call = asyncio.current_task()
            with suppress(Exception):
                await self.client.run(task, *values, workers=[member.address], wait=True, on_error="ignore")

        return self.spawn(call())

    async def _reach(self, member: Member) -> None:
        """Find out, once, whether a worker can be reached without the scheduler."""
        if member not in self._reaching:
            self._reaching = {other: task for other, task in self._reaching.items() if not other.gone}
            self._reaching[member] = asyncio.create_task(self._try(member))
        await asyncio.wait([self._reaching[member]])

    async def _try(self, member: Member) -> None:
        from distributed.comm.core import connect

        try:
            comm = await connect(member.address, timeout=_REACH_S, **self.client.connection_args)
            await comm.close()
        except Exception:  # whatever is in the way
            self._direct = False

    async def _knock(self) -> None:
        from mandelcl.rendering.crew.dask import tasks

        future = self.client.submit(tasks.knock, key=f"mandelcl-knock-{uuid.uuid4().hex}", pure=False)
        try:
            await asyncio.sleep(self.wait)
        finally:
            future.release()

    async def _watch(self) -> None:
        """Keep the members up to date until the connection is closed or lost."""
        while not self._lost:
            await self._look()
            await asyncio.sleep(_LOOKS_S if self.members.present else _FIRST_LOOKS_S)

    async def _look(self) -> None:
        now = time.monotonic()
        status = self.client.status
        scheduler = self.client.scheduler
        if status == "running" and scheduler is not None:
            self._connected = now
            try:
                answer = await asyncio.wait_for(scheduler.identity(), _ANSWER_S)
                self._answered = time.monotonic()
                self.members.update(answer["workers"])
                return
            except (OSError, TimeoutError) as error:
                why = printable(str(error)) or type(error).__name__
        else:
            self.members.clear()  # tasks are lost with the connection
            why = "the connection is closed"
        now = time.monotonic()
        if status == "closed" or now - self._connected > _CLOSED_S or now - self._answered > _ANSWER_S:
            self.members.clear()
            self._lost = why


def require_dask() -> None:
    """Raise DeviceError, with the command that installs it, if there is no Dask, or with why it does not load."""
    load("distributed", "a cluster needs Dask", "cluster", DeviceError)


def _address_of(client: "Client") -> str:
    scheduler = client.scheduler
    return str(scheduler.address) if scheduler is not None else "the cluster"


def _loop_of(client: "Client") -> asyncio.AbstractEventLoop:
    loop: Any = client.loop
    found: asyncio.AbstractEventLoop = loop.asyncio_loop
    return found
