"""The list of all operations of formulas.

To add one, write a kernel part and an `Operation`, and add it to `OPERATIONS`. docs/architecture.md ("To add
something") lists the oracles and tests that must learn it, too.
"""

from collections.abc import Mapping
from types import MappingProxyType

from mandelcl.formulas.operations.add import Add
from mandelcl.formulas.operations.mul import Mul
from mandelcl.formulas.operations.operation import Flags, Growth, IntegerErrors, Operation, OrbitPoint
from mandelcl.formulas.operations.rot import Rot
from mandelcl.formulas.operations.signs import AbsX, AbsY, NegX, NegY, Turning
from mandelcl.formulas.operations.sqr import Sqr
from mandelcl.formulas.operations.store import Store

__all__ = [
    "OPERATIONS",
    "Add",
    "Flags",
    "Growth",
    "IntegerErrors",
    "Mul",
    "Operation",
    "OrbitPoint",
    "Rot",
    "Sqr",
    "Store",
    "Turning",
]

OPERATIONS: Mapping[str, type[Operation]] = MappingProxyType(
    {operation.name: operation for operation in (Sqr, Mul, Store, AbsX, AbsY, NegX, NegY, Rot, Add)}
)
