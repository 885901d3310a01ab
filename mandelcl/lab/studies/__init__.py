"""The published experiments and a table of devices: one module for each study.

A module's `STUDY` is a `study.Study`. To add one: the module, and a line in `STUDIES`.
"""

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mandelcl.base.errors import InvalidInputError

if TYPE_CHECKING:
    from mandelcl.lab.studies.study import Study

STUDIES: Mapping[str, str] = MappingProxyType(
    {
        "devices": "the same jobs on each device: speed, share of its peak, identical or not",
        "hybridizer": "Hybridizer post: serial, parallel, one group a row, 2-D tiles; with and without copies",
        "border": "dynamic-parallelism report: escape time and border tracing by iteration limit and by size",
        "variations": "dynamic-parallelism report, future work: Julia sets and variations, wrong pixels by rule",
        "fp128": "multiprecision article: Mini Set 1 and Julia Island in float, double and fp128",
        "rewriting": "multiprecision article: its first fp128, word by word, in C and OpenCL; what rewriting it brings",
        "sizes": "CUDA coursework: 512² to 16384², its functions, whole processes, its kernels",
        "norm": "HPC report: testing |z|² ≥ 4 against |z| ≥ 2",
        "precision": "HPC report: float against double, fused against separate",
        "workgroup": "HPC report: work-group sizes; float and double",
        "scaling": "HPC report: threads and units, vectors, static and dynamic scheduling, chunks",
        "breakdown": "HPC report: where a program's time goes",
    }
)


def find_study(name: str) -> "Study":
    """Return the study of that name; raises InvalidInputError, listing the known ones, if there is none."""
    if name not in STUDIES:
        raise InvalidInputError(f"unknown study {name!r}; there is {', '.join(STUDIES)}")
    study: Study = importlib.import_module(f"mandelcl.lab.studies.{name}").STUDY
    return study
