"""The arguments of the kernels, declared once by name and type. A test compares them with the .cl texts.

To add an input to a kernel, add its parameter in the text, its line here, and its value where it is launched.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.opencl.api import BuiltProgram, Kernel
from mandelcl.opencl.programs import kernel_of

# A buffer, words of 32 and 64 bits, and pairs of words. Counts have 64 bits here, whatever a job keeps.
BUFFER, INT, UINT, ULONG, INT2, UINT2 = "buffer", "int", "uint", "ulong", "int2", "uint2"

Parameters = Mapping[str, str]

_BLOCK: Parameters = {"view_words": BUFFER, "offset": INT2, "size": UINT2}
_ORBITS: Parameters = {**_BLOCK, "method_words": BUFFER}
_FAR: Parameters = {
    "strides": UINT,
    "max_iterations": ULONG,
    "limit_reached": UINT,
    "shortcuts": UINT,
    "results": BUFFER,
}
_LISTED: Parameters = {"listed": BUFFER, "level": UINT}
_SURVIVORS: Parameters = {"survivors": BUFFER, "survivor_total": BUFFER, "capacity": UINT}

KERNELS: Mapping[str, Parameters] = MappingProxyType(
    {
        "advance_block": {**_ORBITS, "first_row": UINT, "rows": UINT, **_FAR, **_SURVIVORS},
        "advance_survivors": {
            **_ORBITS,
            "n": ULONG,
            **_FAR,
            "saved": BUFFER,
            "total": UINT,
            "pixels": BUFFER,
            "listed": UINT,
            **_SURVIVORS,
        },
        "advance_list": {**_ORBITS, "pixels": BUFFER, "total": UINT, **_FAR, **_SURVIVORS},
        "advance_rectangles": {
            **_ORBITS,
            "rectangles": BUFFER,
            "ids": BUFFER,
            "proved": BUFFER,
            "parts": UINT2,
            "most": UINT2,
            "outer": UINT,
            "slots": UINT,
            "first": UINT,
            "total_slots": UINT,
            **_LISTED,
            **_FAR,
            **_SURVIVORS,
        },
        "rectangles_divide": {
            "view_words": BUFFER,
            "offset": INT2,
            "bound_words": BUFFER,
            "limit": UINT,
            "components": UINT,
            "inside_only": UINT,
            "max_iterations": ULONG,
            "parents": BUFFER,
            "ids": BUFFER,
            "parts": UINT2,
            "most": UINT,
            **_LISTED,
            "children": BUFFER,
            "proved": BUFFER,
        },
        "rectangles_judge": {
            "children": BUFFER,
            "proved": BUFFER,
            "parts": UINT2,
            "outer": UINT,
            "last": UINT,
            "origin": UINT2,
            "trust_outside": UINT,
            "trust_inside": UINT,
            "connected": ULONG,
            "max_iterations": ULONG,
            "results": BUFFER,
            "size": UINT2,
            **_LISTED,
            "answers": BUFFER,
            "computed": BUFFER,
        },
        "rectangles_fill": {
            "rectangles": BUFFER,
            "proved": BUFFER,
            "answers": BUFFER,
            "results": BUFFER,
            "size": UINT2,
            "insides": BUFFER,
            "words": UINT,
            "each": UINT,
            **_LISTED,
        },
        "rectangles_collect": {"answers": BUFFER, "each": UINT, "most": UINT, **_LISTED, "ids": BUFFER},
        "shade": {
            "results": BUFFER,
            "total": UINT,
            "max_iterations": UINT,
            "logarithms": BUFFER,
            "roots": BUFFER,
            "per_count": UINT2,
            "per_unit": UINT2,
            "start": UINT2,
            "size": UINT,
            "colours": BUFFER,
            "values": BUFFER,
            "corner": UINT2,
            "columns": UINT,
            "pixels": BUFFER,
        },
        "film_frame": {
            "base": BUFFER,
            "base_size": UINT2,
            "base_taps": UINT2,
            "deeper": BUFFER,
            "deeper_size": UINT2,
            "deeper_taps": UINT2,
            "words": BUFFER,
            "turned": UINT,
            "size": UINT2,
            "tile": UINT,
            "bytes": BUFFER,
            "pixels": BUFFER,
        },
        "smooth": {"results": BUFFER, "total": UINT, "max_iterations": UINT, "logarithms": BUFFER, "values": BUFFER},
        "narrow": {"results": BUFFER, "pixels": UINT, "counts": BUFFER},
        "totals": {
            "results": BUFFER,
            "pixels": UINT,
            "max_iterations": ULONG,
            "certified": UINT,
            "each": UINT,
            "sums": BUFFER,
        },
        "gather": {
            "results": BUFFER,
            "pixels": UINT,
            "words": UINT,
            "indices": BUFFER,
            "count": UINT,
            "found": BUFFER,
        },
        "whole_orbit": {"from": BUFFER, "bits": UINT, "steps": UINT, "places": BUFFER, "done": BUFFER},
        "whole_bounded": {"numbers": BUFFER, "bits": UINT, "steps": UINT, "reals": BUFFER, "done": BUFFER},
        "period_growth": {
            "re": BUFFER,
            "im": BUFFER,
            "total": UINT,
            "index": ULONG,
            "values": BUFFER,
            "state": BUFFER,
        },
        "whole_jets": {
            "re": BUFFER,
            "im": BUFFER,
            "sizes": BUFFER,
            "words": UINT,
            "total": UINT,
            "drop": UINT,
            "less": UINT,
            "digits": UINT,
            "order": UINT,
            "adds": UINT,
            "room": UINT,
            "value": BUFFER,
            "scale": BUFFER,
            "product": BUFFER,
            "failed": BUFFER,
        },
        "whole_map": {
            "numbers": BUFFER,
            "bits": UINT,
            "t_bits": UINT,
            "order": UINT,
            "steps": UINT,
            "slopes": UINT,
            "reals": BUFFER,
            "counts": BUFFER,
        },
        "selftest_integers": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_short_products": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_number": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_shapes": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_roots": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_speed": {"in": BUFFER, "out": BUFFER, "steps": UINT},
        "selftest_fma_chains": {"in": BUFFER, "out": BUFFER, "steps": UINT},
        "selftest_sum_chains": {"in": BUFFER, "out": BUFFER, "steps": UINT},
        "selftest_loop": {"in": BUFFER, "out": BUFFER},
        "study_peak": {"out": BUFFER, "steps": UINT},
        "study_plain": {**_BLOCK, "first_row": UINT, "rows": UINT, "max_iterations": UINT, "counts": BUFFER},
        "study_published_order": {**_BLOCK, "first_row": UINT, "max_iterations": UINT, "counts": BUFFER},
    }
)


def declared(program: BuiltProgram, name: str) -> Kernel:
    """Return one of a built program's kernels, which takes the arguments that are declared for it."""
    return kernel_of(program, name, [_TYPES[kind] for kind in KERNELS[name].values()])


