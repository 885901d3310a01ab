"""What happened and how long it took."""

from dataclasses import asdict, dataclass, field
from typing import Any


class LaunchLog:
    """Times of the launches and copies of a render, as they end."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.copy_seconds = 0.0

    def add(self, seconds: float) -> None:
        """Note a launch."""
        self.seconds.append(seconds)

    def add_copy(self, seconds: float) -> None:
        """Note a copy."""
        self.copy_seconds += seconds

    @property
    def longest(self) -> float:
        """Seconds of the longest launch."""
        return max(self.seconds, default=0.0)


@dataclass(frozen=True, slots=True)
class Report:
    """The facts of one render; times in seconds unless the name says otherwise.

    `iterations_total` is the sum of the counts however they were obtained; `kernel_s` the sum of the launches' times
    on the device; `wall_s` the whole of `render`.
    """

    device: str
    platform: str
    driver: str
    number: str
    rounding: str
    algorithm: str
    width: int
    height: int
    iterations_cap: int
    iterations_total: int
    pixels_computed: int
    launches: int
    longest_launch_ms: float
    build_s: float
    kernel_s: float
    copy_s: float
    wall_s: float
    counts_sha256: str
    faults: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values, in the order of the fields."""
        return asdict(self)

    @property
    def giter_per_s(self) -> float:
        """Useful iterations a second of kernel time, in billions."""
        return self.iterations_total / self.kernel_s / 1e9 if self.kernel_s > 0 else 0.0
