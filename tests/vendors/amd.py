"""AMD's compiler: clang with ROCm's device libraries, as the OpenCL runtime of ROCm calls it."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.vendors.built import CannotBuildError, Instruction, Kernel

_LIBRARIES = ("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode")
_COMMENTS = re.compile(r"^; (\w+)(?::| =) (\d+)", re.MULTILINE)
_LIKE = {"1100": "1036"}  # a version that the libraries lack, and one for which they have the same
_ENCODINGS = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp)$")


@dataclass(frozen=True, slots=True)
class Amd:
    """clang, by its command's name, for the chips of AMD."""

    command: str = "clang-15"
    timeout: float = 600.0

    def version(self) -> str:
        """Return the compiler's and the libraries' version."""
        shown = subprocess.run([self.command, "--version"], capture_output=True, text=True, check=True).stdout
        package = ["dpkg-query", "-W", "-f", "${Version}", "rocm-device-libs"]
        libraries = subprocess.run(package, capture_output=True, text=True, check=False).stdout
        return f"{shown.splitlines()[0].strip()}, rocm-device-libs {libraries or 'of an unknown version'}"

    def build(self, text: str, chip: str, options: tuple[str, ...] = ()) -> list[Kernel]:
        """Return the kernels of a text, built for a chip such as gfx1030; raises CannotBuildError."""
        assembly = self._run(text, chip, "-S", *options)
        return [_kernel(name, assembly) for name in re.findall(r"^\s*\.amdhsa_kernel (\w+)", assembly, re.MULTILINE)]

    def fused_written(self, text: str, chip: str) -> dict[str, int]:
        """Return how many fused operations each kernel of a text has before they become instructions."""
        code = self._run(text, chip, "-S", "-emit-llvm")
        bodies = re.findall(r"^define [^\n]*amdgpu_kernel void @(\w+)\((.*?)^}", code, re.MULTILINE | re.DOTALL)
        return {name: len(re.findall(r"@llvm\.fma\.", body)) for name, body in bodies}

    def _run(self, text: str, chip: str, *options: str) -> str:
        command = [self.command, "-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", f"-mcpu={chip}", "-O3"]
        command += [f"--rocm-device-lib-path={libraries()}", *options, "-o", "-", "-"]
        try:
            done = subprocess.run(
                command, input=text, capture_output=True, text=True, timeout=self.timeout, check=False
            )
        except subprocess.TimeoutExpired:
            raise CannotBuildError(f"not built in {self.timeout:.0f} s") from None
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise CannotBuildError((errors or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0][:200])
        return done.stdout


@cache
def libraries() -> Path:
    """Return a folder with ROCm's device libraries, also for chips that are younger than they are."""
    found = next((path for path in map(Path, _LIBRARIES) if (path / "opencl.bc").is_file()), None)
    if found is None:
        raise CannotBuildError("ROCm's device libraries are missing: install rocm-device-libs")
    folder = Path(tempfile.mkdtemp(prefix="device-libraries-"))
    for library in found.glob("*.bc"):
        (folder / library.name).symlink_to(library)
    for version, like in _LIKE.items():
        path = folder / f"oclc_isa_version_{version}.bc"
        if not path.exists():
            path.symlink_to(found / f"oclc_isa_version_{like}.bc")
    return folder


def _kernel(name: str, assembly: str) -> Kernel:
    """Return a kernel of an assembly text, which says what it takes in directives, comments and metadata."""
    start = re.search(rf"^{name}:", assembly, re.MULTILINE)
    assert start is not None
    body, _, after = assembly[start.start() :].partition(".amdhsa_kernel ")
    directives, _, after = after.partition(".end_amdhsa_kernel")
    comments = after.partition("; Kernel info:")[2].partition("\t.")[0]
    facts = {key: int(value) for key, value in _COMMENTS.findall(comments)}
    # Scalars are spilled to lanes of vector registers, and cost no memory.
    spills = re.search(rf"\.name: +{name}\n[^-]*?\.vgpr_spill_count: (\d+)", assembly)
    assert spills is not None
    modes = re.findall(r"\.amdhsa_float_denorm_mode_(?:32|16_64) (\d)", directives)
    return Kernel(
        name,
        registers=facts.get("TotalNumVgprs", facts["NumVgprs"]),
        spilled=int(spills.group(1)),
        scratch=facts["ScratchSize"],
        occupancy=facts["Occupancy"],
        code=facts["codeLenInByte"],
        denormals=modes == ["3", "3"],
        instructions=tuple(_instructions(body)),
    )


def _instructions(body: str) -> Iterator[Instruction]:
    block = 0
    for line in body.splitlines():
        if re.match(r"(\.L|; %bb\.)", line):
            block += 1
        for part in line.split(";")[0].split(" :: "):  # of two at once
            found = re.match(r"\s*([a-z]\w+)(?: (.*))?$", part.rstrip())
            if found and line.startswith("\t"):
                yield Instruction(_ENCODINGS.sub("", found.group(1)), found.group(2) or "", block)
