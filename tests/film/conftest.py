"""What tests of films share: small films of few keyframes."""

from pathlib import Path
from typing import Any

import pytest

from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import find_palette
from mandelcl.core.job import Job
from mandelcl.film.folder import Folder, held
from mandelcl.film.keyframes import compute
from mandelcl.film.path import Stop
from mandelcl.film.plan import FilmPlan
from mandelcl.rendering.session import Session

WIDE = Stop.of("-0.75", 0, "1.6")
VALLEY = Stop.of("-0.7452", "0.1275", 20)
WIDTH, HEIGHT = 48, 28


def film(*stops: Stop, size: tuple[int, int] = (WIDTH, HEIGHT), samples: int = 1, **changes: Any) -> FilmPlan:
    """Return the plan of a small film."""
    stops = stops or (WIDE, VALLEY)
    settings: dict[str, Any] = {"iterations": 200, "planes": ("counts", "smooth")} | changes
    job = Job(stops[-1].view(*size), **settings)
    return FilmPlan(stops, *size, job, Colouring(find_palette("classic")), samples)


@pytest.fixture(scope="session")
def computed(usable: None, tmp_path_factory: pytest.TempPathFactory) -> Folder:  # noqa: ARG001 - see `usable`
    """Return a folder with all keyframes of a small film."""
    path = tmp_path_factory.mktemp("film") / "small.keys"
    with held(path, film()) as folder, Session() as session:
        compute(folder, session)
    return Folder(Path(path), folder.plan)
