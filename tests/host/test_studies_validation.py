"""Words are validated: wrong ones are found, and what is known of the published pictures is right."""

from dataclasses import replace

import numpy as np
import pytest

from mandelcl.base.words import Words, sha256
from mandelcl.core.job import Job
from mandelcl.lab.studies import jobs, reference, validation
from mandelcl.lab.studies.validation import Validator
from tests import oracle
from tests.golden import studies as golden
from tests.oracle.marks import needs_compiler


def _check(validator: Validator, job: Job, counts: Words) -> validation.Validation:
    return validator.check(job, counts, "9:9")


def test_one_wrong_pixel_of_a_small_picture_is_found() -> None:
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    validator = Validator()
    assert _check(validator, job, counts).ok
    for place in ((0, 0), (11, 7), (23, 23)):
        wrong = counts.copy()
        wrong[place] += 1
        outcome = _check(Validator(), job, wrong)
        assert (outcome.ok, outcome.differing, outcome.word) == (False, 1, "WRONG")


def test_one_wrong_pixel_outside_the_sample_is_found_beside_the_first_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "sample", lambda _job: np.array([3, 5], np.int64))
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    wrong = counts.copy()
    wrong[20, 20] += 1
    validator = Validator()
    assert _check(validator, job, counts).checked == "2 pixels recomputed"
    outcome = _check(validator, job, wrong)
    assert (outcome.ok, outcome.differing) == (False, 1)
    assert "all against 9:9" in outcome.checked


def test_wrong_first_device_is_not_the_baseline() -> None:
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    wrong = counts.copy()
    wrong[1, 1] -= 1
    validator = Validator()
    assert not _check(validator, job, wrong).ok
    assert _check(validator, job, counts).ok


def test_known_sha256_decides_correctness(monkeypatch: pytest.MonkeyPatch) -> None:
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    monkeypatch.setattr(reference, "sample", lambda _job: np.array([3, 5], np.int64))
    monkeypatch.setattr(validation, "known", lambda: {validation.key_of(job): sha256(counts)})
    assert _check(Validator(), job, counts).checked == "every pixel (known SHA-256)"
    wrong = counts.copy()
    wrong[20, 20] += 1
    outcome = _check(Validator(), job, wrong)
    assert (outcome.ok, outcome.differing) == (False, None)


def test_picture_keys_depend_on_the_picture_only() -> None:
    job = jobs.hybridizer_job(24)
    assert validation.key_of(job) == validation.key_of(replace(job, planes=("counts", "smooth")))
    others = (jobs.hybridizer_job(25), jobs.hybridizer_job(24, 255), replace(job, rounding="fused"))
    keys = {validation.key_of(other) for other in (job, *others)} | {validation.key_of(job, "published")}
    assert len(keys) == 5


def test_every_published_picture_is_known() -> None:
    every = list(golden.every())
    assert {validation.key_of(*each) for each in every} == set(validation.known())
    assert len(every) == len(validation.known()) > 60


@pytest.mark.full
@needs_compiler
def test_known_pictures_are_the_oracles() -> None:
    small = [(job, order) for job, order in golden.every() if job.view.pixels * job.iterations < 2e9]
    assert len(small) >= 8
    for job, order in small:
        assert golden.digest(job, order) == validation.known()[validation.key_of(job, order)]
