"""Unfinished renders on disk."""

import time
from pathlib import Path


def wait_for_a_band(path: Path) -> None:
    """Return once a render has stored a band."""
    limit = time.monotonic() + 600
    while not list(path.parent.glob(f"{path.name}.part/band-???????")):
        assert time.monotonic() < limit, "no band was stored"
        time.sleep(0.01)
