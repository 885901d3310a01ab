"""What a vendor's compiler made of a kernel."""

from dataclasses import dataclass, field


class CannotBuildError(Exception):
    """A compiler refused a text; its message says why."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction: its mnemonic, without suffixes of encoding, its operands, and the number of its basic block.

    `width` is how many work-items it is for, of which the last is the one before `end`, where the text says so.
    """

    name: str
    operands: str
    block: int
    width: int = 1
    end: int = 1


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel as it was built.

    `registers` are those of a work-item (AMD) or of a hardware thread (Intel), `spilled` how many of these (AMD), or
    bytes of these (Intel), are spilled, and `scratch` the bytes of memory that a work-item or thread has for that and
    for arrays. `occupancy` is how many waves a SIMD holds (AMD), or how many work-items a thread has (Intel); `code` is
    in bytes (AMD) or instructions (Intel). `denormals` says whether those of float and double are kept.
    """

    name: str
    registers: int
    spilled: int
    scratch: int
    occupancy: int
    code: int
    denormals: bool
    instructions: tuple[Instruction, ...] = field(repr=False)
