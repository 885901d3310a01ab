"""Clusters with hostile workers: they say what they like, and the picture is right, or there is one line.

At some addresses something else than a scheduler answers.

Scheduler and workers are Dask's own, in a thread of this process. Their devices exist here alone: Python counts, as in
the tests of crews. One worker is honest in most cases.
"""

import asyncio
import queue
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from random import Random
from typing import Any

import numpy as np

import mandelcl
from mandelcl.base.errors import MandelclError
from mandelcl.engine.selftest import SelfTestResult
from mandelcl.engine.variant import Variant
from mandelcl.rendering.crew import crosscheck, judging
from mandelcl.rendering.crew.dask import tasks, work
from mandelcl.rendering.crew.dask.handshake import KEY, Handshake, RemoteDevice
from mandelcl.rendering.crew.dask.remote_scheduler import quiet
from mandelcl.rendering.session import Session
from tests.fuzz.ground import Ground
from tests.fuzz.messages import change
from tests.fuzz.mutations import any_value, changed
from tests.fuzz.oracle import require, require_line
from tests.host.test_cluster_strangers import Serve, listening
from tests.host.test_crew import Honest, counts, job, nonsensical

_STRANGERS = 0.2  # of the cases
_LIARS = 0.5  # of the hostile workers: their results are wrong, and most of their messages right
_START_S = 60.0  # for how long others wait for the honest worker
_WAIT_S = 2.0  # for how long a cluster may be without a worker
_DEVICE = RemoteDevice("0:0", "d", "test", "1", "d", "cpu", True, False, 1, None)
_VARIANT = Variant(1, 1, stride=1, unrolled=1, lane_columns=1, local_columns=1, local_rows=1)
_TESTED = {
    "variant": asdict(_VARIANT),
    "tested": asdict(SelfTestResult(passed=True, reason="", denormals=True, speed=1e4, loop_limit=0)),
}


class _Behaviour:
    """What a worker says: as it is told by `reported`, or honestly."""

    def __init__(self, random: Random, honest: bool) -> None:
        self.random, self.honest = random, honest
        self.lies = not honest and random.random() < _LIARS
        honest_heads = honest or (self.lies and random.random() < 0.8)
        kind = Honest if honest_heads else nonsensical([change(random) for _ in range(random.randrange(1, 4))])
        self._messages: queue.Queue[Any] = queue.Queue()
        self._worker = kind(self._messages)
        self._answering = threading.Lock()  # a block may have fewer rows than that of another thread
        self.raises = not honest_heads and random.random() < 0.2
        self.odd = not honest_heads and random.random() < 0.3

    def answer(self, head: Mapping[str, Any]) -> Any:
        """Return a message and bytes, or something else."""
        with self._answering:
            self._worker.send(head)
            reported = self._messages.get_nowait()
        if self.raises and self.random.random() < 0.5:
            raise self.random.choice((ValueError, KeyError, MemoryError, OSError, TimeoutError))("\x1b[31mno\n" * 40)
        data = np.frombuffer(bytes(reported.payload), np.uint8)
        if self.lies and head["do"] == "block":
            data = self._wrong(data, _rows(reported.head, head))
        if self.odd:
            payloads = (None, "x", [1], data.astype(object), data.reshape(-1, 1), data[::2])
            return self.random.choice(
                (None, (), (reported.head,), "no", (None, data), *((reported.head, one) for one in payloads))
            )
        return reported.head, data

    def _wrong(self, data: Any, rows: int) -> Any:
        """Return counts with a wrong one in each row, which a count may be: a part of a block's rows is checked."""
        counts = data.view("<u4").reshape(rows, -1).copy()
        column = self.random.randrange(counts.shape[1])
        right = counts[:, column]
        counts[:, column] = np.where(right > 1, right - 1, right + 1)
        return counts.reshape(-1).view(np.uint8)

    def reported(self, values: Any) -> Any:
        """Return values as they are, or with a lie among them."""
        return values if self.honest or self.random.random() < 0.5 else _changed(values, self.random)


