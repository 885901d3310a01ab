"""The devices of a session as an HTML table for notebooks."""

from collections.abc import Iterable
from html import escape

from mandelcl.base.text import printable
from mandelcl.opencl.device import Device

_HEADS = ("Device", "Name", "Platform", "Type", "Units", "Memory")


def table(devices: Iterable[Device], caption: str) -> str:
    """Return devices as an HTML table. It shows only properties that need no computation on the device."""
    rows = "".join(_row("td", _cells(device)) for device in devices)
    return f"<table><caption>{escape(caption)}</caption>{_row('th', _HEADS)}{rows}</table>"


def _cells(device: Device) -> tuple[str, ...]:
    memory = f"{device.memory_bytes / 2**30:.1f} GiB"
    return device.spec, device.name, device.platform, device.type, str(device.compute_units), memory


def _row(tag: str, cells: Iterable[str]) -> str:
    # Drivers choose these texts, so they must be escaped.
    return "<tr>" + "".join(f"<{tag}>{escape(printable(cell))}</{tag}>" for cell in cells) + "</tr>"
