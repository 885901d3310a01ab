"""What `--cluster` takes: the address of a scheduler, or `local[:N]`."""

import re
from dataclasses import dataclass
from typing import Self

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

_MOST_LOCAL = 256
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")


@dataclass(frozen=True, slots=True)
class SchedulerAddress:
    """A scheduler's address or, if that is empty, a number of workers on this machine."""

    scheduler: str
    workers: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return what a text names; raises InvalidInputError where it is no address."""
        local = re.fullmatch(r"local(?::([0-9]{1,4}))?", text)
        if local:
            workers = int(local[1] or 1)
            if not 1 <= workers <= _MOST_LOCAL:
                raise InvalidInputError(f"a cluster on this machine has 1 to {_MOST_LOCAL} workers, not {workers}")
            return cls("", workers)
        if re.fullmatch(
            rf"({'|'.join(_SCHEMES)})://[^\s/:]+(:[0-9]{{1,5}})?|({'|'.join(_SCHEMES)})://\[[^\s/]+\]:[0-9]{{1,5}}",
            text,
        ):
            return cls(text)
        raise InvalidInputError(f"a cluster is tcp://HOST:8786, tls://HOST:8786, local or local:N, not {quoted(text)}")


def how_to_start(scheduler: str) -> str:
    """Return the command that starts workers for a scheduler."""
    return f"mandelcl cluster-worker {scheduler}"
