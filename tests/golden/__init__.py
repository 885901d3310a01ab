"""Fields as data: jobs with the SHA-256 of their counts, made once from the oracle (`python -m tests.golden`)."""

import json
from dataclasses import dataclass
from pathlib import Path

from mandelcl.core.job import Job

FILE = Path(__file__).with_name("fields.json")


@dataclass(frozen=True, slots=True)
class Golden:
    """A job and what its counts must be."""

    name: str
    job: Job
    counts_sha256: str
    iterations_total: int


def load() -> list[Golden]:
    """Return the fields on file."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return [Golden(**entry | {"job": Job.from_json(json.dumps(entry["job"]))}) for entry in entries]
