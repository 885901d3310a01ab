"""Stopping a render from outside: a token that is asked after each launch."""

from typing import Protocol

from mandelcl.base.errors import CancelledError


class Token(Protocol):
    """Whatever says that work is to stop; a `threading.Event` does."""

    def is_set(self) -> bool:
        """Return whether to stop."""


class Never:
    """The token of work that nobody stops."""

    def is_set(self) -> bool:
        """Return False."""
        return False


NEVER = Never()


def stop_if(token: Token) -> None:
    """Raise CancelledError where the work is to stop."""
    if token.is_set():
        raise CancelledError("stopped")
