"""Roles of workers that exist only in tests."""

import os
import time

import mandelcl
from mandelcl.workers.channel import BUILDING, Channel


def echo(channel: Channel) -> None:
    """Answer each question with itself and the package in use, until there is the question to leave."""
    while not (question := channel.question()).get("leave"):
        channel.answer({**question, "package": mandelcl.__file__, "pid": os.getpid()})


def fail(channel: Channel) -> None:
    channel.question()
    raise ValueError("a role\x1b[31m that fails")


def die(channel: Channel) -> None:
    channel.question()
    print("last words of a driver")
    os._exit(7)


def build(channel: Channel) -> None:
    """Be building for an hour, without a look at any message."""
    channel.announce(BUILDING)
    time.sleep(3600)


def lend(channel: Channel) -> None:
    """Leave seven in the first word of each buffer that is lent."""
    while True:
        head, payload = channel.receive()
        if head["buffer"] is None:
            channel.send({"say": "done"}, payload)
        else:
            channel.memory(head["buffer"], (1,))[:] = 7
            channel.send({"say": "done", "buffer": head["buffer"], "size": 4})
