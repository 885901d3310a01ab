"""The contract of a user's kernel: its inputs and its task. docs/studies/your-kernel.md explains it to authors."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, FLOAT, NumberFormat
from mandelcl.files.paths import one_line, require_readable, target
from mandelcl.lab.own_kernel import EXAMPLES, SUFFIX, example
from mandelcl.opencl.kernels import Parameter

KERNEL = "mandelbrot"
PARAMETERS = (
    Parameter("global", "uint*", "counts"),
    Parameter("", "uint", "width"),
    Parameter("", "uint", "height"),
    Parameter("", "real", "left"),
    Parameter("", "real", "top"),
    Parameter("", "real", "pitch"),
    Parameter("", "uint", "cap"),
)
SIGNATURE = (
    f"kernel void {KERNEL}(global uint *counts, uint width, uint height, real left, real top, real pitch, uint cap)"
)
MOST_PIXELS = 1 << 25  # the host keeps about ten copies of the wrong ones, as bytes or indices
MOST_ITERATIONS = 1_000_000  # numpy is slow for the right counts of long orbits
_MOST_BYTES = 1 << 18

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A kernel's source: its file's name, as compilers are to give it in messages, and the text."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """Return a line of the text without the space around it, counted from 1; empty if there is none."""
        lines = self.text.splitlines()
        return lines[number - 1].strip() if 1 <= number <= len(lines) else ""


def read_kernel(path: str) -> KernelFile:
    """Return the kernel in a file, or the example of that name if there is no such file.

    Raises FileError for what cannot be read or is no text of at most 256 KiB.
    """
    if path in EXAMPLES and not Path(path).exists():
        return KernelFile(f"{path}{SUFFIX}", example(path))
    with one_line("cannot read the kernel", path):
        place = target(path)
        require_readable(place)
        with place.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise FileError(f"it has more than {_MOST_BYTES >> 10} KiB; a kernel in OpenCL C is a short text")
        if b"\0" in data:
            raise FileError("it is not a text; give the source of a kernel in OpenCL C")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(f"it is not a text in UTF-8 (byte {error.start})") from error
    return KernelFile(re.sub(r'[^\x20-\x7e]|["\\]', "_", place.name), text)


def prelude(number: NumberFormat) -> str:
    """Return the lines before a kernel's own text: no contraction, and the types `real` and `real2` to `real16`.

    They are types, not macros, so a file that defines `real` itself, in the same way, builds as well.
    """
    lines = ["#pragma OPENCL FP_CONTRACT OFF"]
    if number.needs_fp64:
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    lines += [f"typedef {number.name}{lanes} real{lanes};" for lanes in ("", 2, 4, 8, 16)]
    return "\n".join([*lines, f"#define REAL_BITS {64 if number.needs_fp64 else 32}"])


def source(kernel: KernelFile, number: NumberFormat) -> str:
    """Return the text that is built: the prelude, then the file, whose lines keep their numbers in messages."""
    return f'{prelude(number)}\n#line 1 "{kernel.name}"\n{kernel.text}\n'


def resolved_job(job: Job, double: bool) -> Job:
    """Return the job in float where that resolves its view, else in double, if devices have it, or as it says.

    Raises InvalidInputError if it is none for a kernel in a file.
    """
    if job.view.pixels > MOST_PIXELS:
        raise InvalidInputError(
            f"a kernel of your own takes at most {MOST_PIXELS} pixels (8192x4096) in its one launch"
        )
    if job.iterations > MOST_ITERATIONS:
        raise InvalidInputError(
            f"with a kernel of your own the iteration limit may be at most {MOST_ITERATIONS}, not {job.iterations}"
        )
    if job.number != "auto":
        return job
    for number in (FLOAT, DOUBLE)[: 1 + double]:
        if number.unresolved(job.view, job.iterations) is None:
            return job.resolved(number.name, job.rounding)
    neither = "neither resolves" if double else "float does not resolve"
    raise InvalidInputError(
        f"a kernel of your own computes in float or double; {neither} this view. Choose another, or name a --number to "
        "try it nevertheless"
    )


def launched(size: Size, local: Size) -> Size:
    """Return how many work-items are launched for a number of pixels: whole work-groups."""
    return -(-size[0] // local[0]) * local[0], -(-size[1] // local[1]) * local[1]


def wrong_parameter(found: Sequence[Parameter], number: NumberFormat) -> str:
    """Return what is wrong with a kernel's parameters, in a sentence that names the first; empty if nothing is."""
    for k, (own, wanted) in enumerate(zip(found, PARAMETERS, strict=False), 1):
        if own.space != wanted.space or _plain(own.type, number) != _plain(wanted.type, number):
            return f"parameter {k} is `{own}`, the contract has `{wanted}`{_about_real(own, wanted, number)}"
    if len(found) < len(PARAMETERS):
        missing = ", ".join(f"`{parameter}`" for parameter in PARAMETERS[len(found) :])
        return f"it has {len(found)} parameters, the contract has {len(PARAMETERS)}: {missing} {_are(found)} missing"
    if len(found) > len(PARAMETERS):
        return f"it has {len(found)} parameters, the contract has {len(PARAMETERS)}: nothing is given for the rest"
    return ""


def swapped_names(found: Sequence[Parameter]) -> str:
    """Return a sentence about parameters that have each other's names, which no compiler notices; empty without any."""
    names = [parameter.name.removeprefix("_cl_") for parameter in found]  # PoCL renames some
    wanted = [parameter.name for parameter in PARAMETERS]
    if names == wanted or sorted(names) != sorted(wanted):
        return ""
    k = next(k for k, name in enumerate(names) if name != wanted[k])
    return f"parameter {k + 1} is called `{names[k]}`, but there the contract gives `{wanted[k]}`"


def _are(found: Sequence[Parameter]) -> str:
    return "is" if len(found) == len(PARAMETERS) - 1 else "are"


def _plain(name: str, number: NumberFormat) -> str:
    """Return a type in its usual form: without const and signedness, and with the usual name for `real`."""
    words = [word for word in name.replace("*", " *").split() if word not in ("const", "volatile", "restrict")]
    plain = "".join(words).replace("unsignedint", "uint").replace("unsigned", "uint")
    return {number.name: "real", "int": "uint", "int*": "uint*"}.get(plain, plain)


def _about_real(own: Parameter, wanted: Parameter, number: NumberFormat) -> str:
    if wanted.type == "real" and own.type in ("float", "double"):
        return f", which is {number.name} here: write `real`, or give --number {own.type}"
    return ""
