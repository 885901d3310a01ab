"""Messages over a pipe arrive as they were sent, or not at all."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.workers import wire

heads = st.dictionaries(st.text(max_size=5), st.integers() | st.text() | st.none(), max_size=4)


@given(st.lists(st.tuples(heads, st.binary(max_size=200)), max_size=5))
def test_messages_arrive_as_sent(messages: list[tuple[dict[str, object], bytes]]) -> None:
    pipe = io.BytesIO()
    for head, payload in messages:
        wire.send(pipe, head, payload)
    pipe.seek(0)
    assert [wire.receive(pipe, 200) for _ in messages] == [(head, bytearray(payload)) for head, payload in messages]
    assert wire.receive(pipe, 200) is None


def test_a_message_that_is_cut_off_is_the_end() -> None:
    pipe = io.BytesIO()
    wire.send(pipe, {"a": 1}, b"payload")
    for size in range(len(pipe.getvalue())):
        assert wire.receive(io.BytesIO(pipe.getvalue()[:size]), 200) is None


@pytest.mark.parametrize(
    "junk", [b"Warning: a driver prints what it likes\n", b"\xff" * 100, b"\x01" + bytes(11) + b"["]
)
def test_junk_is_refused(junk: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.receive(io.BytesIO(junk), 200)
