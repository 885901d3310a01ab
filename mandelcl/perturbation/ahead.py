"""References and their tables, computed in a thread while devices start, and kept for the next job of the process."""

import atexit
import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from mandelcl import timeline
from mandelcl.perturbation.kept import kept_orbit
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.table import Table, build
from mandelcl.reference import Reference

_MOST_KEPT = 2  # references, with their tables
_FAREWELL_S = 1.0

_Key: TypeAlias = tuple[Reference, int, Fraction, int | None]


@dataclass(frozen=True, slots=True)
class _Begun:
    """A reference under way, or done."""

    future: "Future[tuple[Orbit, Table]]"
    thread: threading.Thread
    cancel: threading.Event

    @property
    def failed(self) -> bool:
        """Whether it has ended without a result."""
        return self.future.done() and self.future.exception() is not None


_begun: OrderedDict[_Key, _Begun] = OrderedDict()
_changing = threading.Lock()


def begin(reference: Reference, iterations: int, radius_squared: Fraction, unit_bits: int | None = None) -> None:
    """Begin to compute the orbit of a reference and its table, as `beside` returns them, unless that has been begun."""
    _of((reference, iterations, radius_squared, unit_bits))


def beside(
    reference: Reference, iterations: int, radius_squared: Fraction, unit_bits: int | None = None
) -> tuple[Orbit, Table]:
    """Return the orbit of a reference and its table, once they are computed; raises what that raised.

    With `unit_bits` the table has bounds on errors, for numbers of so many bits.
    """
    with timeline.span("wait for the reference", "wait"):
        return _of((reference, iterations, radius_squared, unit_bits)).future.result()


def _of(key: _Key) -> _Begun:
    with _changing:
        begun = _begun.get(key)
        if begun is None or begun.failed:
            begun = _begun[key] = _started(key)
        _begun.move_to_end(key)
        for old in list(_begun)[:-_MOST_KEPT]:
            if _begun[old].future.done():
                del _begun[old]
        return begun


def _started(key: _Key) -> _Begun:
    future: Future[tuple[Orbit, Table]] = Future()
    cancel = threading.Event()
    alike = (begun for begun_key, begun in _begun.items() if _orbit_of(begun_key) == _orbit_of(key))
    other = next((begun for begun in alike if not begun.failed), None)

    def compute() -> None:
        reference, iterations, radius_squared, unit_bits = key
        try:
            with timeline.span("reference"):
                orbit = other.future.result()[0] if other else kept_orbit(reference, iterations, radius_squared, cancel)
            with timeline.span("table of steps"):
                table = build(orbit, reference.radius, reference.step_bits, unit_bits=unit_bits)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result((orbit, table))

    thread = threading.Thread(target=compute, name="mandelcl reference", daemon=True)
    thread.start()
    return _Begun(future, thread, cancel)


def _orbit_of(key: _Key) -> _Key:
    """Return what decides an orbit alone: the bits of steps and tail do not."""
    reference, iterations, radius_squared, _ = key
    return replace(reference, step_bits=0, tail_bits=0), iterations, radius_squared, None


@atexit.register
def _stop() -> None:
    """End what nobody waits for any more, before the interpreter does."""
    for begun in _begun.values():
        begun.cancel.set()
    for begun in _begun.values():
        begun.thread.join(_FAREWELL_S)
