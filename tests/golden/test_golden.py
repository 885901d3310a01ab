"""The fields on file are the oracle's, and every device's: the same SHA-256 everywhere."""

import hashlib

import numpy as np
import pytest

from mandelcl.core.numbers import by_name
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests import oracle
from tests.device.targets import oracle_follows
from tests.golden import Golden, load

FIELDS = load()
every_field = pytest.mark.parametrize("golden", FIELDS, ids=lambda golden: golden.name)


def test_fields_are_all_there() -> None:
    kinds = {(golden.job.number, golden.job.rounding) for golden in FIELDS}
    assert kinds >= {(number, rounding) for number in ("float", "double") for rounding in ("fused", "separate")}
    assert len({golden.name for golden in FIELDS}) == len(FIELDS) >= 24
    assert len({golden.counts_sha256 for golden in FIELDS}) > 20


@every_field
def test_oracle(golden: Golden) -> None:
    assert oracle_follows(by_name(golden.job.number))
    counts = oracle.counts(golden.job)
    assert hashlib.sha256(counts.astype("<u4").tobytes()).hexdigest() == golden.counts_sha256
    assert int(counts.sum(dtype=np.uint64)) == golden.iterations_total


@every_field
def test_device(device: Device, golden: Golden) -> None:
    if golden.job.number == "double" and not device.fp64:
        pytest.skip("no double precision")
    field, report = render(golden.job, device)
    assert field.counts_sha256() == report.counts_sha256 == golden.counts_sha256
    assert report.iterations_total == golden.iterations_total