def _rows(*heads: Any) -> int:
    """Return how many rows the results of a block have: as the first message with a block says."""
    blocks = [head["block"] for head in heads if isinstance(head, dict) and isinstance(head.get("block"), list)]
    return next(int(block[3]) for block in blocks if len(block) == 4)


_behaviours: dict[str, _Behaviour] = {}
_honest_at_work = threading.Event()  # results are checked while another worker is ready, so the others wait for one


def _here() -> _Behaviour:
    from distributed import get_worker

    return _behaviours[str(get_worker().name)]


def probe(question: Mapping[str, Any]) -> Any:  # noqa: ARG001 - as it is called
    """Answer a question about a job, in a worker."""
    return _here().reported(_TESTED)


def prepare(order: Mapping[str, Any]) -> Any:
    """Get ready for an order, in a worker."""
    return _here().answer({"do": "start", "assignment": 0, "job": order["job"]})


def compute(order: Mapping[str, Any], head: Mapping[str, Any], indices: bytes) -> Any:  # noqa: ARG001 - as it is called
    """Compute a block, in a worker."""
    behaviour = _here()
    if behaviour.honest:
        _honest_at_work.set()
    elif any(other.honest for other in _behaviours.values()):
        _honest_at_work.wait(_START_S)
    return behaviour.answer(head)


def nothing(*_values: Any) -> None:
    """Do what a worker is told at once, in a worker: nothing."""


@contextmanager
def _replaced() -> Iterator[None]:
    """Have workers do the tasks of this module, and a part of each block be computed by two of them, however late."""
    ours: dict[str, Any] = {task.__name__: task for task in (probe, prepare, compute)}
    ours |= {"drop": nothing, "restart": nothing}
    before = {name: getattr(tasks, name) for name in ours}
    constants = ((work, "REPEATED", 1), (judging, "_GRACE_S", _START_S), (crosscheck, "_MOST_REPEATED", 1000))
    usual = [getattr(module, name) for module, name, _ in constants]
    try:
        for module, name, value in constants:
            setattr(module, name, value)
        for name, task in ours.items():
            setattr(tasks, name, task)
        yield
    finally:
        for (module, name, _), value in zip(constants, usual, strict=True):
            setattr(module, name, value)
        for name, task in before.items():
            setattr(tasks, name, task)


