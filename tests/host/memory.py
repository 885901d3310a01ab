"""How much memory a test's body may take."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def allocating(at_most: int) -> Iterator[None]:
    """Fail where the body takes so many bytes at a time, or more; those of libraries are not seen."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < at_most, f"{peak} bytes at a time, and {at_most} would be too many"