def arguments(kernel: str, values: Mapping[str, Any]) -> list[Any]:
    """Return a kernel's arguments in order, in the driver's types.

    Words are ints, pairs are sequences of two ints. Raises TypeError for a missing or unknown value: a driver would run
    a kernel with mixed-up arguments.
    """
    conversions = _CONVERSIONS[kernel]
    if len(values) != len(conversions) or values.keys() != KERNELS[kernel].keys():
        wrong = ", ".join(sorted(values.keys() ^ KERNELS[kernel].keys()))
        raise TypeError(f"the kernel {kernel} has other parameters than the values given: {wrong}")
    return [values[name] if convert is None else convert(values[name]) for name, convert in conversions]


def _int2(value: Sequence[int]) -> npt.NDArray[Any]:
    return _pair(np.int32, tuple(value))


def _uint2(value: Sequence[int]) -> npt.NDArray[Any]:
    return _pair(np.uint32, tuple(value))


@lru_cache(maxsize=1 << 10)  # offsets and sizes recur, and a device waits for its launch's arguments
def _pair(kind: type[np.int32] | type[np.uint32], value: tuple[int, ...]) -> npt.NDArray[Any]:
    if len(value) != 2:
        raise TypeError(f"a kernel argument has {len(value)} words instead of two")
    pair = np.array(value, kind)
    pair.flags.writeable = False
    return pair


_CONVERT: Mapping[str, Callable[[Any], Any] | None] = {
    BUFFER: None,
    INT: np.int32,
    UINT: np.uint32,
    ULONG: np.uint64,
    INT2: _int2,
    UINT2: _uint2,
}
_TYPES: Mapping[str, Any] = {
    BUFFER: None,
    INT: np.int32,
    UINT: np.uint32,
    ULONG: np.uint64,
    INT2: np.dtype("V8"),
    UINT2: np.dtype("V8"),
}
_CONVERSIONS = {
    kernel: [(name, _CONVERT[kind]) for name, kind in parameters.items()] for kernel, parameters in KERNELS.items()
}
