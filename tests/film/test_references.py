"""Keyframes whose references come from other processes are the fields of renders, whatever becomes of these."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.film.folder import Folder, held
from mandelcl.film.keyframes import compute
from mandelcl.film.path import Stop
from mandelcl.film.plan import FilmPlan
from mandelcl.formulas import Formula
from mandelcl.perturbation import packing, pool, reference_jobs
from mandelcl.perturbation.helper import Helper
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from tests.film.conftest import film
from tests.film.test_keyframes import Soon, digests
from tests.host.started import started_helpers

pytestmark = pytest.mark.usefixtures("usable")
PROCESSES = 2


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> list[Helper]:
    """Have processes take all references but the first; return a list to which each is added that is started."""
    assert not fresh_cache.exists()
    monkeypatch.setattr(reference_jobs, "_begun", OrderedDict())
    monkeypatch.setattr(pool, "cores", lambda: PROCESSES)
    monkeypatch.setattr(pool, "_LEAST_S", 0.0)
    monkeypatch.setattr(pool, "_LEAST_SAVED_S", 0.0)
    return started_helpers(monkeypatch)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Helper]:
    """Return a list to which a process is added each time that it is asked."""
    numbers: list[Helper] = []
    ask = Helper.compute

    def note(self: Helper, *arguments: Any) -> Any:
        numbers.append(self)
        return ask(self, *arguments)

    monkeypatch.setattr(Helper, "compute", note)
    return numbers


def deep() -> FilmPlan:
    """Return the plan of a film that is as deep as it is small."""
    return film(Stop.of(0, 1, 10**30), Stop.of(0, 1, 10**32), size=(16, 9), iterations=300)


def julia() -> FilmPlan:
    """Return the same beside a repelling fixed point of a Julia set."""
    formula = Formula.parse("mandelbrot").julia(Fraction(-2), Fraction(0))
    return film(Stop.of(2, 0, 10**30), Stop.of(2, 0, 10**32), size=(16, 9), iterations=300, formula=formula)


def check(folder: Folder) -> None:
    """Compare each keyframe with a render of its own, whose reference this process computes."""
    reference_jobs._begun.clear()
    with Session() as session:
        for number in range(folder.plan.keyframes):
            field = folder.field(number)
            assert field.job.method == "perturbation"
            assert digests(field) == digests(render(field.job, session)[0]), number


def none_runs(helpers: list[Helper]) -> bool:
    return not any(helper._dialogue._worker.running for helper in helpers)


@pytest.mark.full
@pytest.mark.parametrize("plan", [deep, julia])
def test_keyframes_with_pool_references_equal_renders(
    plan: Callable[[], FilmPlan], helpers: list[Helper], asked: list[Helper], tmp_path: Path, fresh_cache: Path
) -> None:
    with held(tmp_path / "keys", plan()) as folder, Session() as session:
        done = compute(folder, session)
        assert len(helpers) == PROCESSES
        assert len(asked) >= folder.plan.keyframes - 2, "the first may be computed here"
        assert none_runs(helpers)
        references = {key._replace(phase=0) for key in reference_jobs._begun}
        assert len(references) == 2, "memory is given back"
        check(folder)
    assert done.keyframes == 8
    assert 0 <= done.waited_for_references + done.waited_for_writing <= done.seconds
    assert not (fresh_cache / "orbits").exists(), "nobody asks for them again"


@pytest.mark.full
def test_references_are_packed_in_their_threads(
    helpers: list[Helper], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    threads: list[str] = []
    pack = packing.packed

    def note(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        return pack(*arguments)

    monkeypatch.setattr(packing, "packed", note)
    with held(tmp_path / "keys", deep()) as folder, Session() as session:
        compute(folder, session)
    assert threads == ["mandelcl reference"] * 8, "each once, and not while devices wait"
    assert len(helpers) == PROCESSES


@pytest.mark.full
def test_dead_reference_process_loses_no_keyframe(
    helpers: list[Helper], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ask = Helper.compute

    def killed(self: Helper, *arguments: Any) -> Any:
        if self is helpers[0]:
            self._dialogue._worker.kill()
        return ask(self, *arguments)

    monkeypatch.setattr(Helper, "compute", killed)
    lines: list[str] = []
    with held(tmp_path / "keys", deep()) as folder, Session() as session:
        assert compute(folder, session, on_message=lines.append).keyframes == 8
        check(folder)
    assert none_runs(helpers)
    assert lines == []


@pytest.mark.full
def test_a_film_that_is_stopped_leaves_no_process(helpers: list[Helper], tmp_path: Path) -> None:
    asked = 5
    while True:
        with held(tmp_path / "keys", deep()) as folder, Session() as session:
            missing = len(folder.missing())
            try:
                compute(folder, session, cancel=Soon(asked))
            except CancelledError:
                assert len(folder.missing()) <= missing
                asked += 5
            else:
                check(folder)
                break
            finally:
                assert none_runs(helpers)
                assert not list(folder.path.glob("*.new"))
    assert asked > 5
