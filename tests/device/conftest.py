"""What device tests share."""

import pytest

from mandelcl.workers.process import WorkerProcess


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[WorkerProcess]:
    """Return a list to which every worker process that a crew starts is added."""
    started: list[WorkerProcess] = []

    class Recorded(WorkerProcess):
        def __init__(self, *arguments: object, **settings: object) -> None:
            super().__init__(*arguments, **settings)  # type: ignore[arg-type]
            started.append(self)

    monkeypatch.setattr("mandelcl.crew.crew.WorkerProcess", Recorded)
    return started
