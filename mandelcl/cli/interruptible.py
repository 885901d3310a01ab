"""Ctrl-C that is answered at once, even while a driver compiles."""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mandelcl.files.leftovers import end_process

_T = TypeVar("_T")
_WAKE_S = 0.2
_PATIENCE_S = 0.8


def interruptible(work: Callable[[threading.Event], _T]) -> _T:
    """Return work(cancel), done in another thread; on Ctrl-C `cancel` is set.

    A driver's call cannot be interrupted, and this thread would not hear of the signal before its end. Work that does
    not stop within a second is left alone and the process ends, with exit code 1 and without its drafts.
    """
    cancel = threading.Event()
    results: list[_T] = []
    errors: list[BaseException] = []
    finished = threading.Event()  # an interrupt in Thread.join leaves it in doubt whether the thread has ended

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
        while not finished.wait(_WAKE_S):  # without a limit, Windows would not wake up for the signal
            pass
    except KeyboardInterrupt:
        cancel.set()
        with suppress(KeyboardInterrupt):  # a second one means at once
            finished.wait(_PATIENCE_S)
        if not finished.is_set():
            print("mandelcl: stopped", file=sys.stderr, flush=True)
            end_process(1)
    if errors:
        raise errors[0]
    return results[0]
