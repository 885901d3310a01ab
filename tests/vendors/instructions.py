"""What a kernel's instructions say of its rounding: fused operations, and approximate ones."""

import re
from fractions import Fraction

from tests.vendors.built import Instruction, Kernel

_INTEL_FLOAT = re.compile(r"\S+:d?f\b")
_KINDS = {
    "fused": (re.compile(r"v_(dual_|pk_)?(fma|fmac|fmaak|fmamk|mad|mac|madak|madmk)_f(32|64)"), "mad"),
    "product": (re.compile(r"v_(dual_|pk_)?mul_f(32|64)"), "mul"),
    "sum": (re.compile(r"v_(dual_|pk_)?(add|sub|subrev)_f(32|64)"), "add"),
}
_AMD_APPROXIMATE = re.compile(r"v_(rcp|rsq|sqrt|exp|log|sin|cos|div_\w+)_f(32|64)")
_INTEL_APPROXIMATE = re.compile(r"math\.(inv|invm|rsqt|rsqtm|sqt|log|exp|pow|sin|cos|fdiv)")


def fused(kernel: Kernel) -> Fraction:
    """Return how many products and sums of float or double a work-item makes in one rounding, as they are written."""
    return sum((_share(found, kernel) for found in kernel.instructions if _kind(found) == "fused"), Fraction(0))


def approximate(kernel: Kernel) -> set[str]:
    """Return the operations of float or double that IEEE 754 does not fix: reciprocals, roots and the like."""
    names = {found.name for found in kernel.instructions}
    return {name for name in names if _AMD_APPROXIMATE.fullmatch(name) or _INTEL_APPROXIMATE.fullmatch(name)}


def largest_block(kernel: Kernel) -> dict[str, Fraction]:
    """Return how many operations of each kind a work-item makes in the basic block that has most of them."""
    blocks: dict[int, dict[str, Fraction]] = {}
    for found in kernel.instructions:
        kind = _kind(found)
        if kind:
            counts = blocks.setdefault(found.block, dict.fromkeys(_KINDS, Fraction(0)))
            counts[kind] += _share(found, kernel)
    return max(blocks.values(), key=lambda counts: sum(counts.values()))


def _kind(found: Instruction) -> str:
    for kind, (amd, intel) in _KINDS.items():
        if amd.fullmatch(found.name) or (found.name == intel and _INTEL_FLOAT.match(found.operands)):
            return kind
    return ""


def _share(found: Instruction, kernel: Kernel) -> Fraction:
    """Return how many operations of a work-item an instruction is: of Intel's, several make one."""
    if found.name.startswith("v_"):
        return Fraction(2 if "_pk_" in found.name else 1)
    return Fraction(found.width, kernel.occupancy)
