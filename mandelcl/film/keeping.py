"""Keyframes are written by a thread of its own while the next one is resolved and waits for its reference."""

from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from typing import Self

from mandelcl.core import timeline
from mandelcl.core.field import Field
from mandelcl.film.folder import Folder


class Keeping:
    """Writes keyframes to a folder, one after the other; where the `with` block ends, none is under way.

    `waited` is for how many seconds `keep` and `wait` have waited.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._writer = ThreadPoolExecutor(1, "mandelcl keyframes")
        self._writing: Future[None] | None = None
        self.waited = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._writer.shutdown()

    def keep(self, number: int, field: Field) -> None:
        """Begin to write a keyframe, once the one before is written; raises what writing that has raised."""
        self.wait()
        self._writing = self._writer.submit(self._folder.keep, number, field)

    def wait(self) -> None:
        """Return when what was given to `keep` is written; raises what that raised."""
        writing, self._writing = self._writing, None
        if writing is not None:
            began = perf_counter()
            with timeline.span("wait for a keyframe to be written", "wait"):
                writing.result()
            self.waited += perf_counter() - began
