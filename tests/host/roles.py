"""Roles of workers that exist only in tests."""

import json
import os
import sys
import threading
import time
from typing import Any

import mandelcl
from mandelcl.core import timeline
from mandelcl.workers import wire
from mandelcl.workers.channel import BUILDING, IDLE, LAUNCHING, Channel
from mandelcl.workers.timelines import RemoteRecorder
from tests import posix


def echo(channel: Channel) -> None:
    """Answer each question with itself and the package in use, until there is the question to leave."""
    while not (question := channel.question()).get("leave"):
        channel.answer({**question, "package": mandelcl.__file__, "pid": os.getpid()})


def show(*texts: str) -> None:
    """Print with which texts this was called, in which package (no role: any function may be called)."""
    print(json.dumps({"package": mandelcl.__file__, "texts": texts}))


def fail(channel: Channel) -> None:
    channel.receive()
    raise ValueError("a role\x1b[31m that fails")


def die(channel: Channel) -> None:
    channel.receive()
    die_early(channel)


def die_early(_channel: Channel) -> None:
    print("last words of a driver", file=sys.stderr)
    os._exit(7)


def babble(channel: Channel) -> None:
    """Let something else write into the pipe."""
    channel.receive()
    with channel._sending:
        channel._outgoing.write(b"a driver prints what it likes")
        time.sleep(3600)


def hang(channel: Channel) -> None:
    """Start for ever."""
    channel.receive()
    time.sleep(3600)


def fall_silent(channel: Channel) -> None:
    """Have no heartbeat."""
    with channel._sending:
        time.sleep(3600)


def build(channel: Channel) -> None:
    """Be building for an hour, without a look at any message."""
    channel.announce(BUILDING)
    time.sleep(3600)


def acquire(channel: Channel) -> None:
    """Leave seven in the first word of each buffer that is lent."""
    while True:
        head, payload = channel.receive()
        if head["buffer"] is None:
            channel.send({"say": "done"}, payload)
        else:
            channel.memory(head["buffer"], (1,))[:] = 7
            channel.send({"say": "done", "buffer": head["buffer"], "size": 4})


def record(channel: Channel) -> None:
    """Record so many spans, by a clock that may be ahead of the parent's, and say whether anything is recorded."""
    question = channel.question()
    real = timeline.clock
    if ahead := question.get("ahead", 0):
        setattr(timeline, "clock", lambda: real() + ahead)  # noqa: B010 - mypy would not have it
        channel._recorder = RemoteRecorder(channel._send)
    for k in range(question["spans"]):
        details: dict[str, int | float | str] = {"n": k, "what": "\x1b[31mred"}
        if k % 2:
            timeline.add("their own", f"span {k}", "host", timeline.clock(), details)
        else:
            with timeline.span(f"span {k}", details=details):
                pass
    channel.answer({"on": timeline.on()})


def reply(head: dict[str, Any]) -> None:
    """Say one thing and go on living, as a worker of which nothing else is known."""
    wire.send(sys.stdout.buffer, head)
    time.sleep(3600)


def slow(channel: Channel) -> None:
    """Be silent for as many seconds of a shared processor as a question says, in one launch; then be idle."""
    posix.os.sched_setaffinity(0, {min(posix.os.sched_getaffinity(0))})
    seconds = channel.question()["seconds"]
    channel.announce(LAUNCHING)
    with channel._sending:
        ends = time.process_time() + seconds
        while time.process_time() < ends:
            pass
    channel.answer({"spun": True})
    channel.note(IDLE)
    channel.receive()


def build_beside(channel: Channel) -> None:
    """Be in a launch that began an hour ago, while another thread builds between two questions."""

    def build() -> None:
        with channel.building_beside():
            built.wait()

    channel.note(LAUNCHING)
    channel._activity = LAUNCHING, time.monotonic() - 3600
    built = threading.Event()
    channel.question()
    thread = threading.Thread(target=build)
    thread.start()
    channel.question()
    built.set()
    thread.join()
    channel.answer({"launching": True})
    channel.receive()
