"""The processes for references that are started during a test."""

from collections.abc import Callable
from typing import Any

import pytest

from mandelcl.perturbation.helper import Helper


def started_helpers(monkeypatch: pytest.MonkeyPatch) -> list[Helper]:
    """Return a list to which each process is added that is started from here on."""
    started: list[Helper] = []
    begin: Callable[..., None] = Helper.__init__

    def note(self: Helper, *arguments: Any) -> None:
        begin(self, *arguments)
        started.append(self)

    monkeypatch.setattr(Helper, "__init__", note)
    return started
