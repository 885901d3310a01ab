"""Strict parsing of a page's messages. Any invalid message raises InvalidInputError."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.lattice import Lattice
from mandelcl.base.text import quoted
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.counts import MAX_ITERATIONS
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, SMOOTH
from mandelcl.core.reference import Reference
from mandelcl.explore import places
from mandelcl.explore.frames import FOLLOWING, pixel_bytes
from mandelcl.formulas import MANDELBROT, Formula

MESSAGE_BYTES = 1 << 16
MOST_PANES = 4
MOST_PIXELS = 1 << 25
MOST_NUMBERS = 1 << 32  # bound of the numbers of requests, and of a pane's generations
_MOST_OFFSET = 1 << 30
_MOST_SIDE = 1 << 15
_MOST_RECTANGLES = 4096
_MOST_DEVICES = 64
_MOST_TEXT = 4096
PIECE_BYTES = 49_152
_PIECE_MAGIC = 0x554C434D  # MCLU
_PIECE_HEADER = struct.Struct("<II")

Message = Mapping[str, Any]


def read(text: str) -> Message:
    """Parse the message in a frame. Raises InvalidInputError for anything else."""
    try:
        message = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InvalidInputError("the message is not JSON") from None
    if not isinstance(message, dict):
        raise InvalidInputError("the message is not a JSON object")
    return message


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def whole(message: Message, name: str, most: int, least: int = 0) -> int:
    """Return an integer field of a message."""
    value = message.get(name)
    if type(value) is not int or not least <= value <= most:
        raise InvalidInputError(f"{name} must be a whole number from {least} to {most}")
    return value


def text(message: Message, name: str, default: str | None = None) -> str:
    """Return a text field of a message."""
    value = message.get(name, default)
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise InvalidInputError(f"{name} must be a text")
    return value


def number_id(message: Message) -> int:
    """Return the number that the page has given to a request."""
    return whole(message, "id", MOST_NUMBERS - 1)


def pane(message: Message) -> int:
    """Return the number of a pane."""
    return whole(message, "pane", MOST_PANES - 1)


def pair(message: Message, name: str, most: int, least: int = 0) -> tuple[int, int]:
    """Return a field with two integers."""
    values = message.get(name)
    if not isinstance(values, list) or len(values) != 2:
        raise InvalidInputError(f"{name} must be two numbers")
    first, second = (whole({name: value}, name, most, least) for value in values)
    return first, second


def place(message: Message, name: str) -> tuple[float, float]:
    """Return a position in a lattice, in pixels; it may lie between them."""
    values = message.get(name)
    if not isinstance(values, list) or len(values) != 2:
        raise InvalidInputError(f"{name} must be a column and a row")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST_OFFSET:
            raise InvalidInputError(f"{name} must be a column and a row")
    return float(values[0]), float(values[1])


def rectangle(values: object, what: str) -> Block:
    """Return a rectangle given as [column, row, width, height]."""
    if not isinstance(values, list) or len(values) != 4:
        raise InvalidInputError(f"{what} must be a column, a row, a width and a height")
    x, y = (whole({what: value}, what, _MOST_OFFSET, -_MOST_OFFSET) for value in values[:2])
    width, height = (whole({what: value}, what, _MOST_OFFSET, 1) for value in values[2:])
    return Block(x, y, width, height)


def mapping(message: Message, name: str) -> Message:
    """Return an object field of a message."""
    value = message.get(name)
    if not isinstance(value, dict):
        raise InvalidInputError(f"{name} must be an object")
    return value


def exact(message: Message, name: str, default: str | None = None) -> Fraction:
    """Return an exact number of a message, from a text in the form that `parse_number` reads."""
    value = message.get(name, default)
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a number in a text")
    return parse_number(value, name)


@dataclass(frozen=True, slots=True)
class ViewWanted:
    """A view that a page requests.

    It has a job, the devices for it, the pixel near which to begin, and what the page already has. The pixels of
    `near`, `have` and `whole` are counted from the lattice's anchor. `rotation` is the given one. `motion` says that
    the page moves on: another view will follow soon.
    """

    pane: int
    generation: int
    job: Job
    rotation: Fraction
    devices: tuple[str, ...]
    near: tuple[float, float]
    key: str = ""
    have: tuple[Block, ...] = field(default=())
    motion: bool = False

    @property
    def whole(self) -> Block:
        """The view's pixels."""
        view = self.job.view
        return Block(-view.lattice.column, -view.lattice.row, view.width, view.height)

    @property
    def memory(self) -> int:
        """The size in bytes of its pixels, with all planes."""
        return pixel_bytes(self.job) * self.job.view.pixels


