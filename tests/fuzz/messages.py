"""What workers say: bytes on a pipe, heads of messages, and whole pictures that lying workers share."""

import io
import json
import struct
from contextlib import closing
from random import Random
from typing import Any, cast

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.core.timeline.recorder import Recorder
from mandelcl.rendering.crew.messages import Done, Ready, parse
from mandelcl.workers import wire
from mandelcl.workers.process import Worker, WorkerMessage, _activity
from mandelcl.workers.timelines import ORDER, WorkerTimeline
from mandelcl.workers.wire import WireError
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import any_value, as_json, changed, damaged
from tests.fuzz.oracle import require, require_line

_HEADS: tuple[dict[str, Any], ...] = (
    {"say": "ready", "assignment": 1, "rate": 1e9, "block_pixels": 4096, "build_s": 0.5},
    {"say": "done", "assignment": 1, "block": [0, 0, 8, 4], "launches": [0.1, 0.2], "copy_s": 0.01, "filled": 3,
     "buffer": 0},
    {"say": "failed", "why": "the driver has failed"},
    {"say": "alive", "doing": "launching", "for": 0.5},
    {"say": ORDER, "told": 5, "said": 9, "process": "w", "tracks": [[1, "t"]],
     "spans": [[1, "n", "k", 2, 3, {"a": 1}]]},
)  # fmt: skip
_USUAL: tuple[Any, ...] = (
    0,
    1,
    [0, 0, 1, 1],
    "ready",
    "done",
    "failed",
    "alive",
    0.5,
    [],
    {},
    [[1, "x"]],
    -1,
    1 << 60,
    True,
)
_MOST_PAYLOAD = 300


def messages(ground: Ground) -> None:
    """Check one: a pipe, a head, or a picture in which workers say what they like."""
    kind = ground.random.random()
    (_pipe if kind < 0.4 else _head if kind < 0.9 else _picture)(ground)


def _pipe(ground: Ground) -> None:
    random, pipe = ground.random, io.BytesIO()
    sent = []
    for _ in range(random.randrange(1, 4)):
        head, payload = random.choice(_HEADS), random.randbytes(random.choice((0, 5, 200)))
        wire.send(pipe, head, payload)
        sent.append((head, payload))
    data = damaged(pipe.getvalue(), random)
    if random.random() < 0.1:
        text = as_json(changed(random.choice(_HEADS), random, _USUAL), random).encode("utf-8", "surrogatepass")
        data = struct.pack("<IQ", len(text), random.choice((0, 1 << 40))) + text
    (ground.here / "input.bin").write_bytes(data)
    received = []
    try:
        reader = io.BytesIO(data)
        while (message := wire.receive(reader, _MOST_PAYLOAD)) is not None:
            received.append(message)
    except WireError as error:
        require_line(f"mandelcl: {error}")
    whole = [(head, bytes(payload)) for head, payload in received]
    require(
        all(isinstance(head, dict) and len(rest) <= _MOST_PAYLOAD for head, rest in whole), "a message that is none"
    )
    require(data != pipe.getvalue() or whole == sent, "messages that nobody has touched are others")
    ground.accepted = bool(received)


def _head(ground: Ground) -> None:
    random = ground.random
    head = changed(random.choice(_HEADS), random, _USUAL)
    if not isinstance(head, dict):
        return
    head = {key if random.random() < 0.95 else str(any_value(random)): value for key, value in head.items()}
    (ground.here / "input.json").write_text(json.dumps(head))
    try:
        reported = _understood(head)
    except WireError as error:
        require_line(f"mandelcl: {error}")
        return
    ground.accepted = True
    if isinstance(reported, Ready):
        require(reported.rate > 0 and reported.block_pixels >= 1 and reported.build_s >= 0, f"{reported}")
    elif isinstance(reported, Done):
        require(
            reported.filled <= reported.block.pixels and all(0 <= time < 1 << 53 for time in reported.launches),
            f"{reported}",
        )
        require(
            [reported.block.x, reported.block.y, reported.block.width, reported.block.height] == head["block"],
            f"{reported}",
        )
    elif isinstance(reported, str):
        require(reported.isprintable() and len(reported) <= 300, reported)


def _understood(head: dict[str, Any]) -> Any:
    """Return what a head means to whoever is its reader; raises WireError."""
    if head.get("say") == "alive":
        return _activity(head)
    if head.get("say") == ORDER:
        batches: list[Any] = []
        return WorkerTimeline(Recorder("test", batches.append), 1).hear(head)
    return WorkerMessage(cast(Worker, None), head, bytearray()).loss or parse(head)


def _picture(ground: Ground) -> None:
    """Check that what a worker says changes no pixel, and that all of them together make an error of one line."""
    from tests.host.test_crew import Among, Honest, counts, job, nonsensical

    random = ground.random
    changes = [change(random) for _ in range(random.randrange(1, 5))]
    (ground.here / "input.json").write_text(json.dumps(changes))
    all_lie = random.random() < 0.3
    try:
        among = Among(nonsensical(changes)) if all_lie else Among(Honest, nonsensical(changes))
        with closing(among.crew) as crew:
            field = among.field()
            for fault in crew.faults:
                require_line(f"mandelcl: {fault}")
    except DeviceError as error:
        require(all_lie, f"an honest worker was not enough: {error}")
        require_line(f"mandelcl: {error}")
        return
    ground.accepted = True
    require(np.array_equal(field, counts(job())), "a lying worker has changed the picture")


def change(random: Random) -> tuple[str, str, Any]:
    """Return how something that a worker says is changed: how, which part of it, and to what."""
    keys = ("say", "assignment", "rate", "block_pixels", "build_s", "block", "launches", "copy_s", "filled")
    how = random.choice(("drop", "set", "set", "cut", "add", "again", "head", "end"))
    value: Any = any_value(random, _USUAL)
    if how in ("cut", "add"):
        value = random.randrange(1, 10)
    if how == "head":
        value = {random.choice(keys): any_value(random, _USUAL) for _ in range(3)}
    return how, random.choice(keys), value
