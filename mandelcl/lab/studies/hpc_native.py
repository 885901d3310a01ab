"""The HPC report's programs in C: plain, and with explicit vectors and OpenMP threads."""

from dataclasses import dataclass

from mandelcl.core.job import Job
from mandelcl.lab.studies import native
from mandelcl.lab.studies.jobs import ORDER

TESTS = ("hypot", "root", "norm")  # |z| ≥ 2 as the C library's hypot or as a square root, and |z|² ≥ 4


@dataclass(frozen=True, slots=True)
class Threads:
    """The number of threads and OpenMP's schedule: a thread takes `chunk` iterations at a time (0: its choice)."""

    number: int
    dynamic: bool = True
    chunk: int = 0

    def values(self) -> tuple[int, int, int]:
        """Return the parameters of the programs in C."""
        return int(self.dynamic), self.chunk, self.number


def plain(job: Job, test: str, threads: Threads) -> native.Load:
    """Return how to load one pixel after the other, in double, each operation rounded."""
    return native.upright("hpc_report", f"plain_{test}", job, threads.values())


def vectors(job: Job, threads: Threads, as_listed: bool = False) -> native.Load:
    """Return how to load pixels side by side in vectors of 256 bits, in the job's number and rounding.

    The rounding `fused` stands for the report's own order of operations. With `as_listed` a block of pixels ends as in
    the report's listing, and not once all its orbits have left.
    """
    return native.upright(
        "hpc_report", f"vectors_{job.number}_{job.rounding}", job, (*threads.values(), int(as_listed))
    )


def order_of(job: Job) -> str:
    """Return the order of operations of `vectors`, as `Validator.check` takes it."""
    return ORDER if job.rounding == "fused" else ""


def instructions() -> str:
    """Return what the vectors are made of; raises DeviceError if nothing can be compiled."""
    own = native.library("hpc_report").functions.has_vector_instructions()
    return "AVX2, FMA" if own else "as compiled"
