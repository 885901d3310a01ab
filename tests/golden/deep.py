"""Deep places as data: where they are, and the counts of a small picture of each without rounding worth the name.

`python -m tests.golden.deep` makes the counts anew, from integers alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import Job
from tests import places
from tests.oracle import truth_counts

FILE = Path(__file__).with_name("deep.json")
WIDTH, HEIGHT = 24, 16
_SPARE_BITS = 96


@dataclass(frozen=True, slots=True)
class Place(places.Place):
    """A place, the number that is to show it, and the share of pixels that must have the true count."""

    number: str
    share: float
    truth: npt.NDArray[np.uint32]

    @property
    def job(self) -> Job:
        """The small picture."""
        return Job(self.view(WIDTH, HEIGHT), self.iterations, number=self.number, rounding="fixed")

    def compute(self) -> npt.NDArray[np.uint32]:
        """Return the counts in integers with 96 bits more than tell two pixels apart."""
        return truth_counts(self.job, _SPARE_BITS - int(self.job.view.pitch * 2**999).bit_length() + 999)


def load() -> list[Place]:
    """Return the places on file."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return [Place(**entry | {"truth": np.array(entry["truth"], np.uint32)}) for entry in entries]


def main() -> None:
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    for entry, place in zip(entries, load(), strict=True):
        entry["truth"] = place.compute().tolist()
    write(entries)


def write(entries: list[dict[str, object]]) -> None:
    """Write the file, an entry a line."""
    FILE.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
