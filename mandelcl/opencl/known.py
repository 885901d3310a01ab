"""The devices that were listed last, by name: known without opening a runtime, and perhaps gone by now."""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from mandelcl.files import cache

_KIND, _KEY = "devices", hashlib.sha256(b"listed last").hexdigest()[:32]


class Known(NamedTuple):
    """A device as it was listed: its SPEC, its name and its platform's."""

    spec: str
    name: str
    platform: str


def known() -> list[Known]:
    """Return the devices that were listed last; none where nothing is remembered."""
    with suppress(RecursionError, TypeError, ValueError):
        return [Known(*map(str, values)) for values in json.loads(cache.read(_KIND, _KEY) or b"[]")]
    return []


def remember(devices: Iterable[Known]) -> None:
    """Note all devices that are listed now."""
    listed = list(devices)
    if listed != known():
        cache.write(_KIND, _KEY, json.dumps(listed).encode())
