"""Orbits in whole numbers by a kernel on a processor: the values of Python's integers in a fraction of their time.

A process looks once for an OpenCL device that is a processor. It must give what Python's integers give, and sooner.
"""

import threading
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import MandelclError, Token, stop_if
from mandelcl.core import timeline
from mandelcl.perturbation.integers import Doubles, WordIntegers, Words64, advanced, doubles
from mandelcl.perturbation.period import PeriodSearch, ScaledDerivative

KERNELS = "whole_orbit", "whole_jets", "whole_map", "whole_bounded", "period_growth"
NATIVE_FROM = 1 << 17  # iterations, from which on a kernel may be worth its build
_SHORT_FROM = 1 << 20  # those of many short orbits
_SPARE_BITS = 10  # of numbers: the square of what has just left the disc of radius 4 is below 2^6
_MOST_WORDS = 10  # beyond, gmpy2 is about as quick
_AT_A_TIME = 1 << 16  # iterations
_MOST_ORDER = 16  # of terms: WHOLE_ORDER in cl/whole_jets.cl
_GROWN_BITS = 80  # of products within a block
_TRIED = 1 << 12  # steps
_POINT = -0.12, 0.74  # whose orbit stays inside
_running = threading.Lock()  # a kernel has the arguments of its next launch


class Cut(NamedTuple):
    """How `map_jets` cuts numbers: `drop` bits of places, `less` of products; how many digits a value begins with."""

    drop: int
    less: int
    digits: int


class MapCounts(NamedTuple):
    """The numbers that the kernel of a return map takes."""

    bits: int
    t_bits: int
    order: int
    steps: int
    slopes: int


