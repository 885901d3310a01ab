"""What a crew knows of a device, and of its part in a job, wherever the device is."""

from typing import Protocol

from mandelcl.engine.variant import Variant
from mandelcl.job import Job
from mandelcl.report import Named


class KnownDevice(Named, Protocol):
    """A device as a crew knows it: here, or on another machine."""

    @property
    def spec(self) -> str:
        """Its numbers where it is, `platform:device`."""

    @property
    def label(self) -> str:
        """What messages call it, which no other device of the crew is called."""

    @property
    def type(self) -> str:
        """`cpu`, `gpu`, `accelerator` or `other`."""

    @property
    def fp64(self) -> bool:
        """Whether kernels may use double."""

    @property
    def slow_double(self) -> bool:
        """Whether that takes 16 times as long as float or more, in its family."""

    @property
    def compute_units(self) -> int:
        """How many compute units it has."""

    @property
    def watchdog(self) -> bool | None:
        """Whether the driver stops long kernels; None where it does not say."""


class Part(Protocol):
    """A device's part in a settled job, as `choose` decides it."""

    @property
    def device(self) -> KnownDevice:
        """The device."""

    @property
    def job(self) -> Job:
        """The job, settled alike for all."""

    @property
    def variant(self) -> Variant:
        """How kernels are shaped for the device."""

    @property
    def loop_limit(self) -> int:
        """After how many iterations the driver stops a loop; 0 for none."""

    @property
    def speed(self) -> float:
        """About how many iterations a second it makes; 0 where it was not tested."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines for the user."""
