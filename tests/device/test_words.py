"""Every operation of cl/words.cl, on every device, against Python integers.

MANDELCL_TEST_CASES=1000000 scripts/test tests/device/test_words.py      a million cases an operation and width
MANDELCL_TEST_CASES=1000 oclgrind python3 -m pytest tests/device/test_words.py
"""

from functools import lru_cache

import numpy as np
import pytest

from mandelcl.base.words import Words
from mandelcl.opencl import texts
from mandelcl.opencl.api import BuiltProgram
from mandelcl.opencl.device import Device
from tests.device.word_cases import ACCESS, call, chunks, integers, random_words, words_of
from tests.oracle.fixed import OPERATIONS, WIDE

WIDTHS = (2, 3, 4, *(pytest.param(words, marks=pytest.mark.long) for words in (5, 8, 16)), 32)
BODIES = {
    "zero": "words_zero(z);",
    "copy": "words_copy(z, x);",
    "add": "left = words_add(z, x, in & 1u);",
    "subtract": "left = words_subtract(z, x, in & 1u);",
    "negate": "left = words_negate(z);",
    "multiply_word": "left = words_multiply_word(z, k, in);",
    "divide_word": "left = words_divide_word(z, k | 1u, in % (k | 1u));",
    "shift_left": "left = words_shift_left(z, k & 31u, in);",
    "shift_right": "left = words_shift_right(z, k & 31u, in);",
    "compare": "left = LANED(as_uint)(words_compare(z, x)); words_zero(z);",
    "is_zero": "left = LANED(as_uint)(words_is_zero(z)); words_zero(z);",
    "highest_bit": "left = LANED(as_uint)(words_highest_bit(z)); words_zero(z);",
    "multiply": "uint_lanes y[NUMBER_WORDS]; words_copy(y, z); words_multiply(z, y, x);",
    "square": "words_copy(x, z); words_square(z, x);",
}
KERNEL = """
#line 1 "%(name)s"
KERNEL void test_%(name)s(global const uint *zs, global const uint *xs, global const uint *ks, global const uint *ins,
                          global uint *results, global uint *lefts) {
  uint_lanes z[2 * NUMBER_WORDS], x[NUMBER_WORDS], left = (uint_lanes)0u;
  for (uint w = 0; w < NUMBER_WORDS; w++) { z[w] = get(zs, w); x[w] = get(xs, w); }
  const uint_lanes k = get(ks, 0), in = get(ins, 0);
  %(body)s
  for (uint w = 0; w < NUMBER_WORDS; w++) put(results, w, z[w]);
  if (%(wide)d) for (uint w = 0; w < NUMBER_WORDS; w++) put(lefts, w, z[NUMBER_WORDS + w]);
  else put(lefts, 0, left);
}
"""


def lanes_of(device: Device) -> int:
    return min(8, device.vector_width(double=False)) if device.fp64 else 1  # others take long over wide vectors


def build(device: Device, words: int) -> BuiltProgram:
    text = texts.assemble(("words.cl",), {"LANES": lanes_of(device), "USE_FP64": 0, "NUMBER_WORDS": words}) + ACCESS
    for name, body in BODIES.items():
        text += KERNEL % {"name": name, "body": body, "wide": name in WIDE}
    return device.build(text)


@lru_cache(maxsize=128)
def operands(words: int, seed: int, cases: int) -> tuple[Words, Words, Words, Words]:
    """Return z, x, k and what comes in: some pairs are equal, some z are 0."""
    rng = np.random.default_rng([words, seed])
    z, x = random_words(rng, words, cases), random_words(rng, words, cases)
    same = rng.random(cases) < 0.1
    x[:, same] = z[:, same]
    z[:, rng.random(cases) < 0.01] = 0
    return z, x, random_words(rng, 1, cases), random_words(rng, 1, cases)


@lru_cache(maxsize=128)
def expected(words: int, seed: int, cases: int, operation: str) -> tuple[Words, Words]:
    """Return the result and what leaves it; each is computed once for all devices."""
    z, x, k, carry = (integers(operand) for operand in operands(words, seed, cases))
    result, left = OPERATIONS[operation](32 * words, z, x, k, carry)
    return words_of(result, words), words_of(left, words if operation in WIDE else 1)


def test_every_operation_is_here() -> None:
    text = (texts.folder() / "words.cl").read_text(encoding="utf-8")
    defined = {line.split("words_", 1)[1].split("(")[0] for line in text.splitlines() if line.startswith("static ")}
    assert defined - {"truth"} == set(OPERATIONS) == set(BODIES)


@pytest.mark.full
@pytest.mark.parametrize("words", WIDTHS)
def test_operations(device: Device, words: int) -> None:
    program, wrong = build(device, words), {}
    for seed, cases in chunks():
        for operation in OPERATIONS:
            result, left = expected(words, seed, cases, operation)
            inputs = list(operands(words, seed, cases))
            outputs = call(device, program, f"test_{operation}", lanes_of(device), inputs, [words, len(left)])
            bad = (outputs[0] != result).any(axis=0) | (outputs[1] != left).any(axis=0)
            if bad.any():
                case = int(bad.argmax())
                wrong[operation] = (int(bad.sum()), [hex(int(integers(operand)[case])) for operand in inputs])
    assert not wrong
