"""What a formula is: one step of an orbit, and what may be concluded from it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.exact import root_above

# How a job writes a number: to a text, exactly, and back; the latter raises TypeError.
ToText: TypeAlias = Callable[[Fraction], str]
FromText: TypeAlias = Callable[[object], Fraction]
# One complex number where a formula is analytic; else two, by the point's real and by its imaginary part.
Derivative: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Formula(ABC):
    """One step of an orbit.

    A formula's own fields, if any, are Fractions: the parts of its complex parameters, in order, re before im.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    degree: ClassVar[int] = 2
    kernel: ClassVar[str]
    # Whether a border of one count says what is inside: {count ≥ n} is connected and full. The kernel part then bounds
    # how orbits spread; `component_kernels` find components of the set, where there is a theorem on those.
    traceable: ClassVar[bool] = False
    component_kernels: ClassVar[tuple[str, ...]] = ()
    # Whether its orbits can be computed as differences from a reference orbit.
    perturbable: ClassVar[bool] = False
    # Whether a derivative by the point is one complex number; else it is two, those by its real and imaginary part.
    analytic: ClassVar[bool] = True
    # Centre and zoom of a view that shows all of it.
    home: ClassVar[tuple[str, str, str]] = ("0", "0", "1.25")
    # Whether each orbit begins inside every escape radius, so that no count is 0.
    begins_inside: ClassVar[bool] = True

    @property
    def parameters(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The complex parameters, exactly."""
        values = [getattr(self, field.name) for field in fields(self)]
        return tuple(zip(values[::2], values[1::2], strict=True))

    @property
    def constant(self) -> tuple[Fraction, Fraction] | None:
        """The c of all orbits; None where it is the pixel's point."""
        return None

    @abstractmethod
    def least_radius_squared(self) -> Fraction:
        """Return the least R² beyond which no orbit ever comes back, in exact arithmetic."""

    @abstractmethod
    def largest_constant(self, radius_squared: Fraction) -> Fraction:
        """Return a bound of |c| of all orbits that are inside after their first step."""

    def largest_step(self, radius_squared: Fraction) -> Fraction:
        """Return a bound of |z|^degree + |c| for |z| ≤ R: how far a step from within the disc leads."""
        odd = root_above(radius_squared) if self.degree % 2 else 1
        return radius_squared ** (self.degree // 2) * odd + self.largest_constant(radius_squared)

    @abstractmethod
    def stays_outside(self, radius_squared: Fraction, unit: Fraction) -> bool:
        """Return whether in a number no orbit that has left the disc comes back, so a test once a stride is exact.

        `unit` bounds the error of a step by unit·(|z|^degree + |c|).
        """

    @abstractmethod
    def start(self, arithmetic: Arithmetic, point: Complex, parameters: tuple[Complex, ...]) -> tuple[Complex, Complex]:
        """Return z₀ and the constant c of the orbit of a point."""

    @abstractmethod
    def step(self, arithmetic: Arithmetic, z: Complex, c: Complex) -> Complex:
        """Return the next z."""

    @abstractmethod
    def derivative_start(self, arithmetic: DerivativeArithmetic, move: Derivative) -> Derivative:
        """Return the derivative of z₀ by the point, where that moves by `move`."""

    @abstractmethod
    def derivative_step(
        self, arithmetic: DerivativeArithmetic, z: Complex, derivative: Derivative, move: Derivative, n: int
    ) -> Derivative:
        """Return the derivative of the z that follows z, the n-th of its orbit, from that of z."""

    def as_json(self, text: ToText) -> dict[str, str]:
        """Return name and parameters."""
        return {"name": self.name} | {field.name: text(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_json(cls, values: Mapping[str, object], number: FromText) -> "Formula":
        """Return what `as_json` wrote; raises TypeError or KeyError for anything else."""
        names = [field.name for field in fields(cls)]
        if set(values) != {"name", *names}:
            raise TypeError(f"{cls.name} has the parameters {', '.join(names) or 'none'}")
        return cls(*(number(values[name]) for name in names))

    def __str__(self) -> str:
        return " ".join([self.name, *(str(getattr(self, field.name)) for field in fields(self))])
