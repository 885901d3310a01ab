"""Bytes of text files that people and older programs wrote."""


def text_of(data: bytes) -> str:
    """Return the text of a file: UTF-8, or what older programs wrote."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
