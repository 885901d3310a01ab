"""Intel's compiler, by its offline front end `ocloc`, with the assembly that it shows on the way."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.vendors.built import CannotBuildError, Instruction, Kernel

_KEPT = 0x4C0  # bits of the control register: denormals of half, float and double are kept
_PACKAGES = ("intel-opencl-icd", "libigc1")
_INSTRUCTION = re.compile(r"(?:\([^)]*\) *)?([a-z]\w*(?:\.\w+)*) \((\d+)\|M(\d+)\) +(.*)")


@dataclass(frozen=True, slots=True)
class Intel:
    """ocloc, by its command's name, for the devices of Intel."""

    command: str = "ocloc"
    timeout: float = 900.0

    def version(self) -> str:
        """Return the versions of the runtime that ocloc is of, and of the compiler."""
        shown = ["dpkg-query", "-W", "-f", "${Package} ${Version}, ", *_PACKAGES]
        return subprocess.run(shown, capture_output=True, text=True, check=False).stdout.rstrip(", ") or "unknown"

    def build(self, text: str, chip: str, options: tuple[str, ...] = ()) -> list[Kernel]:
        """Return the kernels of a text, built for a device such as tgllp; raises CannotBuildError."""
        kernels = [_kernel(shown) for shown in self._run(text, chip, "*.asm", options)]
        return list({kernel.name: kernel for kernel in kernels}.values())  # what it tries again counts

    def fused_written(self, text: str, chip: str) -> dict[str, int]:
        """Return how many fused operations each kernel of a text has before they become instructions."""
        (code,) = self._run(text, chip, "*_optimized.ll", ())
        bodies = re.findall(r"^define spir_kernel void @(\w+)\((.*?)^}", code, re.MULTILINE | re.DOTALL)
        return {name: len(re.findall(r"@llvm\.fma\.", body)) for name, body in bodies}

    def _run(self, text: str, chip: str, shown: str, options: tuple[str, ...]) -> list[str]:
        with tempfile.TemporaryDirectory(prefix="ocloc-") as name:
            folder = Path(name)
            (folder / "kernels.cl").write_text(text, encoding="utf-8")
            command = [self.command, "compile", "-file", "kernels.cl", "-device", chip, "-out_dir", "out"]
            command += ["-options", " ".join(["-cl-std=CL1.2", *options])]
            settings = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(folder / "shown")}
            try:
                done = subprocess.run(
                    command,
                    cwd=folder,
                    env=os.environ | settings,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=self.timeout,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise CannotBuildError(f"not built in {self.timeout:.0f} s") from None
            reported = (done.stdout + done.stderr).splitlines()
            if done.returncode:
                errors = [line for line in reported if "error" in line.lower()]
                raise CannotBuildError((errors or reported or [f"exit code {done.returncode}"])[0][:200])
            paths = sorted((folder / "shown").glob(shown), key=lambda path: path.stat().st_mtime_ns)
            return [path.read_text(encoding="utf-8", errors="replace") for path in paths]


def _kernel(assembly: str) -> Kernel:
    """Return a kernel of an assembly text: what it takes stands in comments above."""
    name = _first(r"^//\.kernel (\w+)", assembly)
    instructions = tuple(_instructions(assembly))
    control = [found.operands for found in instructions if found.operands.startswith("cr0.0") and found.name == "or"]
    bits = int(control[0].split()[2].partition(":")[0], 16) if control else 0
    return Kernel(
        name,
        registers=int(_first(r"numGRF=(\d+)", assembly)),
        spilled=int(_first(r"^//\.spill size (\d+)", assembly, "0")),
        scratch=int(_first(r"^//\.private memory size (\d+)", assembly, "0")),
        occupancy=max(found.end for found in instructions),
        code=int(_first(r"^//\.instCount (\d+)", assembly)),
        denormals=bits & _KEPT == _KEPT,
        instructions=instructions,
    )


def _first(pattern: str, text: str, default: str | None = None) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None and default is not None:
        return default
    assert found is not None, f"no {pattern} in what the compiler shows"
    return found.group(1)


def _instructions(assembly: str) -> Iterator[Instruction]:
    block = 0
    for line in assembly.splitlines():
        if re.match(r"// B\d+:", line):
            block += 1
        found = None if line.startswith("//") else _INSTRUCTION.match(line.strip())
        if found:
            width, first, operands = int(found.group(2)), int(found.group(3)), found.group(4).partition("//")[0]
            yield Instruction(found.group(1), operands.strip(), block, width, first + width)
