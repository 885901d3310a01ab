"""Signals that ask a process to stop, such as Ctrl-C, `kill` and a closed terminal.

Little is imported here, and before: a process answers them once this module is loaded. What comes earlier is Python's
own beginning, in which Ctrl-C ends in a traceback of Python's.
"""

import _thread  # `threading` takes longer to load than all the rest
import sys
import time

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than the rest
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    Answer = Callable[[int, FrameType | None], object] | int
else:
    try:
        import _signal as signal  # to which `signal` adds enumerations, which take longer to load than all the rest
    except ImportError:
        import signal

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # the third on POSIX, the last on Windows
_PAUSE_S = 0.02
_AGAIN_S = 0.5
_come: "Any" = 0  # the number of the last one, which `_signal` has as an int
_answers = 0  # how often Python has called `_interrupt`
_heeded = True
_below: "FrameType | None" = None  # who has called `answer`: whatever is imported is imported above
_main = 0  # the thread that has called it
_noting: "list[Callable[[], object]]" = []  # what the bodies of Noted that are under way do at once


def answer() -> None:
    """Have each of them raise KeyboardInterrupt; those that the process was started to ignore, as by `nohup`, stay so.

    To be called once, in the main thread.
    """
    import atexit

    global _below, _main
    _below, _main = sys._getframe(1), _thread.get_ident()
    _set(_interrupt)
    sys.unraisablehook = _unraisable
    # What is registered first is called last: then drivers end, and a signal would still end the process by its name.
    atexit.register(ignore)


def have_come() -> bool:
    """Return whether any has come since `answer`."""
    return bool(_come)


def exit_code() -> int:
    """Return the exit code of a process that was stopped: 128 plus the signal's number, as in shells, or Ctrl-C's."""
    return 128 + int(_come or signal.SIGINT)


def unheeded() -> bool:
    """Return whether an interrupt was not handled. Other libraries may swallow the exception."""
    return not _heeded


def heed() -> None:
    """Take note that those that have come are answered."""
    global _heeded
    _heeded = True


class Noted:
    """In the body of `with Noted()` they raise nothing and are only noted: `unheeded` says whether one has come.

    Raised in the middle of what takes a lock, such as waiting for an event, KeyboardInterrupt would leave it taken for
    ever; raised while a library makes its types, it may end the process. A function that is given is called at once.
    """

    def __init__(self, at_once: "Callable[[], object]" = lambda: None) -> None:
        self._at_once = at_once

    def __enter__(self) -> None:
        _noting.append(self._at_once)

    def __exit__(self, *_error: object) -> None:
        _noting.pop()


def raise_unheeded() -> None:
    """Raise KeyboardInterrupt if an interrupt was noted and not handled. Only the main thread does."""
    if _noting or not unheeded():
        return
    import threading

    if threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def answer_with(end: "Callable[[], object]") -> None:
    """Call a function for each of them from here on, in the main thread."""
    _set(lambda _number, _frame: end())


def ignore() -> None:
    """Leave them all unanswered from here on: to another process, or because this one ends anyway."""
    try:  # noqa: SIM105 - little is imported here
        _set(signal.SIG_IGN)
    except ValueError:  # only the main thread may set handlers
        pass


def _interrupt(number: int, frame: "FrameType | None") -> None:
    global _come, _heeded, _answers
    _come, _heeded = number, False
    _answers += 1
    if _noting:
        _noting[-1]()
        return
    if _is_importing(frame):
        _send_again()
    else:
        signal.default_int_handler(number, frame)


def _is_importing(frame: "FrameType | None") -> bool:
    """Return whether a module is being imported, in which nothing should be raised.

    Importing calls functions of which Python prints errors and goes on, and libraries load themselves by parts that
    take an exception for a reason to do without something.
    """
    while frame is not None and frame is not _below:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _send_again() -> None:
    """Have the last one come again in a moment and until Python answers it, unless it is heeded by then.

    One that comes just before a call that waits does not end that call, and Python answers it only afterwards.
    """
    before = _answers

    def send() -> None:
        time.sleep(_PAUSE_S)
        while _answers == before and not _heeded:
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(_main, _come)  # which ends a call that waits, as `interrupt_main` does not on POSIX
            else:
                _thread.interrupt_main(_come)
            time.sleep(_AGAIN_S)

    try:
        _thread.start_new_thread(send, ())
    except RuntimeError:  # this process may have no more threads
        raise KeyboardInterrupt from None


def _unraisable(problem: "sys.UnraisableHookArgs") -> None:
    """Answer again what cannot be raised where it came, as in the end of an object; say other things as Python does."""
    if _come and issubclass(problem.exc_type, KeyboardInterrupt):
        _send_again()
    else:
        sys.__unraisablehook__(problem)


def _set(answer: "Answer") -> None:
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, answer)
