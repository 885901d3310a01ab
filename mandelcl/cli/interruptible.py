"""Answer signals that stop the process within a second, even while a driver compiles."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mandelcl.base import interrupts
from mandelcl.base.errors import BuildError, CancelledError, remark
from mandelcl.cli.progress import print_line
from mandelcl.files.leftovers import end_process

_T = TypeVar("_T")
_WAKE_S = 0.1
_PATIENCE_S = 0.8
_STANDARD_ERROR = 2  # the descriptor, which drivers write to


def interruptible(work: Callable[[threading.Event], _T]) -> _T:
    """Run work(cancel) in another thread and return its result. A signal, such as SIGINT from Ctrl-C, sets `cancel`.

    A call into a driver cannot be interrupted, and in the main thread it would delay the signal. Work that does not
    stop within a second is abandoned: its temporary files are removed, and the process ends.
    """
    cancel = threading.Event()
    results: list[_T] = []
    errors: list[BaseException] = []
    finished = threading.Event()  # after an interrupt, Thread.join cannot tell whether the thread has ended

    def run() -> None:
        try:
            results.append(work(cancel))
        except BaseException as error:
            errors.append(error)
        finally:
            finished.set()

    with _Quiet() as drivers, interrupts.Noted(drivers.quieten):
        threading.Thread(target=run, name="mandelcl work", daemon=True).start()
        if not _finishes(finished):
            cancel.set()
            if not _finishes(finished, _PATIENCE_S):
                drivers.restore()
                print_line("mandelcl: stopped")
                end_process(interrupts.exit_code())
    if errors:
        raise _message_of(errors[0])
    return results[0]


class _Quiet:
    """Standard error, which can be silenced from within the handler of a signal until the end of the body.

    LLVM handles signals as well, and removes files that a compiler still needs; PoCL's then prints an error. So nothing
    that is printed between the signal and the end of the work is shown. Remarks come with the work's error.
    """

    def __enter__(self) -> "_Quiet":
        self._nothing = self._shown = -1
        with suppress(OSError):  # without a standard error, or with too many open files, there is nothing to silence
            self._nothing = os.open(os.devnull, os.O_WRONLY)
            self._shown = os.dup(_STANDARD_ERROR)
        return self

    def __exit__(self, *_error: object) -> None:
        self.restore()
        for descriptor in (self._nothing, self._shown):
            if descriptor >= 0:
                os.close(descriptor)

    def quieten(self) -> None:
        if self._shown >= 0:
            os.dup2(self._nothing, _STANDARD_ERROR, inheritable=True)

    def restore(self) -> None:
        if self._shown >= 0:
            os.dup2(self._shown, _STANDARD_ERROR, inheritable=True)


def _message_of(error: BaseException) -> BaseException:
    """Return the error to report. A compiler error after a stop request is reported as the cancellation.

    That is LLVM's answer to the signal. Remarks on the error, such as which results
    are kept, are reported in any case.
    """
    if not interrupts.have_come() or not isinstance(error, BuildError):
        return error
    stopped = CancelledError("stopped")
    for text in getattr(error, "remarks", ()):
        remark(stopped, text)
    return stopped


def _finishes(finished: threading.Event, seconds: float | None = None) -> bool:
    """Wait for an event, with or without a timeout. Return False after the timeout or after a signal."""
    limit = None if seconds is None else time.monotonic() + seconds
    try:
        while not finished.wait(_WAKE_S):  # without a timeout, a signal would not wake the thread on Windows
            if interrupts.unheeded():
                break
            if limit is not None and time.monotonic() > limit:
                return False
    except KeyboardInterrupt:  # if `interrupts` has no handler installed
        pass
    interrupts.heed()
    return finished.is_set()
