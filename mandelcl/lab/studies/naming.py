"""The device of a row: its name, and what distinguishes it from the other devices of a table."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from mandelcl.lab.studies import cells
from mandelcl.lab.studies.row import Row

_MOST = {"device": 48, "platform": 28, "machine": 24, "spec": 12}


@dataclass(frozen=True, slots=True)
class Identity:
    """A device of a table: its names as a file holds them, and its SPEC without the part of a sub-device."""

    device: str
    platform: str
    spec: str
    machine: str

    @classmethod
    def of(cls, row: Row | Mapping[str, Any]) -> Self:
        """Return the device of a row, or of a row as JSON has it."""
        values = {name: row.get(name, "") if isinstance(row, Mapping) else getattr(row, name) for name in _MOST}
        return cls(**{name: cells.cleaned(str(value), 300) for name, value in values.items()}).whole()

    def whole(self) -> Self:
        """Return the device that a sub-device is a part of."""
        return type(self)(self.device, self.platform, self.spec.partition("/")[0], self.machine)


def names(identities: Iterable[Identity]) -> dict[Identity, str]:
    """Return a short name for each device: device and platform, and more if others have the same."""
    several = list(dict.fromkeys(identities))
    machines = any(identity.machine for identity in several)
    specs: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for identity in several:
        specs[identity.device, identity.platform, identity.machine].add(identity.spec)
    found: dict[Identity, str] = {}
    used: Counter[str] = Counter()
    for identity in several:
        shown = ["device", "platform", *(["machine"] if machines else [])]
        if len(specs[identity.device, identity.platform, identity.machine]) > 1:
            shown.append("spec")
        name = ", ".join(cells.cleaned(getattr(identity, part), _MOST[part]) for part in shown)
        used[name] += 1
        found[identity] = name if used[name] == 1 else f"{name} #{used[name]}"  # alike as far as they are shown
    return found


def labelled(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows as JSON has them, each with the `label` of its device, which no other device of the table has."""
    named = names(Identity.of(row) for row in rows)
    return [{**row, "label": named[Identity.of(row)]} for row in rows]
