"""Device memory for the results of a block and for the orbits that a launch leaves alive."""

from mandelcl.job import Job
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Buffer, Device

NOT_WRITTEN = 0xFFFFFFFF  # no pixel has this count: the largest cap is one less
_CPU_LIST_BYTES = 1 << 24
_GPU_LIST_BYTES = 1 << 28
_LIST_SHARE = 32  # a list may take this fraction of the device's memory; there are up to six


class Memory:
    """Memory for one block in flight of a resolved job: its results and, made when first needed, two survivors' lists.

    The block has at most `pixels` pixels. A list takes `capacity` orbits: `width`, those of a row, at the least.
    """

    def __init__(self, device: Device, job: Job, pixels: int, width: int) -> None:
        self.pixels = pixels
        self._device = device
        self._orbit_bytes = 4 * by_name(job.number).state_words
        self._results_bytes = 4 * job.words * pixels
        self.capacity = max(width, min(pixels, _list_capacity(device, self._orbit_bytes)))
        self.results = device.allocate(self._results_bytes)
        self.survivor_total = device.allocate(4)
        self._lists: list[Buffer] = []

    def lists(self) -> list[Buffer]:
        """Return the two lists of survivors: the one last written first."""
        if not self._lists:
            size = self._orbit_bytes * self.capacity
            self._lists = [self._device.allocate(size), self._device.allocate(size)]
        return self._lists

    def fill_results(self) -> None:
        """Enqueue the filling of the results with NOT_WRITTEN."""
        self._device.fill(self.results, NOT_WRITTEN, self._results_bytes)

    def swap_lists(self) -> None:
        """Make the list written next the other one."""
        self._lists.reverse()


def _list_capacity(device: Device, orbit_bytes: int) -> int:
    """Return how many orbits a launch may leave alive: many more than saturate the device, few enough for its memory.

    A CPU's memory is the host's, and needs few orbits.
    """
    most = _GPU_LIST_BYTES if device.type == "gpu" else _CPU_LIST_BYTES
    size = min(most, device.max_alloc_bytes, device.memory_bytes // _LIST_SHARE)
    return max(1, size // orbit_bytes)
