"""References and their tables, computed in a thread while devices start, and kept for the next job of the process.

Where many jobs follow one another, the references of later ones are computed by the processes of a pool.
"""

import atexit
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from mandelcl.base.errors import NEVER, CancelledError, Token
from mandelcl.core import timeline
from mandelcl.core.reference import Reference
from mandelcl.perturbation.kept import ReferenceKey, found_orbit, kept_orbit, table_of
from mandelcl.perturbation.orbit import AT_LIMIT, Orbit
from mandelcl.perturbation.table import Table

if TYPE_CHECKING:  # most processes have one job
    from mandelcl.perturbation.pool import Pool

Make: TypeAlias = Callable[[Orbit, Table], Any]

_MOST_KEPT = 2  # references, with their tables
_FAREWELL_S = 1.0
_LOOK_S = 0.1
_pool: ContextVar["Pool | None"] = ContextVar("pool", default=None)


class _UnderWay:
    """An orbit that is computed: how many iterations of it are done, how many wait for it, and what stops it."""

    def __init__(self) -> None:
        self.iterations = self.waiting = 0
        self.cancel = threading.Event()

    def note(self, iterations: int) -> None:
        """Note how many iterations are done."""
        self.iterations = iterations


@dataclass(frozen=True, slots=True)
class _Begun:
    """A reference under way, or done; those of one orbit share `orbit`. What else was `made` of it is there as well."""

    future: "Future[tuple[Orbit, Table]]"
    thread: threading.Thread
    orbit: _UnderWay
    made: dict[Hashable, Any]

    @property
    def failed(self) -> bool:
        """Whether it has ended without a result, or is to."""
        if self.future.done():
            return self.future.exception() is not None
        return self.orbit.cancel.is_set()


_begun: OrderedDict[ReferenceKey, _Begun] = OrderedDict()
_changing = threading.Lock()


@contextmanager
def helped(pool: "Pool") -> Iterator[None]:
    """Have what this thread begins while the body runs computed by a pool, as far as that computes it, and kept.

    Of what was begun last, so much more is kept meanwhile; afterwards, what is under way for nobody is stopped.
    """
    token = _pool.set(pool)
    try:
        yield
    finally:
        _pool.reset(token)
        with _changing:
            for begun in _begun.values():
                if not begun.future.done() and not begun.orbit.waiting:
                    begun.orbit.cancel.set()
            _forget(_MOST_KEPT)


@contextmanager
def begun_in(pool: "Pool") -> Iterator[None]:
    """Have what this thread begins while the body runs computed by a pool, and nothing else made of it."""
    token = _pool.set(pool)
    try:
        yield
    finally:
        _pool.reset(token)


def begin(key: ReferenceKey, then: tuple[Hashable, Make] | None = None) -> None:
    """Begin to compute what `reference_and_table` returns, unless that has been begun.

    Where a pool helps, `then` is what is made of them at once, and the name by which `pop_packed` returns it.
    """
    _of(key, then)


def pop_packed(key: ReferenceKey, name: Hashable) -> Any:
    """Return what was made of an orbit and its table by the time that they were there, once; else None."""
    begun = _of(key)
    begun.future.result()
    return begun.made.pop(name, None)


def reference_and_table(key: ReferenceKey) -> tuple[Orbit, Table]:
    """Return the orbit of a reference and its table, once they are computed; raises what that raised.

    With the key's `unit_bits` the table has bounds on errors, for numbers of so many bits.
    """
    with timeline.span("wait for the reference", "wait"):
        return _of(key).future.result()


def await_begun(key: ReferenceKey, progress: Callable[[int], None], cancel: Token = NEVER) -> None:
    """Wait until `reference_and_table` can return at once; `progress` is called now and then with the iterations done.

    Where `cancel` is set before, this raises CancelledError, and nothing more is computed unless others wait for it.
    Raises what the computation raised.
    """
    begun = _of(key)
    with timeline.span("wait for the reference", "wait"):
        with _changing:
            begun.orbit.waiting += 1
        try:
            while not wait([begun.future], _LOOK_S).done:
                if cancel.is_set():
                    raise CancelledError("stopped")
                progress(begun.orbit.iterations)
        finally:
            with _changing:
                begun.orbit.waiting -= 1
                if not begun.orbit.waiting and cancel.is_set() and not begun.future.done():
                    begun.orbit.cancel.set()
    begun.future.result()


