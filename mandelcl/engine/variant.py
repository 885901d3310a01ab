"""The shape of a kernel on a device: choices that change its speed and never its result."""

import json
from dataclasses import asdict, dataclass, fields, replace
from functools import cache as remembered
from typing import Self

from mandelcl.core.numbers import NumberFormat
from mandelcl.engine.device_class import DeviceClass
from mandelcl.files import cache
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device

TURN = 64  # iterations that take about as long as a turn of a loop by turns
_TRAIL = 16  # iterates that are noted of an orbit, TRAIL_WINDOW in cl/advance_trail.cl
_MOST = 1 << 31  # of anything in a shape
_CPU_PRODUCTS_UNROLLED = 121  # with more, CPU compilers take minutes
_INTEGER_PRODUCT = 3  # products of doubles that take as many registers, and as much code, as one of integers
_SEVERAL_STEPS = 12  # products for which GPUs have registers for several steps at a time


@dataclass(frozen=True, slots=True)
class Variant:
    """Build and launch options of the loop.

    `lanes` orbits lie in an OpenCL vector, in tiles `lane_columns` wide; `vectors` such are in flight in a work-item;
    `stride` steps pass between tests for escape, `unrolled` of them written out at a time; a work-group is a tile of
    `local_columns` × `local_rows` work-items. `double_digits` makes the digits of fixed point doubles, not integers;
    with `digits_unrolled` the kernels' loops over digits are written out.
    """

    lanes: int
    vectors: int
    stride: int
    unrolled: int
    lane_columns: int
    local_columns: int
    local_rows: int
    double_digits: bool = False
    digits_unrolled: bool = True

    @property
    def orbits(self) -> int:
        """Orbits of a work-item."""
        return self.lanes * self.vectors

    @property
    def tile(self) -> tuple[int, int]:
        """Columns and rows of pixels that a work-item takes of a block."""
        return self.lane_columns, self.lanes // self.lane_columns * self.vectors

    @property
    def group_rows(self) -> int:
        """Rows of pixels that a work-group takes: blocks of other heights leave work-items without a pixel."""
        return self.tile[1] * self.local_rows

    def by_turns(self) -> Self:
        """Return the shape for a loop by turns: a vector in a work-item; a turn counts as TURN iterations."""
        return replace(self, vectors=1, stride=TURN, unrolled=1)

    def in_cycles(self, phases: int) -> Self:
        """Return the shape for a cycle of `phases` steps: the stride and the unrolled steps are multiples of it."""
        unrolled = -(-self.unrolled // phases) * phases
        return replace(self, stride=-(-self.stride // unrolled) * unrolled, unrolled=unrolled)

    def with_derivatives(self) -> Self:
        """Return the shape for orbits that carry derivatives: half as many are in flight, since they fill registers."""
        return replace(self, vectors=(self.vectors + 1) // 2)

    def with_trail(self) -> Self:
        """Return the shape for orbits whose last iterates are noted: a stride is at least as long as those."""
        return replace(self, stride=-(-max(self.stride, _TRAIL) // self.unrolled) * self.unrolled)

    def saturation(self, compute_units: int) -> int:
        """Return how many orbits in flight keep a device with this many compute units busy; fewer take as long."""
        return compute_units * self.orbits * (1 if self.lanes > 1 else 1024)

    def defines(self) -> dict[str, int]:
        """Return the build options that the kernels expect."""
        return {
            "LANES": self.lanes,
            "VECTORS": self.vectors,
            "STRIDE": self.stride,
            "UNROLLED": self.unrolled,
            "LANE_COLUMNS": self.lane_columns,
            "DIGITS_UNROLLED": int(self.digits_unrolled),
        }

    def to_json(self) -> str:
        """Return the shape as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the shape that `to_json` wrote; raises ValueError for one that no kernel can have."""
        values = json.loads(text)
        if not isinstance(values, dict) or set(values) != {field.name for field in fields(cls)}:
            raise ValueError("not a variant")
        if not all(type(value) is (bool if "digits" in name else int) for name, value in values.items()):
            raise ValueError("a variant's value has the wrong type")
        shape = cls(**values)
        if (
            shape.lanes not in (1, 2, 4, 8, 16)
            or min(shape.vectors, shape.unrolled, shape.lane_columns, shape.local_columns, shape.local_rows) < 1
            or shape.stride < 1
            or max(map(int, values.values())) >= _MOST
            or shape.stride % shape.unrolled
            or shape.lanes % shape.lane_columns
        ):
            raise ValueError("a variant that no kernel can have")
        return shape


@dataclass(frozen=True, slots=True)
class Suited:
    """The shape to use on a device, where it comes from, and a note: empty, or why what was tuned is not used.

    `origin` is `"tuned"` for this very device, else `"class"`.
    """

    variant: Variant
    origin: str
    note: str = ""


def suited(device: Device, number: NumberFormat, double_digits: bool | None = None) -> Suited:
    """Return the shape to use: what was tuned for this device, driver and kernels, else what suits its class.

    This is the one place that decides. `double_digits`, for fixed point, is by default whether the device has double.
    """
    digits = device.fp64 if double_digits is None else double_digits
    of_class = class_variant(DeviceClass.of(device), number, digits)
    key = _tuning_key(device, number, digits)
    payload = cache.read("tuning", key)
    if payload is None:
        note = "the tuning file is damaged" if cache.holds("tuning", key) else ""
        return Suited(of_class, "class", note and f"{device.label}: {note}; `mandelcl tune` writes a new one")
    try:
        values = json.loads(payload)
        if values["made_for"] != _made_for(device):
            why = "the driver or the kernels have changed since it was tuned"
            return Suited(of_class, "class", f"{device.label}: {why}; run `mandelcl tune` again")
        tuned = Variant.from_json(values["variant"])
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return Suited(
            of_class, "class", f"{device.label}: the tuning file makes no sense; `mandelcl tune` writes a new one"
        )
    if tuned.double_digits != of_class.double_digits or tuned.digits_unrolled != of_class.digits_unrolled:
        return Suited(of_class, "class")  # the number decides these
    return Suited(tuned, "tuned")


def remember(device: Device, number: NumberFormat, tuned: Variant) -> None:
    """Store the shape that was found to be fastest, for `suited` to find."""
    payload = json.dumps({"made_for": _made_for(device), "variant": tuned.to_json()})
    cache.write("tuning", _tuning_key(device, number, tuned.double_digits or not number.has_digits), payload.encode())


def forget(device: Device, number: NumberFormat) -> None:
    """Remove what was tuned."""
    for digits in (True, False):
        cache.remove("tuning", _tuning_key(device, number, digits))


def _tuning_key(device: Device, number: NumberFormat, double_digits: bool) -> str:
    digits = double_digits if number.has_digits else True
    return texts.digest(f"{device.platform}\n{device.name}\n{number.name}\n{digits}")


def _made_for(device: Device) -> str:
    return texts.digest(f"{device.identity}\n{_kernels()}")


@remembered
def _kernels() -> str:
    """Return the text of all kernels: a shape is tuned for the code that it was measured with."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(texts.folder().glob("*.cl")))


def default_variant(device: Device, number: NumberFormat, double_digits: bool | None = None) -> Variant:
    """Return the shape to use on a device: see `suited`."""
    return suited(device, number, double_digits).variant


def class_variant(device: DeviceClass, number: NumberFormat, double_digits: bool) -> Variant:
    """Return the shape that suits a class of devices.

    It was found by measurement (docs/decisions/0011-loop.md), for most GPUs by what their compilers make of the
    kernels (docs/vendors.md).

    A device with vectors of its own (a CPU) gets explicit vectors, several in flight: the compiler does not vectorise
    a loop whose exit differs from orbit to orbit. Other devices run one orbit a work-item and hide latency by many.
    """
    if number.has_digits:
        return _digits_variant(device, number, double_digits)
    lanes = device.vectors[number.vector_is_double(double_digits)]
    if lanes > 1:
        return Variant(lanes, 4, stride=16, unrolled=4, lane_columns=min(lanes, 4), local_columns=1, local_rows=1)
    if device.type == "gpu":
        # Double fills its units as it is.
        vectors = 1 if number.needs_fp64 else device.family.float_orbits
        unrolled = 64 if vectors == 1 else 16
        return Variant(1, vectors, stride=64, unrolled=unrolled, lane_columns=1, local_columns=8, local_rows=16)
    return Variant(1, 1, stride=16, unrolled=16, lane_columns=1, local_columns=8, local_rows=8)


def _digits_variant(device: DeviceClass, number: NumberFormat, double_digits: bool) -> Variant:
    """Return a shape that bounds how much code is unrolled, and so the time to compile, for any width."""
    lanes = min(8, device.vectors[number.vector_is_double(double_digits)])
    work = number.products
    if lanes > 1:
        vectors, unrolled = (3, 4) if work <= 4 else (2, 2) if work <= 25 else (1, 1)
        written_out = work <= _CPU_PRODUCTS_UNROLLED
        return Variant(lanes, vectors, 16, unrolled, min(lanes, 4), 1, 1, double_digits, written_out)
    stride, unrolled = (32, 16) if work <= 4 else (16, 4) if work <= 25 else (16, 1)
    most = device.family.most_written_out if device.type == "gpu" else None
    if most is None:
        return Variant(1, 1, stride, unrolled, 1, 8, 8, double_digits)
    weight = work if double_digits else _INTEGER_PRODUCT * work
    unrolled = unrolled if weight <= _SEVERAL_STEPS else 1
    return Variant(1, 1, stride, unrolled, 1, 8, 8, double_digits, weight <= most)


def fit_local(columns: int, rows: int, limit: int) -> tuple[int, int]:
    """Return a work-group shape of at most `limit` work-items, by halving the longer side of the one given."""
    while columns * rows > max(1, limit):
        if rows >= columns:
            rows = (rows + 1) // 2
        else:
            columns = (columns + 1) // 2
    return columns, rows
