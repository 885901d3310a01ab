"""The contract of a kernel of the user's own, and what is told about its faults, without a device."""

import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT
from mandelcl.lab import own_kernel
from mandelcl.lab.own_kernel import complaints, contract, faults
from mandelcl.lab.own_kernel.contract import KernelFile, read_kernel
from mandelcl.lab.own_kernel.faults import Overrun
from mandelcl.lab.own_kernel.one_file import other_file
from mandelcl.opencl.kernels import Parameter

NAIVE = KernelFile("naive.cl", own_kernel.example("naive"))
MINE = KernelFile("mine.cl", "kernel void mandelbrot(global uint *counts) {\n  counts[0] = missing;\n}\n")


def test_examples_and_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_kernel("naive") == NAIVE
    (tmp_path / "naive").write_text("mine", encoding="utf-8")  # a file comes before an example
    assert read_kernel("naive") == KernelFile("naive", "mine")
    quote, shown = ("'", "'") if os.name == "nt" else ('"', "_")  # no name on Windows has the latter
    (tmp_path / f"a {quote}b{quote} é.cl").write_bytes("\ufeff// é\n".encode())
    assert read_kernel(f"a {quote}b{quote} é.cl") == KernelFile(f"a {shown}b{shown} _.cl", "// é\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\0\1", "not a text"),
        (b"\xff\xfe", r"not a text in UTF-8 \(byte 0\)"),
        (b" " * (1 << 20), "more than 256 KiB"),
    ],
)
def test_files_that_are_no_kernel(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "mine.cl"
    path.write_bytes(content)
    with pytest.raises(FileError, match=why):
        read_kernel(str(path))


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.cl", Path("/dev/null")):
        with pytest.raises(FileError, match="cannot read the kernel"):
            read_kernel(str(path))


def test_built_kernel_text() -> None:
    text = contract.source(KernelFile("mine.cl", "first\nsecond"), DOUBLE)
    before, _, own = text.partition('#line 1 "mine.cl"\n')
    assert own == "first\nsecond\n"
    assert before.splitlines()[0] == "#pragma OPENCL FP_CONTRACT OFF"
    assert "typedef double real;" in before
    assert "typedef double8 real8;" in before
    assert "fp64" not in contract.prelude(FLOAT)


def test_every_example_has_the_signature() -> None:
    for name in own_kernel.EXAMPLES:
        assert contract.SIGNATURE in own_kernel.example(name)
    words = contract.SIGNATURE.partition("(")[2].rstrip(")").replace("uint *", "uint* ").split(", ")
    assert [" ".join(word.split()) for word in words] == [str(parameter) for parameter in contract.PARAMETERS]


def changed(place: int, space: str, type_: str, name: str) -> list[Parameter]:
    parameters = list(contract.PARAMETERS)
    parameters[place] = Parameter(space, type_, name)
    return parameters


def test_accepted_kernel_parameters() -> None:
    assert contract.wrong_parameter(contract.PARAMETERS, FLOAT) == ""
    assert contract.wrong_parameter(changed(1, "", "unsigned int", "w"), FLOAT) == ""
    assert contract.wrong_parameter(changed(1, "", "const int", "w"), FLOAT) == ""
    assert contract.wrong_parameter(changed(0, "global", "int *", "out"), FLOAT) == ""
    assert contract.wrong_parameter(changed(3, "", "float", "left"), FLOAT) == ""


def test_refused_kernel_parameters() -> None:
    wrong = contract.wrong_parameter
    reported = "parameter 4 is `float left`, the contract has `real left`, which is double here: write `real`, or give"
    assert wrong(changed(3, "", "float", "left"), DOUBLE).startswith(reported)
    assert wrong(changed(6, "", "ulong", "cap"), FLOAT) == "parameter 7 is `ulong cap`, the contract has `uint cap`"
    assert "`local uint* counts`" in wrong(changed(0, "local", "uint*", "counts"), FLOAT)
    assert "6 parameters, the contract has 7: `uint cap` is missing" in wrong(contract.PARAMETERS[:6], FLOAT)
    assert "5 parameters, the contract has 7: `real pitch`, `uint cap` are" in wrong(contract.PARAMETERS[:5], FLOAT)
    assert "8 parameters" in wrong([*contract.PARAMETERS, Parameter("", "uint", "more")], FLOAT)


def test_parameter_names_in_another_order() -> None:
    assert contract.swapped_names(contract.PARAMETERS) == ""
    assert contract.swapped_names(changed(1, "", "uint", "columns")) == ""
    swapped = list(contract.PARAMETERS)
    swapped[3], swapped[4] = Parameter("", "real", "_cl_top"), Parameter("", "real", "left")
    assert contract.swapped_names(swapped) == "parameter 4 is called `top`, but there the contract gives `left`"


def test_unsupported_jobs_are_refused() -> None:
    deep = Job(View.centred(0, 0, Fraction(10) ** 30, 64, 64), rounding="separate")
    with pytest.raises(InvalidInputError, match="float or double; neither resolves this view"):
        contract.resolved_job(deep, double=True)
    assert contract.resolved_job(replace(deep, number="double"), double=True).number == "double"
    large = Job(View.centred(0, 0, 1, 10_000, 10_000), rounding="separate")
    with pytest.raises(InvalidInputError, match="8192x4096"):
        contract.resolved_job(large, double=True)
    with pytest.raises(InvalidInputError, match="the iteration limit may be at most 1000000, not 1000001"):
        contract.resolved_job(Job(View.centred(0, 0, 1, 64, 64), 1_000_001), double=True)


def test_the_number_that_resolves_the_view() -> None:
    deep = Job(View.centred("-0.7436", "0.1318", 10**9, 64, 64), rounding="separate")
    assert contract.resolved_job(deep, double=True).number == "double"
    with pytest.raises(InvalidInputError, match="float does not resolve this view"):
        contract.resolved_job(deep, double=False)
    assert contract.resolved_job(Job(View.centred(0, 0, 1, 64, 64)), double=True).number == "float"


_HEAD = """clBuildProgram failed: BUILD_PROGRAM_FAILURE - clBuildProgram failed: BUILD_PROGRAM_FAILURE

Build on <pyopencl.Device 'a device' on 'a platform' at 0x56522c8fa410>:

"""
LOGS = {
    "PoCL": f"""{_HEAD}error: mine.cl:2:15: use of undeclared identifier 'missing'
Device pthread-skylake-avx512 failed to build the program

(options: -cl-std=CL1.2 -w)
""",
    "rusticl": f"""{_HEAD}mine.cl:2:15: error: use of undeclared identifier 'missing'
Error executing LLVM compilation action.

(options: -cl-std=CL1.2)
(source saved as /tmp/tmpp_iajmpd.cl)""",
    "Intel": f"""{_HEAD}Compilation started
mine.cl:2:15: error: use of undeclared identifier 'missing'
    2 |   counts[0] = missing;
      |               ^~~~~~~
Compilation failed

(options: -cl-std=CL1.2)""",
    "Oclgrind": f"""{_HEAD}input.cl:10:15: error: use of undeclared identifier 'missing'
  counts[0] = missing;
              ^
1 error generated.
(options: -cl-std=CL1.2 -cl-opt-disable)""",
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_logs_of_compilers_are_trimmed(log: str) -> None:
    lines = faults.own_lines(MINE, log, FLOAT)
    assert "mine.cl:2:15" in lines[0]
    assert "undeclared identifier 'missing'" in lines[0]
    assert len(lines) == (1 if log in (LOGS["PoCL"], LOGS["rusticl"]) else 3)
    fault = faults.not_built(MINE, log, FLOAT)
    assert str(fault) == f"does not build: {lines[0]}"
    assert list(fault.explanation) == lines


def test_compiler_logs_are_bounded_and_not_empty() -> None:
    many = "\n".join(f"mine.cl:{k}:1: error: no {k}" for k in range(1000))
    assert faults.not_built(MINE, many, FLOAT).explanation[-1] == "… and 984 more lines"
    assert str(faults.not_built(MINE, "", FLOAT)) == "does not build: the compiler gives no reason"
    link = "\n<unknown>:0:0: 99 instructions in functionDevice x failed to build the program\nCannot find symbol foo in"
    assert faults.own_lines(MINE, link, FLOAT) == ["Cannot find symbol foo in"]


def test_hints_about_a_build() -> None:
    constant = "mine.cl:1:1: warning: double precision constant requires cl_khr_fp64\nmine.cl:1:1: error: no"
    assert "2.0f" in faults.not_built(MINE, constant, FLOAT).explanation[-1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('#include "more.h"', 1),
        ("int a;\n  # include <more.h>", 2),
        ('#define H "more.h"\n#include H', 2),
        ('#include_next "more.h"', 1),
        ('#import "more.h"', 1),
        ('#embed "more.h"', 1),
        ('%:include "more.h"', 1),
        ('??=include "more.h"', 1),
        ('#inc\\\nlude "more.h"\nint a;', 1),
        ('#inc\\ \t\nlude "more.h"', 1),
        ('#inc??/\nlude "more.h"', 1),
        ('/* a\nb */ # /* c\nd */ include "more.h"', 3),
        ('int a; // \\\n b\n#include "more.h"', 3),
        ('#\v\f\u00a0include "more.h"', 1),
        ('#define A\r#include "more.h"\r', 2),
        ('constant char *a = "/*";\n#include "more.h"\n/* */', 2),
        ("constant char a = '\"';\n#include <more.h> //\"", 2),
        ("#if 0\nthis isn't C\n#endif\n#include <more.h>", 4),
        ('// ??/\n#include "more.h"', 2),  # a comment goes on where a compiler knows trigraphs
        ('// \\ \n#include "more.h"', 2),
        ('#if __has_include("more.h")', 1),
        ("#define A __has_embed", 1),
        ('#if defined A && __has_include_next("more.h")', 1),
    ],
)
def test_include_directive_is_detected(text: str, line: int) -> None:
    assert other_file(text) == line
    assert other_file(f"{NAIVE.text}\n{text}") == line + NAIVE.text.count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        '// #include "more.h"',
        '/* \n#include "more.h"\n*/ int a;',
        'constant char *a = "\\\n#include <more.h>";',
        "int include; int has_include;\n#includes",
        "#define include 1\n#pragma OPENCL EXTENSION all : disable",
        'int a; #include "more.h"',  # no directive, and an error of its own
        "// \\\n#include <more.h>",
    ],
)
def test_text_without_include_is_accepted(text: str) -> None:
    assert other_file(text) == 0


