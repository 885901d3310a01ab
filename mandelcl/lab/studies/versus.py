"""Compare a run with the shipped baseline of devices that were measured elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies import merging, reading
from mandelcl.lab.studies.cells import listed
from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.naming import Identity, names
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.sharing import is_good
from mandelcl.lab.studies.study import Study

FOLDER = Path(__file__).with_name("baseline")
HEADINGS = ["Case", "Place", "Where", "Device", "Platform", "Driver", "Measured", "Rounding", "Giter/s"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A table of the baseline's rows and one's own, fastest first in each case, and a sentence for each own row."""

    lines: Sequence[Sequence[str]]
    sentences: Sequence[str]


def baseline(study: Study) -> Document:
    """Return the table that is shipped for a study, with the tables that users have shared.

    These are the files of the folder with the study's name, each a machine that is called as the file. Raises
    InvalidInputError if there is no table.
    """
    path = FOLDER / f"{study.name}.json"
    if not path.is_file():
        there = ", ".join(sorted(path.stem for path in FOLDER.glob("*.json")))
        raise InvalidInputError(f"there is no baseline for the study {study.name!r}; there is one for {there}")
    base = reading.read(path, study)
    shared = sorted((path.with_suffix("")).glob("*.json"))
    if not shared:
        return base
    tables = [("", base), *((one.stem, reading.read(one, study)) for one in shared)]
    return merging.merged(tables, base.command, base.date, base.version)[0]


def standing(run: Document, base: Document) -> Standing:
    """Return where the rows of a run stand among those of a baseline, by useful iterations a second.

    Only rows of the same case are compared: the rate depends on the picture and its iteration limit.
    """
    own = run.rows
    others = [row if row.machine else replace(row, machine="baseline") for row in base.rows if is_good(row)]
    dates = {machine: source.date for machine, source in base.origins().items()}
    named = names(Identity.of(row) for row in others) | names(Identity.of(row) for row in own)
    lines: list[list[str]] = []
    sentences: list[str] = []
    unknown: list[str] = []
    for case in dict.fromkeys(row.case for row in own):
        there = [row for row in others if row.case == case]
        here = [row for row in own if row.case == case]
        if not there:
            unknown.append(case)
            continue
        ranked = sorted([*there, *filter(is_good, here)], key=lambda row: -(row.giter_s or 0))
        for k, row in enumerate(ranked):
            mine = any(row is other for other in here)
            lines.append(_line(k + 1, row, run.date if mine else dates.get(row.machine, base.date)))
        sentences += [_sentence(row, ranked, there, named) for row in here]
    if unknown:
        known = list(dict.fromkeys(row.case for row in others))
        sentences.append(
            f"The baseline has {listed(known)}, but not {listed(unknown)}: speeds depend on the size and the limit, so "
            "only the same cases are compared; leave --scale and --cap out."
        )
    return Standing(lines, sentences)


def _line(place: int, row: Row, date: str) -> list[str]:
    rounding = str(row.extra.get("rounding", ""))
    about = [row.machine or "here", row.device, row.platform, row.driver, date[:10], rounding]
    return [row.case, str(place), *about, f"{row.giter_s:.4g}"]


def _sentence(row: Row, ranked: Sequence[Row], others: Sequence[Row], named: dict[Identity, str]) -> str:
    """Return the place of one's own row, and the ratios to the nearest of the baseline above and below."""
    who = f"{row.case}: {named[Identity.of(row)]}"
    if not is_good(row):
        wrong = "its counts are wrong" if row.validation == "WRONG" else "its clock gives no time"
        return f"{who} has no place: {row.error or wrong}."
    place = next(k for k, other in enumerate(ranked) if other is row)
    above = next((other for other in reversed(ranked[:place]) if any(other is one for one in others)), None)
    below = next((other for other in ranked[place + 1 :] if any(other is one for one in others)), None)
    sentence = f"{who} takes place {place + 1} of {len(ranked)} with {row.giter_s:.4g} Giter/s"
    for where, other in (("above", above), ("below", below)):
        if other is not None:
            times = (row.giter_s or 0) / (other.giter_s or 1)
            sentence += f"; {times:.2g} times the speed of {named[Identity.of(other)]}, next {where}"
            rounding = other.extra.get("rounding")
            sentence += f" (in {rounding} rounding)" if rounding != row.extra.get("rounding") else ""
    return f"{sentence}."
