"""The arguments of the kernels, declared once by name and type; a test holds them against the .cl texts.

To give a kernel a further input: its parameter in the text, its line here, and the value where it is launched.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

# A buffer, a 32-bit word, and pairs of words.
BUFFER, UINT, INT2, UINT2 = "buffer", "uint", "int2", "uint2"

Parameters = Mapping[str, str]

_BLOCK: Parameters = {"view_words": BUFFER, "offset": INT2, "size": UINT2}
_FAR: Parameters = {"strides": UINT, "cap": UINT, "cap_reached": UINT, "shortcuts": UINT, "results": BUFFER}
_SURVIVORS: Parameters = {"survivors": BUFFER, "survivor_total": BUFFER, "capacity": UINT}

KERNELS: Mapping[str, Parameters] = MappingProxyType(
    {
        "advance_block": {**_BLOCK, "first_row": UINT, "rows": UINT, **_FAR, **_SURVIVORS},
        "advance_survivors": {**_BLOCK, "n": UINT, **_FAR, "saved": BUFFER, "total": UINT, **_SURVIVORS},
        "advance_rectangles": {
            **_BLOCK,
            "rectangles": BUFFER,
            "ids": BUFFER,
            "proved": BUFFER,
            "parts": UINT2,
            "most": UINT2,
            "outer": UINT,
            "slots": UINT,
            "first": UINT,
            "total": UINT,
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
            "cap": UINT,
            "parents": BUFFER,
            "ids": BUFFER,
            "parts": UINT2,
            "total": UINT,
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
            "cap": UINT,
            "counts": BUFFER,
            "width": UINT,
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
        },
        "selftest_integers": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_number": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_shapes": {"in": BUFFER, "out": BUFFER, "cases": UINT},
        "selftest_speed": {"in": BUFFER, "out": BUFFER, "steps": UINT},
        "selftest_fma_chains": {"in": BUFFER, "out": BUFFER, "steps": UINT},
        "selftest_sum_chains": {"in": BUFFER, "out": BUFFER, "steps": UINT},
        "selftest_loop": {"in": BUFFER, "out": BUFFER},
        "study_peak": {"out": BUFFER, "steps": UINT},
        "study_published_order": {**_BLOCK, "first_row": UINT, "cap": UINT, "counts": BUFFER},
    }
)


def arguments(kernel: str, values: Mapping[str, Any]) -> list[Any]:
    """Return a kernel's arguments in its order, each as the driver takes it.

    Words are ints, pairs are sequences of two. Raises TypeError for a missing or unknown value: a driver would run a
    kernel with mixed-up arguments.
    """
    parameters = KERNELS[kernel]
    if values.keys() != parameters.keys():
        wrong = ", ".join(sorted(values.keys() ^ parameters.keys()))
        raise TypeError(f"the kernel {kernel} has other parameters than the values given: {wrong}")
    return [_MAKERS[parameters[name]](values[name]) for name in parameters]


def _buffer(value: Any) -> Any:
    return value


def _pair(kind: type[np.int32] | type[np.uint32]) -> Any:
    def pair(value: Any) -> Any:
        made = np.array([int(part) for part in value], kind)
        if made.shape != (2,):
            raise TypeError(f"a kernel argument has {made.size} words instead of two")
        return made

    return pair


_MAKERS: Mapping[str, Any] = {BUFFER: _buffer, UINT: np.uint32, INT2: _pair(np.int32), UINT2: _pair(np.uint32)}
