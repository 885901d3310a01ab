"""Messages over a pipe arrive as they were sent, or not at all."""

import io
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.workers import wire
from tests.host.memory import allocating

heads = st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.none(), max_size=4)


@given(st.lists(st.tuples(heads, st.binary(max_size=200)), max_size=5))
def test_messages_arrive_as_sent(messages: list[tuple[dict[str, object], bytes]]) -> None:
    pipe = io.BytesIO()
    for head, payload in messages:
        wire.send(pipe, head, payload)
    pipe.seek(0)
    assert [wire.receive(pipe, 200) for _ in messages] == [(head, bytearray(payload)) for head, payload in messages]
    assert wire.receive(pipe, 200) is None


def test_truncated_message_ends_the_channel() -> None:
    pipe = io.BytesIO()
    wire.send(pipe, {"a": 1}, b"payload")
    for size in range(len(pipe.getvalue())):
        assert wire.receive(io.BytesIO(pipe.getvalue()[:size]), 200) is None


@pytest.mark.parametrize(
    "junk", [b"Warning: a driver prints what it likes\n", b"\xff" * 100, b"\x01" + bytes(11) + b"["]
)
def test_invalid_wire_data_is_refused(junk: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.receive(io.BytesIO(junk), 200)


@given(heads, st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 100), st.integers(0, 255)), max_size=4))
def test_damaged_messages_are_refused_truncated_or_different(
    head: dict[str, object], payload: bytes, damage: list[tuple[int, int]]
) -> None:
    pipe = io.BytesIO()
    wire.send(pipe, head, payload)
    data = bytearray(pipe.getvalue())
    for place, value in damage:
        data[place % len(data)] = value
    damaged = io.BytesIO(data)
    with suppress(wire.WireError):
        while (message := wire.receive(damaged, 40)) is not None:
            assert isinstance(message[0], dict)
            assert len(message[1]) <= 40


def test_declared_length_allocates_no_memory() -> None:
    with allocating(1 << 20), pytest.raises(wire.WireError, match="impossible length"):
        wire.receive(io.BytesIO(struct.pack("<IQ", 2, 1 << 33)), 1 << 24)


@pytest.mark.parametrize("come", [0, 100, 40 << 20])
def test_memory_is_allocated_as_data_arrives(come: int) -> None:
    pipe = io.BytesIO(struct.pack("<IQ", 2, 1 << 33) + b"{}" + bytes(come))
    with allocating(3 * come + (40 << 20)):
        assert wire.receive(pipe, 1 << 33) is None


def test_reply_in_several_pieces_is_complete() -> None:
    payload = bytes(range(256)) * 300_000
    pipe = io.BytesIO()
    wire.send(pipe, {}, payload)
    pipe.seek(0)
    assert wire.receive(pipe, 1 << 30) == ({}, bytearray(payload))


def test_deeply_nested_npy_header_is_refused() -> None:
    text = b"[" * 100_000
    with pytest.raises(wire.WireError, match="not JSON"):
        wire.receive(io.BytesIO(struct.pack("<IQ", len(text), 0) + text), 0)


def test_partial_writes_are_completed() -> None:
    """A signal may cut a write to a pipe short."""

    class Hesitant(io.BytesIO):
        def write(self, data: object, /) -> int:
            return super().write(memoryview(data)[:5])  # type: ignore[arg-type]

    pipe = Hesitant()
    wire.send(pipe, {"a": "long enough"}, b"and some more")
    pipe.seek(0)
    assert wire.receive(pipe, 100) == ({"a": "long enough"}, bytearray(b"and some more"))
