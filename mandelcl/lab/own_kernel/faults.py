"""Faults of a user's kernel as messages to its author: a line, and lines that explain it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mandelcl.base.errors import DeviceError
from mandelcl.core.numbers import NumberFormat
from mandelcl.lab.own_kernel.contract import KERNEL, SIGNATURE, KernelFile, prelude

_MOST_LINES = 16
# The meanings of endings of a process.
_MEANINGS = {
    "killed by SIGILL": "an instruction that this processor does not have",
    "killed by SIGABRT": "the driver gave up",
    "killed by SIGFPE": "a division of whole numbers by zero",
    "killed by SIGSEGV": "an access to memory far out of bounds",
}
_OUT_OF_BOUNDS = re.compile("SIGSEGV|access violation")
# The text that pyopencl and drivers write around a compiler's messages.
_NOISE = re.compile(
    r"clBuildProgram failed|Build on <|\(options: |\(source saved as|Compilation (started|failed|done)|"
    r"Linking (started|done)|Device build started|Options used by backend|Failed to build device program|"
    r"failed to build the program|Error executing LLVM|remark: <unknown>|\d+ (warning|error)s? generated|"
    r"<unknown>:0:0|^Missing module"
)
# Oclgrind and NVIDIA's compiler count lines from the beginning of what they were given.
_OWN_COUNT = re.compile(r"^(?:input\.cl|<stdin>|<source>|<kernel>):(\d+)")


class KernelFaultError(DeviceError):
    """A fault of a kernel: its kind as a word, one line, and optional lines that explain it."""

    def __init__(self, kind: str, line: str, explanation: Iterable[str] = ()) -> None:
        super().__init__(line)
        self.kind = kind
        self.explanation = tuple(explanation)


@dataclass(frozen=True, slots=True)
class Overrun:
    """Words that a kernel wrote before and after the counts: runs of (first index, number), in order."""

    before: Sequence[tuple[int, int]] = ()
    after: Sequence[tuple[int, int]] = ()

    def __bool__(self) -> bool:
        return bool(self.before or self.after)


def not_one_file(kernel: KernelFile, line: int) -> KernelFaultError:
    """Return the fault of a kernel that asks for another file in a line."""
    return KernelFaultError(
        "build",
        f"is not built: {kernel.name}:{line} asks for another file, and a kernel is one file",
        [kernel.line(line), "Put what it needs into the file itself."],
    )


def not_built(kernel: KernelFile, log: str, number: NumberFormat) -> KernelFaultError:
    """Return the fault of a kernel that does not build, with what the compiler says about the file's own lines."""
    lines = own_lines(kernel, log, number)
    errors = [line for line in lines if "error" in line.lower()] or lines or ["the compiler gives no reason"]
    more = len(lines) - _MOST_LINES
    shown = [*lines[:_MOST_LINES], *([f"… and {more} more lines"] if more > 0 else [])]
    hints = []
    if not number.needs_fp64 and "double precision constant" in log:
        hints.append("A constant such as 2.0 is a double in OpenCL C; write 2.0f, or (real)2.0, or 2.")
    if not number.needs_fp64 and "use of type 'double'" in log:
        hints.append("This device has no double; `real` is float here.")
    return KernelFaultError("build", f"does not build: {errors[0]}", [*shown, *hints])


def own_lines(kernel: KernelFile, log: str, number: NumberFormat) -> list[str]:
    """Return the relevant lines of a compiler's log, with the line numbers of the kernel's file."""
    before = len(prelude(number).splitlines()) + 1

    def renumbered(match: re.Match[str]) -> str:
        return f"{kernel.name}:{max(1, int(match.group(1)) - before)}"

    lines = [re.sub(r"<unknown>:0:0: [^<]*?in function(?=<|Device)", "", line.rstrip()) for line in log.splitlines()]
    lines = [line for line in lines if line.strip() and not _NOISE.search(line)]
    if not any(kernel.name in line for line in lines):
        lines = [_OWN_COUNT.sub(renumbered, line) for line in lines]
    return list(dict.fromkeys(lines)) if not any("^" in line for line in lines) else lines


