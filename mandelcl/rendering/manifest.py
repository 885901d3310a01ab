"""The manifest of a store: its job, the layout of its bands, and how the picture is cut into bands."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Self

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted
from mandelcl.core.job import Job
from mandelcl.core.job_text import integer
from mandelcl.rendering.band_layout import BandLayout

DIGEST_BYTES = 16
_VERSION = 2


class OtherVersionError(ValueError):
    """An intact manifest that another version of mandelcl wrote."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a store: the pixels of a resolved job in the layout `form`, cut into bands of `band_rows` rows.

    `origin` is the text from which it was read; the checksums of the bands include it. It is empty for a new manifest.
    """

    job: Job
    band_rows: int
    form: BandLayout
    origin: str = field(default="", compare=False, repr=False)

    @classmethod
    def of_words(cls, job: Job, band_rows: int) -> Self:
        """Return the manifest of a store of results as the kernels wrote them."""
        return cls(job, band_rows, BandLayout.words(job))

    @property
    def bands(self) -> int:
        """Number of bands."""
        return -(-self.job.view.height // self.band_rows)

    def rows(self, band: int) -> int:
        """Return how many rows a band has."""
        return min(self.band_rows, self.job.view.height - band * self.band_rows)

    def shape(self, band: int) -> tuple[int, ...]:
        """Return the shape of a band's values."""
        return self.form.shape(self.rows(band), self.job.view.width)

    def text(self) -> str:
        """Return the manifest as JSON; a manifest that was read keeps its original text."""
        if self.origin:
            return self.origin
        job = json.loads(self.job.to_json())
        core = {"version": _VERSION, "job": job, "form": self.form.as_dict(), "band_rows": self.band_rows}
        return _text({"manifest": core, "checksum": _checksum(core)})

    @classmethod
    def parse(cls, text: str) -> "Manifest":
        """Parse the output of `text`. Raises OtherVersionError for another version's, ValueError for anything else."""
        try:
            values = json.loads(text)
            core: dict[str, Any] = values["manifest"]
            if values["checksum"] != _checksum(core):
                raise ValueError("its checksum is wrong")
            if core["version"] != _VERSION:
                raise OtherVersionError(
                    f"its bands have version {quoted(core['version'])}, but this mandelcl reads version {_VERSION}"
                )
            origin = _text({"manifest": core, "checksum": values["checksum"]})
            job = Job.from_json(json.dumps(core["job"]))
            manifest = cls(job, integer(core["band_rows"]), BandLayout.parse(core["form"], job), origin)
        except (AttributeError, InvalidInputError, LookupError, RecursionError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        if manifest.band_rows < 1:
            raise ValueError("its bands have no rows")
        return manifest


def _text(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=1) + "\n"


def _checksum(core: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(core, sort_keys=True).encode(), digest_size=DIGEST_BYTES).hexdigest()
