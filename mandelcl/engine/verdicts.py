"""Verdicts on devices: a test runs once for each device, driver and source text, and its verdict is cached."""

from collections.abc import Callable, Iterable
from pathlib import Path

from mandelcl.base.errors import DeviceError
from mandelcl.core import timeline
from mandelcl.files import cache
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device

_PASSED, _FAILED = b"the host's bytes", b"others"

_SEEN: dict[str, bytes] = {}  # by key, for this process


def key_of(device: Device, text: str, own: str) -> str:
    """Return what the verdict on a kernel's text is remembered by; `own` is the text of the test itself."""
    return texts.digest(f"{own}\n{device.identity}\n{text}")


def text_of(modules: Iterable[str | Path]) -> str:
    """Return the text of modules that make up a test: when it changes, remembered verdicts no longer hold."""
    return "".join(Path(module).read_text(encoding="utf-8") for module in modules)


def known_to_pass(key: str) -> bool:
    """Return whether the kernel has passed, as far as this process has asked."""
    return _SEEN.get(key) == _PASSED


def passes(key: str, name: str, gives_answers: Callable[[], bool]) -> bool:
    """Return whether a kernel passes its test, which is asked unless the verdict is remembered.

    `name` is that of the test in timelines. A device that fails while it is tested may work another time.
    """
    verdict = _SEEN.get(key) or cache.read("shading", key)
    if verdict not in (_PASSED, _FAILED):
        try:
            with timeline.span(name):
                verdict = _PASSED if gives_answers() else _FAILED
        except DeviceError:
            return False
        cache.write("shading", key, verdict)
    _SEEN[key] = verdict
    return verdict == _PASSED
