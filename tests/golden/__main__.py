"""Make `fields.json` anew, from the oracle alone."""

import json
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from mandelcl.base.view import View
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from tests import oracle
from tests.golden import FILE
from tests.oracle import published

_SPIRAL = Fraction("-0.743643887037158704752191506114774"), Fraction("0.131825904205311970493132056385139")
_ZOOMS = {"float": 2**12, "double": 2**40}


def jobs() -> Iterator[tuple[str, Job]]:
    """Yield jobs with a name: float and double, fused and separate, caps from 1 to 100 000."""
    whole = View.centred(Fraction("-0.75"), Fraction(0), Fraction(8, 5), 640, 360)
    small = View.centred(Fraction("-0.75"), Fraction(0), Fraction(8, 5), 31, 23)
    mini = View.centred(Fraction("-0.15710375803"), Fraction("1.03258348530"), Fraction(50), 211, 197)
    axis = View.centred(Fraction("-1.76"), Fraction(0), Fraction(300), 257, 101)
    for number in ("float", "double"):
        for rounding in ("fused", "separate"):
            deep = View.centred(*_SPIRAL, Fraction(_ZOOMS[number]), 199, 131)
            places = {"whole set": (whole, 1000), "mini set 1": (mini, 400), "real axis": (axis, 2000)}
            places |= {"spiral": (deep, 1000), "one step": (small, 1), "long": (small, 100_000)}
            for name, (view, cap) in places.items():
                yield f"{name}, {number}, {rounding}", Job(view, cap, number=number, rounding=rounding)
    yield "coursework", published.coursework_job(256, 256)
    yield "hybridizer", published.hybridizer_job(256, 256)
    yield "dynamic parallelism", published.dynamic_parallelism_job(256, 256)
    yield "hpc, float", published.hpc_job(100, "float")
    yield "hpc, double", published.hpc_job(100, "double")


def main() -> None:
    entries = []
    for name, job in jobs():
        counts = oracle.counts(job)
        digest, total = Field(job, {"counts": counts}).counts_sha256(), int(counts.sum(dtype=np.uint64))
        entries.append(
            {"name": name, "job": json.loads(job.to_json()), "counts_sha256": digest, "iterations_total": total}
        )
    FILE.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