def no_kernel(kernel: KernelFile, names: Sequence[str]) -> KernelFaultError:
    """Return the fault of a file without a kernel of the contract's name."""
    there = f"it has {', '.join(f'`{name}`' for name in names)}" if names else "it has no kernel at all"
    why = [f"The contract: {SIGNATURE}"]
    if not names and re.search(rf"\bvoid\s+{KERNEL}\b", kernel.text):
        why.insert(0, f"A function becomes a kernel by the word `kernel` before `void {KERNEL}`.")
    return KernelFaultError("name", f"{kernel.name} has no kernel `{KERNEL}`; {there}", why)


def wrong_parameters(reason: str) -> KernelFaultError:
    """Return the fault of a kernel whose parameters are not those of the contract."""
    return KernelFaultError(
        "parameters", f"the parameters are not those of the contract: {reason}", [f"The contract: {SIGNATURE}"]
    )


def hung_build(seconds: float) -> KernelFaultError:
    """Return the fault of a kernel that was not built in time."""
    return KernelFaultError(
        "hang",
        f"the compiler did not end within {seconds:g} s and was stopped",
        ["Macros that expand in one another grow fast. --patience allows more time."],
    )


def hung(seconds: float, small_ended: bool) -> KernelFaultError:
    """Return the fault of a kernel that did not end in time; `small_ended` where a small picture did before."""
    but = ", though 16x16 pixels with an iteration limit of 16 do end" if small_ended else ""
    return KernelFaultError(
        "hang",
        f"did not end within {seconds:g} s and was stopped{but}",
        [
            "Either some pixel's loop never ends (does its count grow in every iteration, and does it end at `cap`?),",
            "or the kernel is slow: try a smaller --size or --cap, or allow more time with --patience.",
        ],
    )


def hung_small(seconds: float) -> KernelFaultError:
    """Return the fault of a kernel that did not end in time with the small picture that is tried first."""
    return KernelFaultError(
        "hang",
        f"did not end within {seconds:g} s and was stopped, with 16x16 pixels and a limit of 16: some loop never ends",
        ["A loop has to end when its count reaches `cap`, and the count has to grow in every iteration."],
    )


def crashed(why: str) -> KernelFaultError:
    """Return the fault of a kernel that crashed its process. `why` is how the process ended, with its last line."""
    ending, _, printed = why.partition(": ")
    meaning = _MEANINGS.get(ending)
    lines = ["The kernel, or the driver because of it, ended the process in which it ran. mandelcl's own goes on."]
    lines += [f"The last line that it printed: {printed}"] if printed else []
    if _OUT_OF_BOUNDS.search(ending):
        lines.append("Look at the index into `counts`, or let Oclgrind find the access: --check.")
    return KernelFaultError("crash", f"its process ended: {ending}" + (f", {meaning}" if meaning else ""), lines)


def out_of_bounds(overrun: Overrun, size: tuple[int, int], launched: tuple[int, int]) -> KernelFaultError:
    """Return the fault of a kernel that wrote beside the counts of a picture of a size."""
    width, height = size
    runs = [*overrun.before, *overrun.after]
    words = sum(number for _, number in runs)
    first, number = runs[0]
    place = f"first counts[{first}]" + (f" to [{first + number - 1}]" if number > 1 else "")
    line = f"writes out of bounds: {words} {'word' if words == 1 else 'words'} beside the counts, {place}"
    row, column = divmod(first, width)
    lines = [
        f"`counts` has the indices 0 to {width * height - 1}; index {first} would be column {column} of row {row}.",
        "On another device, or in another program, such a write destroys something else, or ends the program.",
    ]
    if not overrun.before and list(overrun.after) == [surplus(size, launched)]:
        lines += [
            f"These are exactly the writes of the work-items beyond the picture: it is {width}x{height}, and "
            f"{launched[0]}x{launched[1]} work-items are launched, in whole work-groups.",
            "Begin with: if (column >= width || row >= height) return;",
        ]
    return KernelFaultError("bounds", line, lines)


def surplus(size: tuple[int, int], launched: tuple[int, int]) -> tuple[int, int]:
    """Return the run of words behind the counts that work-items beyond the picture write to, if none of them returns.

    Each writes to row·width + column.
    """
    width, height = size
    last = (launched[1] - 1) * width + launched[0] - 1
    return width * height, max(0, last - (width * height - 1))
