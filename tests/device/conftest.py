"""What device tests share."""

import pytest

from mandelcl.crew.handle import Handle


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Handle]:
    """Return a list to which every worker process that is started is added."""
    started: list[Handle] = []

    class Recorded(Handle):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            started.append(self)

    monkeypatch.setattr("mandelcl.crew.seat.Handle", Recorded)
    return started