@pytest.mark.full
def test_long_text_is_parsed_quickly() -> None:
    """In a time that grows with its length; the square of it would be minutes."""
    for piece in ("/*", "/*\n", "'", '"\n', "# ", "\\\n", "//\n", "/* */", "\n #", "??/\n"):
        assert other_file(piece * ((1 << 18) // len(piece))) == 0


def test_a_file_without_the_kernel() -> None:
    assert "it has no kernel at all" in str(faults.no_kernel(KernelFile("a.cl", ""), []))
    plain = faults.no_kernel(KernelFile("a.cl", "void mandelbrot(global uint *counts) {}"), [])
    assert "by the word `kernel`" in plain.explanation[0]
    assert "it has `one`, `two`" in str(faults.no_kernel(MINE, ["one", "two"]))


def test_crashes_are_reported() -> None:
    fault = faults.crashed("killed by SIGSEGV: PLEASE submit a bug report")
    assert str(fault) == "its process ended: killed by SIGSEGV, an access to memory far out of bounds"
    assert "PLEASE submit" in "\n".join(fault.explanation)
    assert "--check" in fault.explanation[-1]
    on_windows = faults.crashed("exit code 0xC0000005, an access violation")
    assert "--check" in on_windows.explanation[-1]
    other = faults.crashed("exit code 3")
    assert str(other) == "its process ended: exit code 3"
    assert "--check" not in other.explanation[-1]


def test_out_of_bounds_writes_are_reported() -> None:
    one = faults.out_of_bounds(Overrun([], [(20, 1)]), (5, 4), (8, 8))
    assert str(one) == "writes out of bounds: 1 word beside the counts, first counts[20]"
    assert "index 20 would be column 0 of row 4" in one.explanation[0]
    below = faults.out_of_bounds(Overrun([(-4, 2)], [(22, 2)]), (5, 4), (8, 8))
    assert "4 words beside the counts, first counts[-4] to [-3]" in str(below)
    assert len(below.explanation) == 2


@pytest.mark.parametrize(
    ("size", "launched"), [((5, 4), (8, 8)), ((5, 8), (8, 8)), ((8, 5), (8, 8)), ((61, 43), (64, 48))]
)
def test_missing_bounds_check_is_recognised(size: tuple[int, int], launched: tuple[int, int]) -> None:
    width, height = size
    written = {row * width + column for row in range(launched[1]) for column in range(launched[0])}
    beyond = sorted(index for index in written if index >= width * height)
    assert (beyond[0], len(beyond)) == faults.surplus(size, launched)
    assert beyond == list(range(beyond[0], beyond[0] + len(beyond)))
    fault = faults.out_of_bounds(Overrun([], [(beyond[0], len(beyond))]), size, launched)
    assert fault.explanation[-1].endswith("if (column >= width || row >= height) return;")


def test_sizes_that_work_groups_divide_have_no_surplus() -> None:
    assert faults.surplus((16, 8), (16, 8))[1] == 0


_COMPLAINTS = """
Invalid write of size 4 at global memory address 0x1000000000050
\tKernel: mandelbrot
\tEntity: Global(0,4,0) Local(0,4,0) Group(0,0,0)
\t  store i32 %add10, i32 addrspace(1)* %arrayidx14, align 4, !dbg !60
\tAt line 2 (column 21) of mine.cl:
\t  uint u;
\t

Invalid read of size 4 at global memory address 0xfffffffffff8
\tKernel: mandelbrot
\tEntity: Global(3,2,0) Local(3,2,0) Group(0,0,0)
\tAt line 2 (column 37) of mine.cl:
\t  uint c

Write-write data race at global memory address 0x100000000003c
\tKernel: mandelbrot

\tFirst entity:  Global(15,0,0) Local(7,0,0) Group(1,0,0)
\tAt line 2 (column 21) of mine.cl:

\tSecond entity: Global(2,1,0) Local(2,1,0) Group(0,0,0)
\tAt line 2 (column 21) of mine.cl:

Uninitialized value written to global memory address 0x1000000000014
\tKernel: mandelbrot
\tEntity: Global(5,0,0) Local(5,0,0) Group(0,0,0)

Oclgrind - OpenCL runtime error detected
\tFunction: clGetDeviceInfo
"""


def test_oclgrind_messages_are_explained() -> None:
    found = complaints.complaints(_COMPLAINTS, 20)
    assert [(one.kind, one.place, one.items, one.line) for one in found] == [
        ("writes out of bounds", "at counts[20], 1 beyond the last", "(0, 4)", 2),
        ("reads out of bounds", "at counts[-2], below 0", "(3, 2)", 2),
        ("uses a variable that has no value yet", "", "(5, 0)", 0),
        ("races", "at counts[15]", "(15, 0) and (2, 1)", 2),
    ]
    lines = complaints.explained(found, MINE, 20)
    assert lines[0] == "mine.cl:2: `counts[0] = missing;` writes out of bounds; `counts` has the indices 0 to 19:"
    assert lines[1] == "  work-item (0, 4) at counts[20], 1 beyond the last"
    assert lines[4:6] == ["mine.cl uses a variable that has no value yet:", "  work-item (5, 0)"]
    assert lines[7] == "  work-item (15, 0) and (2, 1) at counts[15]"


def test_oclgrind_message_order_does_not_matter() -> None:
    blocks = re.split(r"\n(?=[A-Z])", _COMPLAINTS)
    assert len(blocks) == 6
    backward = "\n" + "\n".join(reversed(blocks))
    assert complaints.complaints(backward, 20) == complaints.complaints(_COMPLAINTS, 20)


def test_repeated_oclgrind_messages_are_merged() -> None:
    found = complaints.complaints(_COMPLAINTS * 9, 20)
    assert "  … and 5 times more" in complaints.explained(found, MINE, 20)
    assert complaints.complaints("", 20) == []
    other = "Invalid write of size 4 at local memory address 0x10\n\tEntity: Global(1,1,0) Local(1,1,0)\n"
    assert complaints.complaints(other, 20)[0].place == "at an address of local memory that belongs to nothing"