class _Cluster:
    """A scheduler in a thread of its own, and its workers."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="fuzz cluster", daemon=True).start()
        self.address: str = self.run(self._start())
        self._workers: list[Any] = []

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Have the thread do some work, and return what comes of it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _start(self) -> str:
        from distributed import Scheduler

        self._scheduler = await Scheduler(host="127.0.0.1", port=0, dashboard=False, dashboard_address="127.0.0.1:0")
        return str(self._scheduler.address)

    async def add(self, name: str, folder: str, handshake: Any, metrics: Any) -> None:
        """Have another worker register, which says these of itself."""
        from distributed import Worker

        options: dict[str, Any] = {"name": name, "nthreads": 3, "memory_limit": 0, "local_directory": folder}
        options |= {"dashboard": False, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
        options["startup_information"] = {KEY: lambda _worker: handshake}
        options["metrics"] = {KEY: lambda _worker: metrics}
        self._workers.append(await Worker(self.address, **options))

    async def clear(self) -> None:
        """Have all workers leave."""
        workers, self._workers = self._workers, []
        await asyncio.gather(*(worker.close(nanny=False) for worker in workers))


@cache
def _cluster(folder: str) -> _Cluster:
    """Return the cluster of this process, whose files go into a folder."""
    import dask

    routes: dict[str, list[str]] = {f"distributed.{part}.http.routes": [] for part in ("scheduler", "worker")}
    # In the same process other cases leave too few files for a monitor, which would say so with a traceback.
    unwatched = {"distributed.admin.system-monitor.interval": "1d"}
    dask.config.set({**routes, **unwatched, "temporary-directory": folder})
    return _Cluster()


def clusters(ground: Ground) -> None:
    """Render on a cluster of one honest worker, or none, and some others; or where something else answers."""
    random = ground.random
    if random.random() < _STRANGERS:
        _require_refusal(ground)
        return
    honest = random.random() < 0.8
    crowd = [True] * honest + [False] * random.choice((1, 1, 2))
    random.shuffle(crowd)
    with quiet(), _replaced():
        cluster = _cluster(str(ground.lasting))
        names = [f"{'honest' if right else 'other'}-{random.getrandbits(40)}" for right in crowd]
        _behaviours.clear()
        _honest_at_work.clear()
        for name, right in zip(names, crowd, strict=True):
            own = Random(random.getrandbits(64))
            _behaviours[name] = _Behaviour(own, right)
            handshake = _introduction(own, right)
            metrics = _metrics(own, right)
            cluster.run(cluster.add(name, str(ground.lasting), handshake, metrics))
        try:
            _require_picture(ground, cluster.address, honest)
        finally:
            cluster.run(cluster.clear())


def _stranger(random: Random) -> Serve:
    """Return what something at a scheduler's address says to whoever connects; it stays, or leaves."""
    identity: Any = {"type": "Scheduler", "id": "x", "address": "tcp://127.0.0.1:1", "workers": {}}
    words = (b"", bytes(8), b"HTTP/1.0 200 OK\r\n\r\n<html>", b"SSH-2.0-x\r\n", random.randbytes(random.randrange(200)))
    sizes = (0, 1, 9, 1 << 20, 1 << 33, (1 << 64) - 1)
    reported = []
    for _ in range(random.randrange(4)):
        head = struct.pack("<QQ", 1, random.choice(sizes)) + random.randbytes(random.choice((0, 9, 300)))
        reported.append(
            random.choice((*words, head, _frame(_changed(identity, random)), _frame({"compression": None})))
        )
    ends = random.random() < 0.5

    def serve(peer: socket.socket) -> None:
        for part in reported:
            peer.sendall(part)
        if ends:
            peer.close()

    return serve


def _frame(message: Any) -> bytes:
    """Return a message as Dask's connections have it."""
    from distributed.protocol.core import dumps

    parts = dumps(message)
    lengths = struct.pack(f"<Q{len(parts)}Q", len(parts), *map(len, parts))
    return struct.pack("<Q", len(lengths) + sum(map(len, parts))) + lengths + b"".join(map(bytes, parts))


def _require_refusal(ground: Ground) -> None:
    with quiet(), listening(_stranger(ground.random)) as address:
        try:
            with Session(cluster=address, cluster_wait=1.0) as session:
                mandelcl.render(job(), session)
        except MandelclError as error:
            require_line(f"mandelcl: {error}")
            return
    require(False, "what is no scheduler was taken for one")


def _changed(values: Any, random: Random) -> Any:
    """Return values with a change in them that Dask can send."""
    from distributed.protocol.core import dumps

    while True:
        found = random.choice(
            (changed(values, random, ("launching", "x", "", True, None, 0, 1e300, -1)), any_value(random))
        )
        with suppress(OverflowError, UnicodeError, TypeError, ValueError):
            dumps(found)
            return found


def _introduction(random: Random, honest: bool) -> Any:
    reported = Handshake.here(_DEVICE).as_dict()
    return reported if honest or random.random() < 0.7 else _changed(reported, random)


def _metrics(random: Random, honest: bool) -> Any:
    reported = {"doing": "idle", "for": 0.0, "silent": 0.0}
    return reported if honest or random.random() < 0.7 else _changed(reported, random)


def _require_picture(ground: Ground, address: str, honest: bool) -> None:
    lines: list[str] = []
    try:
        with Session(cluster=address, cluster_wait=_WAIT_S) as session:
            field, report = mandelcl.render(job(), session, on_message=lines.append)
    except MandelclError as error:
        require(not honest, f"an honest worker was not enough: {error}")
        require_line(f"mandelcl: {error}")
        return
    ground.accepted = True
    for line in (*lines, *report.faults):
        require_line(f"mandelcl: {line}")
    right = np.array_equal(field.counts, counts(job()))
    require(right or not honest, "a lying worker has changed the picture")
