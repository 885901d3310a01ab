"""The kernels' arguments as the host declares them are those of the .cl texts, by name, type and order."""

import re

import numpy as np
import pytest

from mandelcl.opencl import texts
from mandelcl.opencl.arguments import BUFFER, INT, INT2, KERNELS, UINT, UINT2, ULONG, arguments

_KERNEL = re.compile(r"^(?:KERNEL|kernel)\s+void\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)
_PARAMETER = re.compile(
    r"(global (?:const )?(?:int|uint|long|ulong|ushort|float|double|count_scalar) \*|"
    r"uint2 |int2 |int |uint |ulong )(\w+)"
)
_MACRO = re.compile(r"^SELFTEST_CHAINS\((\w+),", re.MULTILINE)
_TYPES = {"uint2 ": UINT2, "int2 ": INT2, "int ": INT, "uint ": UINT, "ulong ": ULONG}


def declared(text: str) -> dict[str, str]:
    """Return a kernel's parameters, name to type, from what stands between its brackets."""
    found = {}
    for parameter in " ".join(text.replace("\\", " ").split()).split(","):
        match = _PARAMETER.fullmatch(parameter.strip())
        assert match, f"a parameter of another form: {parameter!r}"
        kind, name = match.groups()
        found[name] = _TYPES.get(kind, BUFFER)
    return found


def kernels() -> dict[str, dict[str, str]]:
    """Return the parameters of every kernel in cl/; those of one name are alike."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(texts.folder().glob("*.cl")):
        text = path.read_text(encoding="utf-8").replace("\\\n", "\n")
        for name, parameters in _KERNEL.findall(text):
            own = declared(parameters)
            assert list(found.setdefault(name, own).items()) == list(own.items()), f"{name} in {path.name}"
        template = re.search(r"KERNEL void name\(([^)]*)\)", text)
        for name in _MACRO.findall(text):
            assert template
            found[name] = declared(template.group(1))
    found.pop("name", None)
    return found


def test_declarations_are_those_of_the_kernels() -> None:
    texts = kernels()
    assert set(texts) == set(KERNELS)
    for name, parameters in texts.items():
        assert list(parameters.items()) == list(KERNELS[name].items()), name


def test_argument_values_are_converted_for_drivers() -> None:
    given = arguments("study_peak", {"steps": 7, "out": "a buffer"})
    assert given[0] == "a buffer"
    assert (given[1], type(given[1])) == (7, np.uint32)
    values = dict.fromkeys(KERNELS["rectangles_fill"], 0) | {"size": (3, 4)}
    size = arguments("rectangles_fill", values)[list(KERNELS["rectangles_fill"]).index("size")]
    assert (size.dtype, size.tolist()) == (np.uint32, [3, 4])
    assert arguments("study_published_order", {
        "view_words": 0, "offset": (-3, 4), "size": (1, 1), "first_row": 0, "max_iterations": 1, "counts": 0,
    })[1].tolist() == [-3, 4]  # fmt: skip


@pytest.mark.parametrize("values", [{"out": 0}, {"out": 0, "steps": 1, "more": 2}, {"out": 0, "step": 1}])
def test_missing_and_unknown_arguments_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="other parameters than the values given: "):
        arguments("study_peak", values)


def test_a_pair_has_two_words() -> None:
    with pytest.raises(TypeError, match="3 words instead of two"):
        arguments("rectangles_fill", dict.fromkeys(KERNELS["rectangles_fill"], 0) | {"size": (1, 2, 3)})
