"""Signals that ask a process to stop: Ctrl-C, a closed terminal, `kill` and whatever else ends jobs and sessions.

Little is imported here, and before: a process answers them once this module is loaded. What comes earlier is Python's
own beginning, in which Ctrl-C ends in a traceback of Python's.
"""

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than the rest
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from types import FrameType

    Answer = Callable[[int, FrameType | None], object] | int
else:
    try:
        import _signal as signal  # to which `signal` adds enumerations, which take longer to load than all the rest
    except ImportError:
        import signal

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # the third on POSIX, the last on Windows
_come = False
_heeded = True
_noting = 0  # bodies of Noted that are under way


def answer() -> None:
    """Have each of them raise KeyboardInterrupt; those that the process was started to ignore, as by `nohup`, stay so.

    To be called once, in the main thread.
    """
    import atexit

    _set(_interrupt)
    # What is registered first is called last: then drivers end, and a signal would still end the process by its name.
    atexit.register(ignore)


def have_come() -> bool:
    """Return whether any has come since `answer`."""
    return _come


def unheeded() -> bool:
    """Return whether one has come that nobody has heeded: code of others may swallow the exception."""
    return not _heeded


def heed() -> None:
    """Take note that those that have come are answered."""
    global _heeded
    _heeded = True


class Noted:
    """In the body of `with Noted()` they raise nothing and are only noted: `unheeded` says whether one has come.

    Raised in the middle of what takes a lock, such as waiting for an event, KeyboardInterrupt would leave it taken for
    ever; raised while a library makes its types, it may end the process.
    """

    def __enter__(self) -> None:
        global _noting
        _noting += 1

    def __exit__(self, *_error: object) -> None:
        global _noting
        _noting -= 1


def raise_unheeded() -> None:
    """Raise KeyboardInterrupt if one was noted that nobody has heeded; in the main thread alone."""
    import threading

    if unheeded() and not _noting and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


def answer_with(end: "Callable[[], object]") -> None:
    """Call a function for each of them from here on, in the main thread."""
    _set(lambda _number, _frame: end())


def ignore() -> None:
    """Leave them all unanswered from here on: to another process, or because this one ends anyway."""
    try:  # noqa: SIM105 - little is imported here
        _set(signal.SIG_IGN)
    except ValueError:  # not in the main thread, and Python lets no other say so
        pass


def _interrupt(number: int, frame: "FrameType | None") -> None:
    global _come, _heeded
    _come, _heeded = True, False
    if not _noting:
        signal.default_int_handler(number, frame)


def _set(answer: "Answer") -> None:
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, answer)
