"""A study on the device of a Dask worker: a process of its own measures it, row by row, as a client asks for rows."""

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.crew.dask.relay import Relay
from mandelcl.workers.dialogue import Dialogue

ROLE = "study"
_PATIENCE_S = 60.0  # how long a process waits for a client that asks for no more rows


class Measuring:
    """The process that measures for one client at a time, while a relay's own computes nothing."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay
        self._turn = threading.Lock()  # held while a row is measured
        self._unwanted = threading.Event()
        self._owned = ExitStack()
        self._process: Dialogue | None = None
        self._session = ""
        self._timer: threading.Timer | None = None

    def answer(self, session: str, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the process answers to a question of a client's session; one with `study` starts a new process.

        Raises DeviceError where there is no answer: the process is then gone.
        """
        with self._turn, self._relay.alone():
            if "study" in question:
                self._start(session)
            if self._process is None or self._session != session:
                raise DeviceError("its measurement has ended")
            self._forget_timer()
            try:
                return self._process.ask(question)
            except BaseException:
                self._end()
                raise
            finally:
                self._timer = threading.Timer(_PATIENCE_S, self.end, (session,))
                self._timer.daemon = True
                self._timer.start()

    def end(self, session: str = "") -> None:
        """End the process of a session, or of whichever there is, in the middle of a row, too."""
        if session in ("", self._session):
            self._unwanted.set()
            with self._turn:
                if session in ("", self._session):
                    self._end()

    def _start(self, session: str) -> None:
        self._end()
        self._unwanted.clear()
        self._session = session
        self._process = self._owned.enter_context(Dialogue(ROLE, self._check))

    def _check(self) -> None:
        if self._unwanted.is_set():
            raise DeviceError("its measurement was ended")

    def _end(self) -> None:
        self._forget_timer()
        self._owned.close()
        self._process, self._session = None, ""

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
