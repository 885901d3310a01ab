"""Text from outside is shown in one line of printable characters, whatever it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.base.text import in_bytes, printable, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("two words × 3 …", "two words × 3 …"),
        ("a\nb\tc\r", "a b c "),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b2J\u202e\udc80", "\\x9b2J\\u202e\\udc80"),
        ("x" * 300, "x" * 300),
        ("a" * 200 + "b" * 101, "a" * 149 + "…" + "a" * 49 + "b" * 101),
    ],
)
def test_texts(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters(), max_size=2000), st.integers(10, 400))
def test_any_text(text: str, most: int) -> None:
    shown = printable(text, most)
    assert shown.isprintable()
    assert len(shown) <= most
    assert shown == text or not text.isprintable() or len(text) > most


def test_long_values_are_quoted_in_part() -> None:
    assert quoted("name") == "'name'"
    assert quoted("n" * 10_000) == f"'{'n' * 48}…{'n' * 49}'"


def test_sizes_use_readable_units() -> None:
    assert [in_bytes(size) for size in (0, 99.5, 2048, 5 << 19, 3 << 29)] == [
        *("0 bytes", "100 bytes", "2.0 KiB", "2.5 MiB", "1.5 GiB")
    ]
