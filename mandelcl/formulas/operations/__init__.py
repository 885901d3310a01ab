"""The operations that formulas are made of: here is the list of all.

To add one: a kernel part, its `Operation` in a module, and its line in `OPERATIONS`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from mandelcl.formulas.operations.add import Add
from mandelcl.formulas.operations.mul import Mul
from mandelcl.formulas.operations.operation import Growth, Operation, OrbitPoint
from mandelcl.formulas.operations.rot import Rot
from mandelcl.formulas.operations.sqr import Sqr
from mandelcl.formulas.operations.store import Store
from mandelcl.formulas.operations.turning import AbsX, AbsY, NegX, NegY, Turning

__all__ = ["OPERATIONS", "Add", "Growth", "Mul", "Operation", "OrbitPoint", "Rot", "Sqr", "Store", "Turning"]

OPERATIONS: Mapping[str, type[Operation]] = MappingProxyType(
    {operation.name: operation for operation in (Sqr, Mul, Store, AbsX, AbsY, NegX, NegY, Rot, Add)}
)
