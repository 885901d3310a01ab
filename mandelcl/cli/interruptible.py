"""Signals that ask a process to stop, answered within a second, even while a driver compiles."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mandelcl import interrupts
from mandelcl.cli.progress import say
from mandelcl.files.leftovers import end_process

_T = TypeVar("_T")
_WAKE_S = 0.2
_PATIENCE_S = 0.8


def interruptible(work: Callable[[threading.Event], _T]) -> _T:
    """Run work(cancel) in another thread and return its result; KeyboardInterrupt, as of Ctrl-C, sets `cancel`.

    A call into a driver cannot be interrupted, and in this thread it would hold the signal back. Work that does not
    stop within a second is abandoned: its drafts are removed, and the process ends with exit code 1.
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

    thread = threading.Thread(target=run, name="mandelcl work", daemon=True)
    try:
        thread.start()
        while not finished.wait(_WAKE_S):  # without a timeout, Windows would not wake up for the signal
            if interrupts.unheeded():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        interrupts.heed()
        cancel.set()
        with suppress(KeyboardInterrupt):  # a second one means at once
            finished.wait(_PATIENCE_S)
        if not finished.is_set():
            say("mandelcl: stopped")
            end_process(1)
    if errors:
        raise errors[0]
    return results[0]