def view_wanted(message: Message) -> ViewWanted:
    """Return the view that a message `view` requests."""
    chart = mapping(message, "lattice")
    rotation = exact(chart, "rotation", "0")
    lattice = Lattice.upright(exact(chart, "re"), exact(chart, "im"), exact(chart, "pitch"))
    if rotation:
        lattice = lattice.rotated(rotation)
    origin = pair(message, "origin", _MOST_OFFSET, -_MOST_OFFSET)
    width, height = pair(message, "size", _MOST_SIDE, 1)
    if width * height > MOST_PIXELS:
        raise InvalidInputError(f"a view can have at most {MOST_PIXELS} pixels")
    view = View(lattice.moved(*origin), width, height)
    middle = [origin[0] + width / 2, origin[1] + height / 2]
    key, have = _have(message)
    motion = message.get("motion", False)
    if type(motion) is not bool:
        raise InvalidInputError("motion must be true or false")
    return ViewWanted(
        pane(message),
        whole(message, "generation", MOST_NUMBERS - 1),
        _job(message, view),
        rotation,
        _devices(message),
        place({"pointer": middle, **message}, "pointer"),
        key,
        have,
        motion,
    )


def require_wanted(job: Job) -> None:
    """Raise InvalidInputError for a job that no page could request, at any size."""
    try:
        message = {"pane": 0, "generation": 0, **places.described(job), "size": [1, 1]}
        if len(json.dumps(message)) > MESSAGE_BYTES:
            raise InvalidInputError("its numbers have too many digits")
        view_wanted(message)
    except InvalidInputError as error:
        raise InvalidInputError(f"the explorer cannot show this: {error}") from None


def _job(message: Message, view: View) -> Job:
    formula = _formula(message)
    given = message.get("radius_squared")
    radius_squared = (
        max(Fraction(4), formula.sufficient_radius_squared()) if given is None else exact(message, "radius_squared")
    )
    reference = message.get("reference")
    if reference is not None:
        if not isinstance(reference, list) or len(reference) != 3:
            raise InvalidInputError("reference must be re, im and radius")
        re, im, radius = (exact({"reference": value}, "reference") for value in reference)
    return Job(
        view,
        whole(message, "iterations", MAX_ITERATIONS, 1),
        radius_squared,
        formula,
        text(message, "number", "auto"),
        text(message, "rounding", "auto"),
        text(message, "method", "auto"),
        text(message, "algorithm", "escape"),
        planes=_planes(message),
        auto_iterations=message.get("auto_iterations", False),
        reference=None if reference is None else Reference(re, im, radius),
    )


def _formula(message: Message) -> Formula:
    if "formula" not in message:
        return MANDELBROT
    try:
        return Formula.from_json(mapping(message, "formula"), lambda value: exact({"formula": value}, "formula"))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(f"not a formula: {type(error).__name__}") from None


def _planes(message: Message) -> tuple[str, ...]:
    planes = message.get("planes", [COUNTS.name, SMOOTH.name])
    known = (COUNTS.name, *FOLLOWING)
    if not isinstance(planes, list) or any(name not in known for name in planes):
        raise InvalidInputError(f"planes must be among {', '.join(known)}")
    return tuple(planes)


def _devices(message: Message) -> tuple[str, ...]:
    devices = message.get("devices", [])
    if not isinstance(devices, list) or len(devices) > _MOST_DEVICES:
        raise InvalidInputError("devices must be a list of SPECs")
    for spec in devices:
        if not isinstance(spec, str) or not 0 < len(spec) <= 200:
            raise InvalidInputError(f"{quoted(spec)} is not a device SPEC")
    return tuple(dict.fromkeys(devices))


def _have(message: Message) -> tuple[str, tuple[Block, ...]]:
    if message.get("have") is None:
        return "", ()
    have = mapping(message, "have")
    rectangles = have.get("rectangles")
    if not isinstance(rectangles, list) or len(rectangles) > _MOST_RECTANGLES:
        raise InvalidInputError(f"rectangles must be a list of at most {_MOST_RECTANGLES}")
    return text(have, "key"), tuple(rectangle(values, "a rectangle") for values in rectangles)


def piece(data: bytes) -> tuple[int, bytes]:
    """Return the request's number and the bytes of a piece of a file."""
    if len(data) < _PIECE_HEADER.size or len(data) > _PIECE_HEADER.size + PIECE_BYTES:
        raise InvalidInputError("a piece of a file has an impossible size")
    magic, number = _PIECE_HEADER.unpack_from(data)
    if magic != _PIECE_MAGIC:
        raise InvalidInputError("a binary frame is not a piece of a file")
    return number, data[_PIECE_HEADER.size :]


def unknown(message: Message) -> InvalidInputError:
    """Return the error for an unknown request."""
    return InvalidInputError(f"unknown message {quoted(message.get('do'))}")


def no_view(number: int) -> InvalidInputError:
    """Return the error for a pane without a view."""
    return InvalidInputError(f"pane {number} has no view yet")


def nothing_open() -> InvalidInputError:
    """Return the error for a piece of a file that was not announced."""
    return InvalidInputError("a piece belongs to no open file")


def too_much() -> InvalidInputError:
    """Return the error for too many requests at the same time."""
    return InvalidInputError("too many requests at once, or a request number that is in use")
