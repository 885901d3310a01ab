"""The rule on struct parameters of kernels: why it exists, and that all parts keep it."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from mandelcl.opencl import texts
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of

# Of drivers of this platform a function that writes to its struct parameter changes the caller's struct.
SHARING = "rusticl"

TEXT = """
typedef struct { uint word[4]; uint sign; } real_number;
typedef struct { real_number re, im; } complex_number;

static uint writes(complex_number z) {
  z.re.word[0] += 1;
  z.im.sign ^= 1;
  return 3 * z.re.word[0] + z.im.sign;
}

static uint copies(complex_number first) {
  complex_number z = first;
  z.re.word[0] += 1;
  z.im.sign ^= 1;
  return 3 * z.re.word[0] + z.im.sign;
}

kernel void call(global const uint *in, global uint *out) {
  complex_number z;
  for (uint k = 0; k < 4; k++) z.re.word[k] = z.im.word[k] = in[k];
  z.re.sign = z.im.sign = in[4];
  out[0] = FUNCTION(z);
  out[1] = FUNCTION(z);
  out[2] = z.re.word[0];
  out[3] = z.im.sign;
}
"""

_FUNCTION = re.compile(r"^static [\w ]*?\b(\w+)\(([^;{}()]*)\)\s*\{", re.MULTILINE)
_SCALARS = re.compile(r"(?:const )?(?:u?int|u?long|float|double|bool|size_t|count_scalar|\w+_lanes|u?int2)")


@pytest.mark.parametrize("function", ["writes", "copies"])
def test_struct_parameters_are_copies(device: Device, function: str) -> None:
    kernel = kernel_of(device.build(TEXT.replace("FUNCTION", function)), "call")
    given, taken = device.upload(np.array([7, 8, 9, 10, 0], np.uint32)), device.allocate(16)
    device.launch(kernel, (1,), (1,), given, taken)
    found = np.zeros(4, np.uint32)
    device.wait(device.read(taken, found))
    right = found.tolist() == [25, 25, 7, 0]
    if function == "copies":
        assert right
    elif device.platform != SHARING:
        assert right, f"{device.platform} shares structs, too: name it in cl/README.md"


def _written(text: str) -> Iterator[str]:
    """Yield the functions of a part that write to a struct parameter, with the parameter."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    for function in _FUNCTION.finditer(text):
        body = text[function.end() :].partition("\n}")[0]
        for parameter in function[2].split(","):
            kind, _, name = parameter.strip().rpartition(" ")
            if not kind or "*" in parameter or "[" in parameter or _SCALARS.fullmatch(kind):
                continue
            if re.search(rf"(?<![\w.>]){name}(?:\.\w+|\[[^]]*\])*\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)", body):
                yield f"{function[1]}: {name}"


def test_no_part_writes_to_a_struct_parameter() -> None:
    parts = sorted(texts.folder().glob("*.cl"))
    assert len(parts) > 50
    found = [f"{path.name} {written}" for path in parts for written in _written(path.read_text(encoding="utf-8"))]
    assert found == []


def test_written_parameters_are_found() -> None:
    assert list(_written(TEXT)) == ["writes: z"]