def _of(key: ReferenceKey, then: tuple[Hashable, Make] | None = None) -> _Begun:
    pool = _pool.get()
    with _changing:
        begun = _begun.get(key)
        if begun is None or begun.failed:
            begun = _begun[key] = _with_end(key) or _started(key, pool, then)
        _begun.move_to_end(key)
        _forget(_MOST_KEPT + (pool.depth if pool else 0))
        return begun


def _forget(most: int) -> None:
    """Forget what was used longest ago, beyond so many with all their phases; what is under way is not."""
    of_phases = OrderedDict.fromkeys(key._replace(phase=0) for key in reversed(_begun))
    kept = set(list(of_phases)[:most])
    for old in list(_begun):
        if old._replace(phase=0) not in kept and _begun[old].future.done():
            del _begun[old]


def _started(key: ReferenceKey, pool: "Pool | None", then: tuple[Hashable, Make] | None) -> _Begun:
    future: Future[tuple[Orbit, Table]] = Future()
    made: dict[Hashable, Any] = {}
    alike = (begun for begun_key, begun in _begun.items() if begun_key.of_orbit == key.of_orbit)
    other = next((begun for begun in alike if not begun.failed and not begun.orbit.cancel.is_set()), None)
    under_way = other.orbit if other else _UnderWay()

    def compute() -> None:
        try:
            result = pool.computed(key, under_way.cancel, under_way.note) if pool and not other else None
            result = result or _computed(key, other, under_way, pool)
            if pool and then and pool.packs:
                name, make = then
                with timeline.span("pack the reference"):
                    made[name] = make(*result)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    thread = threading.Thread(target=compute, name="mandelcl reference", daemon=True)
    thread.start()
    return _Begun(future, thread, under_way, made)


def _computed(
    key: ReferenceKey, other: _Begun | None, under_way: _UnderWay, pool: "Pool | None"
) -> tuple[Orbit, Table]:
    """Return an orbit and its table, computed here; the orbit is that of another key where that has it."""
    began = perf_counter()
    with timeline.span("reference"):
        if other:
            orbit = other.future.result()[0]
        else:
            compute = found_orbit if pool and not pool.keeps else kept_orbit
            orbit = compute(key, under_way.cancel, under_way.note)
    with timeline.span("table of steps"):
        table = table_of(key, orbit, under_way.cancel)
    if pool:
        pool.note(orbit, perf_counter() - began)
    return orbit, table


def known_end(key: ReferenceKey) -> bool:
    """Return whether a reference's orbit is known that ends before the iteration limit.

    Such an orbit also serves every higher limit.
    """
    with _changing:
        return _with_end(key) is not None


def known_orbit(key: ReferenceKey) -> Orbit | None:
    """Return the orbit of a reference; None where it is not known."""
    with _changing:
        begun = _begun.get(key) or _with_end(key)
    return begun.future.result()[0] if begun is not None and begun.future.done() and not begun.failed else None


def map_period(reference: Reference) -> int:
    """Return the period of a reference's return map; 0 where it has none, or its orbit is not known."""
    with _changing:
        known = [begun for key, begun in _begun.items() if key.reference == reference and not begun.failed]
    for begun in known:
        orbit = begun.future.result()[0] if begun.future.done() else None
        if orbit is not None and orbit.returns is not None:
            return orbit.returns.period
        if orbit is not None and orbit.mapped is not None:
            return orbit.mapped.map.period
    return 0


def _with_end(key: ReferenceKey) -> _Begun | None:
    """Return the job of another iteration limit of the same reference, if its orbit ends before both limits."""
    for other, begun in _begun.items():
        if other._replace(iterations=key.iterations) == key and begun.future.done() and not begun.failed:
            orbit, _ = begun.future.result()
            if orbit.ended != AT_LIMIT and orbit.iterations <= key.iterations:
                return begun
    return None


@atexit.register
def _stop() -> None:
    """End what nobody waits for any more, before the interpreter does."""
    for begun in _begun.values():
        begun.orbit.cancel.set()
    for begun in _begun.values():
        begun.thread.join(_FAREWELL_S)
