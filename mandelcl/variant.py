"""How a kernel is shaped for a device: choices that change its speed and never its result."""

from dataclasses import dataclass

from mandelcl.device import Device
from mandelcl.fixed import FixedFormat
from mandelcl.numbers import NumberFormat

_CPU_DIGITS_UNROLLED = 11  # the next width takes a CPU's compiler minutes


@dataclass(frozen=True, slots=True)
class Variant:
    """Build and launch options of the loop.

    `lanes` orbits lie in an OpenCL vector, in tiles `lane_columns` wide; `vectors` such are in flight in a work-item;
    `group` steps pass between tests for escape, `unrolled` of them written out at a time; a work-group is a tile of
    `local_columns` × `local_rows` work-items. `double_digits` makes the digits of fixed point doubles, not integers;
    with `digits_unrolled` the kernels' loops over digits are written out.
    """

    lanes: int
    vectors: int
    group: int
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

    def defines(self) -> dict[str, int]:
        """Return the build options that the kernels expect."""
        return {
            "LANES": self.lanes,
            "VECTORS": self.vectors,
            "GROUP": self.group,
            "UNROLLED": self.unrolled,
            "LANE_COLUMNS": self.lane_columns,
            "DIGITS_UNROLLED": int(self.digits_unrolled),
        }


def default_variant(device: Device, number: NumberFormat, double_digits: bool | None = None) -> Variant:
    """Return the shape that suits the device's class, found by measurement (docs/decisions/0003-variants.md).

    A device with vectors of its own (a CPU) gets explicit vectors, several in flight: the compiler does not vectorise
    a loop whose exit differs from orbit to orbit. Other devices run one orbit a work-item and hide latency by many.
    `double_digits` is by default whether the device has double; it matters to fixed point alone.
    """
    if isinstance(number, FixedFormat):
        return _fixed_variant(device, number, device.fp64 if double_digits is None else double_digits)
    lanes = device.vector_width(double=number.needs_fp64)
    if lanes > 1:
        return Variant(lanes, 5, group=16, unrolled=4, lane_columns=min(lanes, 4), local_columns=1, local_rows=1)
    group = 32 if device.type == "gpu" else 16
    return Variant(1, 1, group=group, unrolled=group, lane_columns=1, local_columns=8, local_rows=8)


def _fixed_variant(device: Device, number: FixedFormat, double_digits: bool) -> Variant:
    """Return a shape that keeps what is written out, and so the time to compile, within bounds for any width."""
    lanes = min(8, device.vector_width(double=double_digits))
    work = number.digits**2
    if lanes > 1:
        vectors, unrolled = (3, 4) if work <= 4 else (2, 2) if work <= 25 else (1, 1)
        written_out = number.digits <= _CPU_DIGITS_UNROLLED
        return Variant(lanes, vectors, 16, unrolled, min(lanes, 4), 1, 1, double_digits, written_out)
    group, unrolled = (32, 16) if work <= 4 else (16, 4) if work <= 25 else (16, 1)
    return Variant(1, 1, group, unrolled, 1, 8, 8, double_digits)


def fit_local(columns: int, rows: int, limit: int) -> tuple[int, int]:
    """Return the work-group shape nearest to the one wanted that has at most `limit` work-items."""
    while columns * rows > max(1, limit):
        if rows >= columns:
            rows = (rows + 1) // 2
        else:
            columns = (columns + 1) // 2
    return columns, rows
