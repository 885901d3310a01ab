"""References from processes are those of this one to the last bit, and what goes wrong with a process loses nothing."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import NEVER, CancelledError
from mandelcl.core.reference import Reference
from mandelcl.formulas import Formula
from mandelcl.perturbation import kept, pool, reference_jobs
from mandelcl.perturbation.helper import Helper
from mandelcl.perturbation.kept import ReferenceKey, found_orbit, kept_orbit, table_of
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.pool import Pool
from tests.host.started import started_helpers
from tests.orbits import computed_orbit

FOUR = Fraction(4)
PATIENCE_S = 600.0
DEEP = Reference(Fraction(-1), Fraction(1, 10**400), Fraction(1, 10**700), 14, 14)  # beside values below 2^−900
CUSP = Reference(Fraction(1, 4), Fraction(0), Fraction(1, 10**20), 14, 14)  # neither a period nor a proof ends it
ENDLESS = ReferenceKey(CUSP, 1 << 32, FOUR, None)
IN_JULIA = Reference(Fraction(1, 10), Fraction(1, 5), Fraction(1, 10**30), 14, 14, 2)
JULIA = Formula.parse("mandelbrot").julia(Fraction(-6, 5), Fraction(1, 10))
FOLDED_JULIA = Formula.parse("burning-ship").julia(Fraction(-6, 5), Fraction(1, 10))


@pytest.fixture(autouse=True)
def all_by_processes(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    assert not fresh_cache.exists()
    monkeypatch.setattr(reference_jobs, "_begun", OrderedDict())
    monkeypatch.setattr(pool, "_LEAST_S", 0.0)
    monkeypatch.setattr(pool, "_LEAST_SAVED_S", 0.0)


@pytest.fixture
def one() -> Iterator[Pool]:
    """Yield a pool of one process, which takes every reference."""
    with Pool(1, keeps=False) as processes:
        processes.note(computed_orbit(DEEP, 10), 1.0)
        assert processes.prefetch_count(5, 1000) == 1
        yield processes


def flat(value: Any) -> Iterator[Any]:
    """Yield the parts of nested dataclasses, arrays as their type, shape and bytes."""
    if isinstance(value, np.ndarray):
        yield value.dtype.str, value.shape, value.tobytes()
        assert value.flags.aligned
    elif is_dataclass(value):
        for field in fields(value):
            yield from flat(getattr(value, field.name))
    elif isinstance(value, tuple):
        for part in value:
            yield from flat(part)
    else:
        yield value


def here(wanted: ReferenceKey) -> list[Any]:
    """Return the parts of what is computed in this process."""
    orbit = computed_orbit(wanted.reference, wanted.iterations, formula=wanted.formula, phase=wanted.phase)
    return list(flat((orbit, table_of(wanted, orbit))))


def silent(_iterations: int) -> None:
    """Say nothing."""


@pytest.mark.full
@pytest.mark.parametrize(
    "wanted",
    [
        ReferenceKey(DEEP, 3000, FOUR, None),
        ReferenceKey(DEEP, 3000, FOUR, 53),
        ReferenceKey(Reference(Fraction(-1), Fraction(0), Fraction(1, 7), 14, 14), 100, FOUR, None),
        ReferenceKey(Reference(Fraction(2), Fraction(2), Fraction(1, 7), 14, 14), 100, Fraction(1, 10**9), None),
        ReferenceKey(IN_JULIA, 3000, FOUR, None, JULIA, 0),
        ReferenceKey(IN_JULIA, 3000, FOUR, None, JULIA, 1),
        ReferenceKey(IN_JULIA, 3000, FOUR, 53, FOLDED_JULIA, 1),
        ReferenceKey(replace(DEEP, version=2), 300, FOUR, None, Formula.parse("sqr add / absx absy sqr add"), 1),
    ],
)
def test_reference_from_a_process_has_the_same_bits(one: Pool, wanted: ReferenceKey, fresh_cache: Path) -> None:
    result = one.computed(wanted, NEVER, silent)
    assert result is not None
    assert list(flat(result)) == here(wanted)
    assert not fresh_cache.exists(), "nothing was kept on disk"


def test_stored_orbit_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_LEAST_WORK", 0)
    expected = kept_orbit(ReferenceKey(DEEP, 1000, FOUR))

    def never(*_arguments: object) -> Orbit:
        raise AssertionError

    for compute in ("reference_orbit", "exact_orbit"):
        monkeypatch.setattr(kept, compute, never)
    for max_iterations in (1000, 7):
        assert list(flat(found_orbit(ReferenceKey(DEEP, max_iterations, FOUR)))) == list(
            flat(expected.until(max_iterations))
        )
    with pytest.raises(AssertionError):
        found_orbit(ReferenceKey(DEEP, 1001, FOUR))


def test_orbits_are_stored_for_other_processes(fresh_cache: Path) -> None:
    """A long one: short ones are kept nowhere."""
    with Pool(1, keeps=True) as processes:
        processes.note(computed_orbit(DEEP, 10), 1.0)
        processes.prefetch_count(1, 1000)
        assert processes.computed(ReferenceKey(DEEP, 3000, FOUR, None), NEVER, silent) is not None
    assert len(list((fresh_cache / "orbits").iterdir())) == 1


class Asking:
    """A thread that asks a pool for a reference without end; `reported` is set once that is under way."""

    def __init__(self, processes: Pool, cancel: threading.Event) -> None:
        self.reported = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._ask, args=(processes, cancel))
        self._thread.start()
        assert self.reported.wait(PATIENCE_S)

    def _ask(self, processes: Pool, cancel: threading.Event) -> None:
        try:
            self.result = processes.computed(ENDLESS, cancel, self._report)
        except BaseException as error:
            self.error = error

    def _report(self, iterations: int) -> None:
        assert iterations > 0
        self.reported.set()

    def join(self) -> None:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> list[Helper]:
    """Return a list to which each process is added that is started."""
    return started_helpers(monkeypatch)


def runs(helper: Helper) -> bool:
    return helper._dialogue._worker.running


@pytest.mark.parametrize("how", ["cancel", "close", "kill"])
def test_running_reference_is_cancelled(one: Pool, helpers: list[Helper], how: str) -> None:
    cancel = threading.Event()
    asking = Asking(one, cancel)
    if how == "cancel":
        cancel.set()
    elif how == "close":
        one.close()
    else:
        helpers[0]._dialogue._worker.kill()
    asking.join()
    assert isinstance(asking.error, CancelledError) == (how != "kill")
    assert asking.result is None
    (helper,) = helpers
    assert not runs(helper)
    if how == "cancel":
        assert one.computed(ReferenceKey(DEEP, 30, FOUR, None), NEVER, silent) is not None, "by another process"
    elif how == "kill":
        assert one.computed(ReferenceKey(DEEP, 30, FOUR, None), NEVER, silent) is None, "it is not replaced"


@pytest.mark.full
def test_begun_reference_is_computed_by_the_pool(helpers: list[Helper], monkeypatch: pytest.MonkeyPatch) -> None:
    references = [Reference(DEEP.re, DEEP.im * (1 + k), DEEP.radius, 14, 14) for k in range(6)]
    with Pool(3, keeps=False) as processes:
        processes.note(computed_orbit(DEEP, 10), 1.0)
        assert processes.prefetch_count(9, 1000) == 3
        monkeypatch.setattr(reference_jobs, "_computed", None)  # not here
        with reference_jobs.helped(processes):
            for reference in references:
                reference_jobs.begin(ReferenceKey(reference, 500, FOUR))
            results = [
                reference_jobs.reference_and_table(ReferenceKey(reference, 500, FOUR)) for reference in references
            ]
            assert len(reference_jobs._begun) <= 2 + 3 + 1
        assert len(reference_jobs._begun) == 2
    assert [list(flat(result)) for result in results] == [
        here(ReferenceKey(each, 500, FOUR, None)) for each in references
    ]
    assert len(helpers) == 3
    assert not any(map(runs, helpers))


def test_kept_references_are_bounded_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool(4, keeps=False) as processes, reference_jobs.helped(processes):
        processes.note(computed_orbit(DEEP, 10), 1.0)
        for room, kept_most in ((1e12, 6), (0.0, 3)):
            monkeypatch.setattr(pool, "available_bytes", lambda room=room: room)
            processes.prefetch_count(100, 1000)
            for max_iterations in range(10, 18):
                reference_jobs.reference_and_table(ReferenceKey(DEEP, max_iterations, FOUR))
            assert len(reference_jobs._begun) == kept_most


def test_reference_of_a_dead_process_is_computed_locally(
    helpers: list[Helper], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Helper.compute

    def killed(self: Helper, *arguments: Any) -> Any:
        self._dialogue._worker.kill()
        return ask(self, *arguments)

    monkeypatch.setattr(Helper, "compute", killed)
    with Pool(2, keeps=False) as processes, reference_jobs.helped(processes):
        processes.note(computed_orbit(DEEP, 10), 1.0)
        processes.prefetch_count(9, 1000)
        for max_iterations in (100, 200, 300):
            orbit, table = reference_jobs.reference_and_table(ReferenceKey(DEEP, max_iterations, FOUR))
            assert list(flat((orbit, table))) == here(ReferenceKey(DEEP, max_iterations, FOUR, None))
    assert len(helpers) == 2, "none is started in place of one that died"


def test_abandoned_reference_is_cancelled(helpers: list[Helper]) -> None:
    with Pool(1, keeps=False) as processes:
        processes.note(computed_orbit(DEEP, 10), 1.0)
        processes.prefetch_count(9, 1000)
        with reference_jobs.helped(processes):
            reference_jobs.begin(ReferenceKey(CUSP, 1 << 32, FOUR))
        (begun,) = reference_jobs._begun.values()
        begun.thread.join(PATIENCE_S)
        assert not begun.thread.is_alive()
        assert not any(map(runs, helpers))


def test_references_under_way_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the limits as they are
    orbit = computed_orbit(DEEP, 1000)
    with Pool(8, keeps=False) as processes:
        assert processes.prefetch_count(100, 1000) == 8, "the first takes long already, since nothing is known of it"
        processes.note(orbit, 0.001)
        assert processes.prefetch_count(100, 1000) == 1, "short ones are computed one ahead, in a thread"
        assert processes.computed(ReferenceKey(DEEP, 30, FOUR, None), NEVER, silent) is None
        processes.note(orbit, 0.5)
        assert [processes.prefetch_count(left, 1000) for left in (100, 5, 0)] == [8, 5, 0]
        assert processes.prefetch_count(1, 1000) == 1
        assert processes.computed(ReferenceKey(DEEP, 30, FOUR, None), NEVER, silent) is None, (
            "there is too little to save"
        )
        monkeypatch.setattr(pool, "available_bytes", lambda: 4 * 3.5 * 1.5 * 160 * orbit.length)
        assert processes.prefetch_count(100, 10**9) == 3, "memory for three such orbits"
        assert processes.prefetch_count(100, 10) == 8, "none is longer than its iteration limit"
        monkeypatch.setattr(pool, "available_bytes", lambda: 0.0)
        assert processes.prefetch_count(100, 10**9) == 1


def test_pool_size_is_limited_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "cores", lambda: 16)
    found = []
    for memory, many in ((1e12, 1000), (1e12, 5), (4 * 3e8, 1000), (0.0, 1000)):
        monkeypatch.setattr(pool, "available_bytes", lambda memory=memory: memory)
        found.append(Pool.for_many(many, keeps=False).most)
    assert found == [16, 5, 2, 1]


def test_process_finishing_while_pool_closes_is_ended(helpers: list[Helper], monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Helper.compute
    processes = Pool(1, keeps=False)
    processes.note(computed_orbit(DEEP, 10), 1.0)
    processes.prefetch_count(9, 1000)
    monkeypatch.setattr(pool, "_FAREWELL_S", 0.0)  # who closes it is the very thread that has the process

    def closing(self: Helper, *arguments: Any) -> Any:
        result = ask(self, *arguments)
        processes.close()
        return result

    monkeypatch.setattr(Helper, "compute", closing)
    assert processes.computed(ReferenceKey(DEEP, 30, FOUR, None), NEVER, silent) is not None
    assert not any(map(runs, helpers))