class Native:
    """Orbits of numbers of so many words, on a device."""

    def __init__(self, device: Any, words: int) -> None:
        self._device, self.words = device, words
        # Whether steps of a map, and those with a bound, are those of Python's integers, once compared.
        self.map_is_right: bool | None = None
        self.steps_are_right: bool | None = None

    def advanced(
        self, re: int, im: int, c_re: int, c_im: int, bits: int, steps: int
    ) -> tuple[WordIntegers, WordIntegers]:
        """Return what `integers.advanced` does; no more than so many steps."""
        words = min(self.words, words_for(bits))
        device, places, done = self._device, np.empty((steps, 2, words), np.uint64), np.empty(1, np.uint32)
        with _running, timeline.span("native orbit"):
            out, count = device.allocate(places.nbytes), device.allocate(done.nbytes)
            start = device.upload(_packed((re, im, c_re, c_im), words))
            values = {"from": start, "bits": bits, "steps": steps, "places": out, "done": count}
            self._launch("whole_orbit", words, values)
            device.wait(device.read(count, done))
            device.wait(device.read(out, places[: done[0]]))
        return WordIntegers(places[: done[0], 0]), WordIntegers(places[: done[0], 1])

    def passes(
        self, re: Doubles, im: Doubles, index: int, growth: ScaledDerivative, radius: tuple[float, int], least: int
    ) -> tuple[ScaledDerivative, int, bool]:
        """Return what `period.Passes` says."""
        device, values = self._device, np.array([*growth[:2], radius[0]])
        state = np.array([growth.exponent, radius[1], least], np.int32)
        with _running, timeline.span("native growth"):
            kept = device.allocate(values.nbytes), device.allocate(state.nbytes)
            written = [device.write(buffer, array) for buffer, array in zip(kept, (values, state), strict=True)]
            parts = [device.upload(np.ascontiguousarray(part)) for part in (re, im)]
            numbers = {"total": len(re), "index": index, "values": kept[0], "state": kept[1]}
            arguments = {"re": parts[0], "im": parts[1], **numbers}
            self._launch("period_growth", self.words, arguments)
            for event in [*written, device.read(kept[0], values), device.read(kept[1], state)]:
                device.wait(event)
        return ScaledDerivative(float(values[0]), float(values[1]), int(state[0])), int(state[1]), bool(state[2])

    def map_steps(self, numbers: Words64, reals: Doubles, counts: MapCounts) -> tuple[int, int] | None:
        """Take steps of a return map, as cl/whole_map.cl says of the arguments; write w and the reals there again.

        Return how many steps they are, and behind how many of them |w|² was least; None where too little is known of w.
        """
        found = np.empty(3, np.uint32)
        self._advance("whole_map", numbers, reals, {"counts": found}, counts._asdict())
        return None if found[2] else (int(found[0]), int(found[1]))

    def bounded_steps(self, numbers: Words64, reals: Doubles, bits: int, steps: int) -> int:
        """Take up to so many steps of z² + c, as cl/whole_bounded.cl says; write z and the error there again.

        Return how many steps they are.
        """
        done = np.empty(1, np.uint32)
        self._advance("whole_bounded", numbers, reals, {"done": done}, {"bits": bits, "steps": steps})
        return int(done[0])

    def _advance(
        self, name: str, numbers: Words64, reals: Doubles, found: dict[str, npt.NDArray[Any]], values: dict[str, Any]
    ) -> None:
        """Launch a kernel that advances the first two numbers and the reals in place, and fills what is `found`."""
        device, given = self._device, {"numbers": numbers, "reals": reals}
        with _running, timeline.span(f"native {name}"):
            kept = {one: device.allocate(array.nbytes) for one, array in (given | found).items()}
            written = [device.write(kept[one], array) for one, array in given.items()]
            self._launch(name, self.words, kept | values)
            results = given | found | {"numbers": numbers[: 2 * self.words]}
            for event in [*written, *(device.read(kept[one], array) for one, array in results.items())]:
                device.wait(event)

    def packed(self, numbers: Sequence[int]) -> Words64:
        """Return numbers as words, one behind the other."""
        return _packed(numbers, self.words)

    def jets(
        self,
        parts: tuple[WordIntegers, WordIntegers],
        sizes: Doubles,
        cut: Cut,
        order: int,
        cancel: Token,
        *,
        by_c: bool = False,
    ) -> list[tuple[int, int, int]] | None:
        """Return (x, y, e) for (x + y·i)·2^e, of each term up to an order, what `map_jets` makes of all values.

        With `by_c` it is the derivative by c instead, of order 1. None where the words are too few.
        """
        digits = cut.digits
        words = -(-max(digits + _GROWN_BITS, cut.less + 4) // 64)
        if words > _MOST_WORDS or order > _MOST_ORDER:
            return None
        device, value = self._device, _packed((1, 0, *[0] * (2 * order - 2)), words)
        scale, product, failed = np.zeros(order + 1, np.int64), np.ones(1), np.zeros(1, np.uint32)
        with _running, timeline.span("native jets"):
            state: dict[str, npt.NDArray[Any]] = {"value": value, "scale": scale, "product": product, "failed": failed}
            kept = {name: device.allocate(array.nbytes) for name, array in state.items()}
            written = [device.write(kept[name], array) for name, array in state.items()]
            for first in range(0, len(sizes), _AT_A_TIME):
                stop_if(cancel)
                some = slice(first, first + _AT_A_TIME)
                re, im = (device.upload(np.ascontiguousarray(part.words[some])) for part in parts)
                numbers = {
                    "words": parts[0].words.shape[1],
                    "total": len(sizes[some]),
                    "drop": cut.drop,
                    "less": cut.less,
                    "digits": digits,
                    "order": order,
                    "adds": by_c,
                    "room": 64 * words - digits - _SPARE_BITS,
                }
                own = device.upload(np.ascontiguousarray(sizes[some]))
                self._launch("whole_jets", words, {"re": re, "im": im, "sizes": own, **numbers, **kept})
            for event in [*written, *(device.read(kept[name], array) for name, array in state.items())]:
                device.wait(event)
        if failed[0]:
            return None
        parts_of = WordIntegers(value.reshape(2 * order, words))
        return [(parts_of[2 * k], parts_of[2 * k + 1], int(scale[k])) for k in range(order)]

    def _launch(self, name: str, words: int, values: dict[str, Any]) -> None:
        from mandelcl.opencl.arguments import arguments
        from mandelcl.opencl.building import kernel

        text = source_text(name, words)
        self._device.launch(kernel(self._device, text, name), (1,), (1,), *arguments(name, values))


def source_text(name: str, words: int) -> str:
    """Return the text with a kernel of KERNELS, of numbers of so many words."""
    from mandelcl.opencl import texts

    defines = {"LANES": 1, "USE_FP64": int(name != "whole_orbit")}
    if name == "period_growth":
        return texts.assemble((f"{name}.cl",), defines)
    return texts.assemble(("whole.cl", f"{name}.cl"), defines | {"LIMBS": words})


def _packed(numbers: Sequence[int], words: int) -> Words64:
    """Return numbers of so many words."""
    data = b"".join(int(one).to_bytes(8 * words, "little", signed=True) for one in numbers)
    return np.frombuffer(bytearray(data), "<u8").astype(np.uint64, copy=False)


def words_for(bits: int) -> int:
    """Return how many words a number with so many bits after the point has."""
    return -(-(bits + _SPARE_BITS) // 64)


@cache
def native_for(bits: int) -> Native | None:
    """Return what computes orbits with so many bits after the point; None where nothing does sooner than Python."""
    words = words_for(bits)
    if words > _MOST_WORDS:
        return None
    try:
        native = _processor(words)
        if native is None:
            return None
        c_re, c_im = (round(part * (1 << bits)) for part in _POINT)
        native.advanced(0, 0, c_re, c_im, bits, _TRIED)  # builds the kernel; a first run takes several times as long
        began = perf_counter()
        found = native.advanced(0, 0, c_re, c_im, bits, _TRIED)
        between = perf_counter()
        expected = advanced(0, 0, c_re, c_im, bits, _TRIED)
        ended = perf_counter()
    except MandelclError:
        return None
    same = all(list(one) == list(other) for one, other in zip(found, expected, strict=True))
    sooner = between - began < ended - between
    return native if same and sooner and _follows(native, found, bits) else None


_made = 0  # steps that this process has been asked for


def native_after(bits: int, steps: int) -> Native | None:
    """Return `native_for`, where so many more steps are many, or those that were asked for in all; else None."""
    global _made
    _made += steps
    return native_for(bits) if steps >= NATIVE_FROM or _made >= _SHORT_FROM else None


def _follows(native: Native, found: tuple[WordIntegers, WordIntegers], bits: int) -> bool:
    """Return whether growth and products along an orbit are those that Python gives."""
    from mandelcl.perturbation.map_jets import whole_jets

    re, im = (doubles(part, bits) for part in found)
    searches = [PeriodSearch(Fraction(1, 1 << bits)) for _ in range(2)]
    searches[1].passes = native.passes
    for search in searches:
        search.find(re, im, {})
    sizes, digits = np.sqrt(re * re + im * im), bits // 2
    try:
        by_lists = whole_jets(list(found[0]), list(found[1]), bits, sizes, 2, digits)
        by_words = whole_jets(*found, bits, sizes, 2, digits, native=native)
    except MandelclError:
        return False
    return searches[0].derivative == searches[1].derivative and by_lists == by_words


def _processor(words: int) -> Native | None:
    """Return orbits on the first device that is a processor; None where there is none that can be trusted to run."""
    from mandelcl.opencl.device import discover

    for device in discover():
        if device.type == "cpu" and device.fp64 and not device.may_abort:
            return Native(device, words)
    return None
