"""What a crew knows of a device, and of its part in a job, wherever the device is."""

from typing import Protocol

from mandelcl.core.job import Job
from mandelcl.core.report import KnownDevice
from mandelcl.engine.variant import Variant


class DevicePart(Protocol):
    """A device's part in a resolved job, as `choose` decides it."""

    @property
    def device(self) -> KnownDevice:
        """The device."""

    @property
    def job(self) -> Job:
        """The job, resolved for all."""

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
