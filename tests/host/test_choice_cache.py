"""A device is recalled without a full look only while everything that the choice followed from is as it was."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mandelcl.base.errors import DeviceError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.engine import choice_cache, choose
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.resolve import resolve
from mandelcl.files import cache
from mandelcl.formulas import BurningShip
from mandelcl.opencl import preopen
from mandelcl.opencl.icd import Offered
from mandelcl.opencl.runtimes import Runtimes
from mandelcl.opencl.vendors import Vendor

JOB = Job(View.centred("-0.75", 0, 1, 64, 36))
DEEP = Job(View.centred("-0.75", "0.1", "1e15", 64, 36), 100, method="direct")
QUICK, SLOW = "/lib/libquick.so", "libslow.so.1"


def device(spec: str, address: int, fp64: bool, slow_double: bool = False) -> Any:
    handle = SimpleNamespace(int_ptr=address)
    kind = "cpu" if address == 10 else "gpu"
    return SimpleNamespace(spec=spec, handle=handle, fp64=fp64, slow_double=slow_double, type=kind)


def classed(device: Any) -> DeviceClass:
    return DeviceClass(device.fp64, device.slow_double)


@dataclass
class Machine:
    """Two runtimes: one with a quick device, its second, and one with a slow device."""

    root: Path
    looks: int = 0
    opened: list[tuple[str, int, str]] = field(default_factory=list)
    looked: bool = False
    installed: str = "as it was"
    fp64: bool = True  # of the slow device
    slow_double: bool = False
    chosen: int = 2
    read: tuple[str, ...] = ("selftest", "tuning")
    offers: dict[str, list[Offered]] = field(
        default_factory=lambda: {
            SLOW: [Offered(10, ("slow",))],
            QUICK: [Offered(20, ("embedded",)), Offered(21, ("quick",))],
        }
    )

    @property
    def devices(self) -> list[Any]:
        return [device("0:0", 10, self.fp64, self.slow_double), device("1:0", 20, False), device("1:1", 21, False)]

    def fastest(self, job: Job, _devices: Any, _self_test: bool) -> Any:
        """A full look, at the end of which the quick device is chosen."""
        self.looks += 1
        for kind in self.read:
            if cache.read(kind, "a" * 32) is None and kind == "selftest":
                cache.write(kind, "a" * 32, b"passed")
        resolved_job = resolve(job, [classed(each) for each in self.devices]).job
        return SimpleNamespace(device=self.devices[self.chosen], job=resolved_job)

    def open_only(self, library: str, address: int, spec: str) -> Any:
        self.looked = True
        self.opened.append((library, address, spec))
        return device(spec, address, False)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path / "cache")
    vendors = Vendor(Path("/x/a.icd"), SLOW, "system"), Vendor(Path("/x/b.icd"), QUICK, "pip")
    monkeypatch.setenv("MANDELCL_CACHE", str(made.root))
    monkeypatch.setattr(choice_cache, "RUNTIMES", Runtimes("a loader", vendors=vendors, takes_library=True))
    monkeypatch.setattr(choice_cache, "looked", lambda: made.looked)
    monkeypatch.setattr(choice_cache, "open_only", made.open_only)
    monkeypatch.setattr(preopen, "installed", lambda: made.installed)
    monkeypatch.setattr(preopen, "offered", lambda library: made.offers[library])
    monkeypatch.setattr(choose, "select", lambda specs: (made.devices if "all" in specs else [], set()))
    monkeypatch.setattr(choose, "matching", lambda _specs: made.devices)
    monkeypatch.setattr(choose, "fastest", made.fastest)
    return made


def resolved(machine: Machine, job: Job = JOB, specs: Any = (), self_test: bool = True) -> tuple[Any, Job]:
    """What another process is given."""
    machine.looked, machine.looks, machine.opened = False, 0, []
    devices, job = choice_cache.resolved(job, specs, self_test)
    return cast(Any, devices), job


def entry(machine: Machine) -> Path:
    (path,) = (machine.root / "choices").iterdir()
    return path


def test_a_second_process_opens_one_runtime(machine: Machine) -> None:
    devices, first = resolved(machine)
    assert (machine.looks, machine.opened, devices[0].spec) == (1, [], "1:1")
    devices, second = resolved(machine)
    assert (machine.looks, machine.opened, devices[0].spec) == (0, [(QUICK, 21, "1:1")], "1:1")
    assert first == second == replace(JOB, method="direct", number="float", rounding="fused")


def test_library_addresses_may_change(machine: Machine) -> None:
    resolved(machine)
    machine.offers[QUICK] = [replace(offer, address=offer.address + 500) for offer in machine.offers[QUICK]]
    resolved(machine)
    assert machine.opened == [(QUICK, 521, "1:1")]


@pytest.mark.parametrize(
    "job",
    [
        replace(JOB, iterations=50, planes=("counts", "smooth")),
        replace(JOB, view=View.centred("0.1", "0.2", "30", 640, 360)),
        replace(JOB, algorithm="border", strict=True),
    ],
    ids=["cap and planes", "view", "algorithm"],
)
def test_irrelevant_environment_may_differ(machine: Machine, job: Job) -> None:
    resolved(machine)
    _, numbered = resolved(machine, job)
    assert (machine.looks, numbered) == (0, replace(job, method="direct", number="float", rounding="fused"))


@pytest.mark.parametrize(
    ("job", "specs", "self_test"),
    [
        (replace(JOB, number="double"), (), True),
        (replace(JOB, rounding="separate"), (), True),
        (replace(JOB, formula=BurningShip()), (), True),
        (DEEP, (), True),
        (JOB, ("gpu",), True),
        (JOB, "gpu", True),
        (JOB, (), False),
    ],
    ids=["number", "rounding", "formula", "a view for another number", "SPECs", "one SPEC", "no self-test"],
)
def test_another_job_or_devices_scan_all_runtimes(machine: Machine, job: Job, specs: Any, self_test: bool) -> None:
    resolved(machine)
    for looks in (1, 0):
        resolved(machine, job, specs, self_test)
        assert machine.looks == looks


def test_number_follows_all_candidate_devices(machine: Machine) -> None:
    # The quick device alone has no double, with which fixed point would begin with fewer words.
    for looks in (1, 0):
        assert resolved(machine, DEEP)[1].number == "fp128"
        assert machine.looks == looks
    machine.fp64, machine.installed = False, "without the device that has double"
    for looks in (1, 0):
        assert resolved(machine, DEEP)[1].number == "fixed:3"
        assert machine.looks == looks


@pytest.mark.parametrize(("place", "looks"), [(0, 0), (2, 1)], ids=["a processor", "a GPU"])
def test_long_orbits_have_a_processor_open(machine: Machine, place: int, looks: int) -> None:
    """Where a reference may have a return map; without one the same view has the runtime of its device alone."""
    machine.chosen = place
    view = replace(JOB, view=View.centred("-0.75", "0.1", "1e30", 64, 36))
    long = replace(view, iterations=1 << 24)
    for job, expected in ((view, 0), (long, looks)):
        resolved(machine, job)
        resolved(machine, job)
        assert machine.looks == expected


def test_slow_double_is_remembered_with_the_choice(machine: Machine) -> None:
    view = replace(JOB, view=View.centred("-0.75", "0.1", "1e15", 64, 36))
    machine.slow_double = True
    for looks in (1, 0):
        job = resolved(machine, view)[1]
        assert (job.method, job.number) == ("perturbation", "float")
        assert machine.looks == looks
    machine.slow_double, machine.installed = False, "with a device that has fast double"
    for looks in (1, 0):
        assert resolved(machine, view)[1].number == "double"
        assert machine.looks == looks


def _damage(machine: Machine) -> None:
    data = bytearray(entry(machine).read_bytes())
    data[-3] ^= 1
    entry(machine).write_bytes(data)


def _put(change: Callable[[dict[str, Any]], Any]) -> Callable[[Machine], None]:
    """Write an entry with a right checksum and other content."""

    def put(machine: Machine) -> None:
        key = entry(machine).name
        values = json.loads(cache.read("choices", key) or b"")
        cache.write("choices", key, json.dumps(change(values)).encode())

    return put


def _install(machine: Machine) -> None:
    machine.installed = "something else"


def _offer(**offers: list[Offered]) -> Callable[[Machine], None]:
    return lambda machine: machine.offers.update({QUICK: offers["quick"]})


@pytest.mark.parametrize(
    "change",
    [
        _install,
        lambda machine: entry(machine).unlink(),
        _damage,
        _put(lambda _values: []),
        _put(lambda _values: {}),
        _put(lambda values: values | {"more": 1}),
        _put(lambda values: values | {"evidence": [1]}),
        _put(lambda values: values | {"place": 7}),
        _put(lambda values: values | {"place": -1}),
        _put(lambda values: values | {"place": "1"}),
        _put(lambda values: values | {"facts": "others"}),
        _put(lambda values: values | {"library": "/tmp/libelsewhere.so"}),
        _offer(quick=[]),
        _offer(quick=[Offered(21, ("quick",))]),
        _offer(quick=[Offered(20, ("embedded",)), Offered(21, ("quick, with another driver",))]),
        lambda _machine: cache.write("selftest", "a" * 32, b"failed"),
        lambda _machine: cache.remove("selftest", "a" * 32),
        lambda _machine: cache.write("tuning", "a" * 32, b"tuned"),
    ],
)
def test_any_difference_triggers_a_full_scan(machine: Machine, change: Callable[[Machine], None]) -> None:
    resolved(machine)
    change(machine)
    devices, job = resolved(machine)
    assert (machine.looks, machine.opened, devices[0].spec, job.number) == (1, [], "1:1", "float")


def test_device_lost_at_the_end_is_dropped(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved(machine)
    with monkeypatch.context() as patch:
        patch.setattr(choice_cache, "open_only", lambda *given: machine.open_only(*given) and None)
        with pytest.raises(DeviceError, match="1:1 disappeared"):
            resolved(machine)
    resolved(machine)
    assert machine.looks == 1


def test_choice_is_not_cached_before_a_pending_self_test(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "write", lambda *_entry: None)
    resolved(machine)
    monkeypatch.undo()
    assert not (machine.root / "choices").exists()


@pytest.mark.parametrize("setting", ["off", "choices is a file"])
def test_disabled_cache_scans_every_time(machine: Machine, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    if setting == "off":
        monkeypatch.setenv("MANDELCL_CACHE", "off")
    else:
        machine.root.mkdir()
        (machine.root / "choices").write_text("")
    for _ in range(2):
        devices, job = resolved(machine)
        assert (machine.opened, job.number) == ([], "auto" if setting == "off" else "float")
        assert devices == () if setting == "off" else devices[0].spec == "1:1"


def test_explicit_devices_are_left_as_given(machine: Machine) -> None:
    for _ in range(2):
        assert resolved(machine, JOB, ("all",)) == (("all",), JOB)
        assert machine.opened == []
    given = ["0:0", object()]
    assert resolved(machine, JOB, given) == (given, JOB)
    assert not (machine.root / "choices").exists()


def test_process_that_scanned_keeps_its_devices(machine: Machine) -> None:
    resolved(machine)
    machine.looked, machine.looks, machine.opened = True, 0, []
    assert choice_cache.resolved(JOB, (), True) == ((), JOB)
    assert machine.opened == []


def test_invalid_job_is_refused_by_full_device_scan(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: Job, *_arguments: object) -> None:
        resolve(job, [classed(Machine(Path()).devices[0])])

    monkeypatch.setattr(choose, "fastest", refuse)
    with pytest.raises(InvalidInputError, match="no number resolves"):
        resolved(machine, replace(DEEP, rounding="separate"))
