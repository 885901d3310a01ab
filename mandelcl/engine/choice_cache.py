"""The cached choice of a device for a job, so that a later process opens one runtime only.

Opening a runtime takes tens of milliseconds and as many megabytes, and whether its devices are the fastest is known
only once it is open. So the choice of a full search is cached with all that it depends on: the installation, what the
choice takes from the job (`_question`), and the cache's entries on the devices that were considered. If any of it
differs, or the device's runtime offers other devices, the search is repeated.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, Self

from mandelcl.base.errors import DeviceError, MandelclError
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import choose
from mandelcl.engine.choose import Choice, DeviceSelection
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.methods import method_of
from mandelcl.engine.resolve import resolve
from mandelcl.files import cache
from mandelcl.opencl import preopen, texts
from mandelcl.opencl.api import RUNTIMES
from mandelcl.opencl.device import Device, looked, open_only
from mandelcl.opencl.icd import Offered

_KIND = "choices"
_EVIDENCE = ("selftest", "tuning")


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A device as `discover` lists it, its index among those of its library, and their properties.

    `method`, `number` and `rounding` are those of the job on all devices that were considered; `evidence` is what the
    cache held on these: kind, key and digest of an entry.
    """

    spec: str
    library: str
    place: int
    facts: str
    method: str
    number: str
    rounding: str
    evidence: tuple[tuple[str, str, str], ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """Return what `to_json` wrote, parsed; raises AttributeError, KeyError, TypeError or ValueError otherwise."""
        evidence = tuple((str(kind), str(key), str(digest)) for kind, key, digest in values.pop("evidence"))
        kept = cls(**values, evidence=evidence)
        if [type(value) for value in astuple(kept)[:-1]] != [str, str, int, str, str, str, str]:
            raise TypeError("a value has the wrong type")
        return kept


def resolved(
    job: Job, devices: DeviceSelection, self_test: bool, sampled: Job | None = None
) -> tuple[DeviceSelection, Job]:
    """Return the devices for a session of this job alone, and the job with its method, number and rounding.

    It is the device that `choose.fastest` takes of those that SPECs name: the remembered one, if nothing speaks against
    it, and else the one that a full look finds. Where several are to share the picture, and where nothing can be
    remembered or the loader has opened all runtimes already, it is what was given. `sampled` is a job that may follow.
    Where it takes another method or number, another device may be the fastest for it, so all runtimes are opened.
    Raises as `choose.select` and `choose.fastest` do.
    """
    requests = [devices] if isinstance(devices, str | Device) else devices
    specs = [request for request in requests if isinstance(request, str)]
    if looked() or len(specs) < len(requests) or not RUNTIMES.takes_library or cache.folder() is None:
        return devices, job
    on_each = _resolved_on_each(job)
    question = _question(job, on_each, specs, self_test)
    key = texts.digest(f"{preopen.installed()}\n{question}") if question else ""
    remembered = _read_cached(key) if key else None
    if remembered is not None and (sampled is None or _suits_both(remembered, on_each, _resolved_on_each(sampled))):
        device = _opened(remembered)
        if device is not None:
            return [device], _like(remembered, job)
        cache.remove(_KIND, key)
        if looked():
            raise DeviceError(f"device {remembered.spec} disappeared just now; try again")
    selected = choose.select(specs)[0]
    if len(selected) > 1:
        return devices, job
    considered = selected or choose.matching(())
    with cache.noting() as notes:
        choice = choose.fastest(job, considered, self_test)
    if key:
        _remember(key, choice, notes)
    return [choice.device], _like(choice.job, job)


def _like(resolved: Job | _Remembered, job: Job) -> Job:
    """Return a job with the method, the number and the rounding of another one."""
    reference = None if resolved.method == "direct" else job.reference
    job = replace(job, method=resolved.method, reference=reference)
    return job.resolved(resolved.number, resolved.rounding)


def fitting(resolved_job: Job, asked: Job) -> Job:
    """Return a job as `resolved` returned it or, where its number does not resolve its iteration limit, as asked for.

    The limit of both was decided after that.
    """
    if resolved_job.method != "direct" or resolved_job.number == asked.number:
        return resolved_job
    fits = by_name(resolved_job.number).unresolved(resolved_job.view, resolved_job.iterations) is None
    return resolved_job if fits else asked


_CLASSES = DeviceClass(), DeviceClass(slow_double=True), DeviceClass(fp64=False)


def _question(job: Job, on_each: Sequence[Job | None], specs: Sequence[str], self_test: bool) -> str:
    """Return all of a job and its options that the choice of a device depends on; nothing for an invalid job.

    Of the view that is which method and number it takes, on devices with double, fast or slow, or without, and whether
    it reaches denormals or may have a return map.
    """
    of_view: list[object] = []
    for of, resolved in zip(_CLASSES, on_each, strict=True):
        if resolved is not None:
            denormals = method_of(resolved).meets_denormals(resolved, by_name(resolved.number))
            maps = _may_have_map(resolved)
            of_view.append([of.fp64, of.slow_double, resolved.method, resolved.number, denormals, maps])
    return json.dumps([specs, self_test, of_view, job.rounding, str(job.formula)]) if of_view else ""


def _may_have_map(resolved: Job) -> bool:
    return resolved.reference is not None and resolved.reference.may_have_map


def _resolved_on_each(job: Job) -> list[Job | None]:
    """Return a job as each class of devices resolves it; None where it cannot."""
    found: list[Job | None] = []
    for of in _CLASSES:
        try:
            found.append(resolve(job, [of]).job)
        except MandelclError:
            found.append(None)
    return found


def _suits_both(remembered: _Remembered, on_each: Sequence[Job | None], others: Sequence[Job | None]) -> bool:
    """Return whether two jobs, as each class resolves them, take the remembered method and number on the same ones."""
    taken = [
        (other.method, other.number) if other is not None else None
        for one, other in zip(on_each, others, strict=True)
        if one is not None and (one.method, one.number) == (remembered.method, remembered.number)
    ]
    return set(taken) == {(remembered.method, remembered.number)}


def _read_cached(key: str) -> _Remembered | None:
    """Return the choice under a key, if all cache entries that it depends on are unchanged."""
    try:
        remembered = _Remembered.from_json(cache.read_json(_KIND, key))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    same = all(cache.digest(cache.read(kind, name)) == digest for kind, name, digest in remembered.evidence)
    return remembered if same else None


def _opened(remembered: _Remembered) -> Device | None:
    """Return the cached device, and open its runtime only; None if the runtime now offers other devices."""
    if remembered.library not in [vendor.library for vendor in RUNTIMES.vendors]:
        return None
    offered = preopen.offered(remembered.library)
    if _facts(offered) != remembered.facts or not 0 <= remembered.place < len(offered):
        return None
    preopen.note(remembered.library, remembered.place)
    return open_only(remembered.library, offered[remembered.place].address, remembered.spec)


def _remember(key: str, choice: Choice, notes: dict[tuple[str, str], str]) -> None:
    """Cache a choice, unless a later search may test a device again, or the device's library is not found.

    Long references are computed on a processor, so its runtime is to be open beside a GPU's.
    """
    if choice.device.type != "cpu" and _may_have_map(choice.job):
        return
    evidence = tuple((kind, name, digest) for (kind, name), digest in notes.items() if kind in _EVIDENCE)
    if any(kind == "selftest" and not digest for kind, _, digest in evidence):
        return
    for vendor in RUNTIMES.vendors:
        offered = preopen.offered(vendor.library) if vendor.library else []
        for place, found in enumerate(offered):
            if found.address == choice.device.handle.int_ptr:
                facts = choice.device.spec, vendor.library, place, _facts(offered)
                job = choice.job
                kept = _Remembered(*facts, job.method, job.number, job.rounding, evidence)
                cache.write(_KIND, key, kept.to_json().encode())
                preopen.note(vendor.library, place)
                return


def _facts(offered: Sequence[Offered]) -> str:
    return texts.digest(json.dumps([device.facts for device in offered]))
