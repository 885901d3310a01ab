"""Jobs in which everything is combined: the same bits from two devices, and those of the oracle.

Formula, number, rounding, method, planes and algorithm decide a kernel, whose build takes longest: cases of one block
share them. Each case has a view, an anchor, an iteration limit, a radius and settings of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np

import mandelcl
from mandelcl.base.errors import DeviceError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palettes import find_palette
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.numbers.fixed import FixedFormat
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.methods import method_of
from mandelcl.formulas import FORMULAS, MANDELBROT, Formula
from mandelcl.opencl.device import Device
from mandelcl.rendering.session import Session
from tests import oracle
from tests.fuzz.devices import every_device
from tests.fuzz.ground import Ground
from tests.fuzz.oracle import require, require_line
from tests.fuzz.places import FARTHEST, Point, anchored, edge, view_at
from tests.oracle import fixed
from tests.oracle.formats import FORMATS

_NUMBERS = (
    "float",
    "float",
    "float",
    "double",
    "double",
    "fp128",
    "fixed:2",
    "fixed:3",
    "fixed:5",
    "fixed:7",
    "fixed:12",
)
_OPERATIONS = ("sqr", "sqr", "mul", "store", "absx", "absy", "negx", "negy", "rot:30", "rot:3/5,4/5", "add", "add")
_PLANES = (
    *(("counts",), ("counts",), ("counts",), ("counts", "smooth"), ("counts", "last"), ("counts", "distance")),
    *(("counts", "stripe-3"), ("counts", "triangle"), ("counts", "smooth", "trap-point"), ("counts", "trap-cross")),
)
_WIDE = 0.15  # of the blocks: counts of 64 bits, too
_REPLAYED = 2  # pixels of a picture by perturbation
_FIXED_PART = 3, 2  # pixels of which the oracle of fixed point counts the orbits


@dataclass(frozen=True)
class Family:
    """What a block of cases has in common: a job whose view and cap are replaced, a point, and two devices.

    With `wide`, pictures that no pixel stays in are computed at a limit that needs counts of 64 bits, too.
    """

    job: Job
    point: Point
    devices: tuple[Device, Device]
    wide: bool


def combinations(ground: Ground) -> None:
    """Check a job: refused by both devices, or the same from both, in parts, too, and what the oracle says."""
    family, random = _family(ground.shared), ground.random
    job = _job(random, family)
    (ground.here / "input.json").write_text(job.to_json(), "utf-8")
    one, other = random.sample(family.devices, 2)
    found = [_rendered(job, device, _settings(random)) for device in (one, other)]
    if isinstance(found[0], str) or isinstance(found[1], str):
        require(not all(found) or found[0] == found[1], f"refused by one device alone: {found}")
        return
    ground.accepted = True
    field, job = found[0], found[0].job
    _require_same(field, found[1], f"{one.label}, {other.label}")
    if random.random() < 0.2:
        _require_parts(random, field, other)
    if random.random() < 0.1:
        _require_samples(ground, job, family)
    if family.wide and field.counts.max() < job.iterations:
        _require_wide(random, field, other)
    if job.method == "perturbation":
        _require_replayed(random, field)
    elif job.algorithm == "escape" or job.strict:
        _require_counts(random, field)


def _rendered(job: Job, device: Device, settings: Settings | None) -> Field | str:
    """Return the field of a job; why no device can, and nothing where this one cannot."""
    try:
        return mandelcl.render(job, _session(device), settings)[0]
    except InvalidInputError as error:
        require_line(f"mandelcl: {error}")
        return str(error)
    except DeviceError as error:
        require("no device can do this job" in str(error), f"{device.label}: {error}")
        return ""


def _require_same(field: Field, other: Field, who: str, planes: Iterable[str] | None = None) -> None:
    for name in field.planes if planes is None else planes:
        values = field.planes[name]
        differing = np.count_nonzero(values.view(np.uint8) != other.planes[name].view(np.uint8))
        require(not differing, f"{who}: {differing} bytes of {name} differ: {field.job.to_json()}")


def _require_parts(random: Random, field: Field, device: Device) -> None:
    """Require that a part of a picture is what a render of that part alone is."""
    view = field.job.view
    x, y = random.randrange(view.width), random.randrange(view.height)
    width, height = random.randrange(view.width - x) + 1, random.randrange(view.height - y) + 1
    if field.job.algorithm != "escape" and not field.job.strict:
        return  # what is filled depends on the rectangles
    part, _ = mandelcl.render(field.job.at(view.part(x, y, width, height)), _session(device))
    for name, values in field.planes.items():
        same = np.array_equal(
            part.planes[name].view(np.uint8), values[y : y + height, x : x + width].copy().view(np.uint8)
        )
        require(same, f"{name} of a part differs: {part.job.to_json()}")


def _require_wide(random: Random, field: Field, device: Device) -> None:
    """Require that a picture without a pixel that stays is the same at a limit whose counts have 64 bits."""
    limit = MOST_NARROW + random.choice((1, 2, random.getrandbits(40)))
    wide, _ = mandelcl.render(replace(field.job, iterations=limit), _session(device))
    require(wide.counts.dtype == np.uint64, f"counts of {wide.counts.dtype} at the limit {limit}")
    same = np.array_equal(wide.counts, field.counts)
    require(same, f"other counts at the limit {limit}: {field.job.to_json()}")
    _require_same(field, wide, f"the limit {limit}", [name for name in field.planes if name != "counts"])


def _require_replayed(random: Random, field: Field) -> None:
    """Require that the host counts some pixels alike, in the arithmetic of the device."""
    job, view = field.job, field.job.view
    for _ in range(_REPLAYED):
        x, y = random.randrange(view.width), random.randrange(view.height)
        count = method_of(job).count(job, x, y, job.iterations)
        right = field.counts[y, x] in (count, job.iterations if count is None else count)
        require(right, f"{field.counts[y, x]} is {count} on the host at {x}, {y}: {job.to_json()}")


def _require_samples(ground: Ground, job: Job, family: Family) -> None:
    """Require that a picture of several samples a pixel has the same bytes from both devices."""
    samples: int | str = ground.random.choice((2, 3, 4, 7, "auto"))
    colouring = Colouring(find_palette("spectrum"), samples=samples)
    outcomes = []
    for device in family.devices:
        try:
            mandelcl.render_to("a.ppm", job, colouring, _session(device))
            outcomes.append((ground.here / "a.ppm").read_bytes())
        except InvalidInputError as error:
            outcomes.append(str(error).encode())
    require(outcomes[0] == outcomes[1], f"pictures of {samples} samples differ: {job.to_json()}")


def _require_counts(random: Random, field: Field) -> None:
    job, counts = field.job, field.counts
    if job.number in FORMATS:
        try:
            expected = oracle.counts(job)
        except ValueError:  # offsets that the number does not hold
            return
    elif random.random() < 0.3 or max(abs(job.view.lattice.re), abs(job.view.lattice.im)) > 8:
        view = job.view
        width, height = min(view.width, _FIXED_PART[0]), min(view.height, _FIXED_PART[1])
        x, y = random.randrange(view.width - width + 1), random.randrange(view.height - height + 1)
        expected = fixed.counts(job.at(view.part(x, y, width, height)))
        counts = counts[y : y + height, x : x + width]
    else:
        return
    differing = np.count_nonzero(counts != expected)
    require(not differing, f"{differing} of {expected.size} counts are not the oracle's: {job.to_json()}")


@cache
def _session(device: Device) -> Session:
    return Session(device)


def _settings(random: Random) -> Settings | None:
    choices: tuple[dict[str, Any], ...] = (
        {"shortcuts": False},
        {"budget": 1e-6},
        {"block_pixels": 7},
        {"guarded": True},
    )
    return Settings(**random.choice(choices)) if random.random() < 0.4 else None


_families: dict[int, Family] = {}


def _family(shared: Random) -> Family:
    """Return the family of a block, from what its cases share; the last one is kept."""
    key = shared.getrandbits(64)
    if key not in _families:
        _families.clear()
        _families[key] = _drawn(shared)
    return _families[key]


def _drawn(random: Random) -> Family:
    while True:
        number = random.choice(_NUMBERS)
        able = [device for device in every_device() if device.fp64 or number != "double"]
        able *= 3 - min(2, len(able))  # one is compared with itself, and with the oracle
        formula = _formula(random)
        values: dict[str, Any] = {"number": number, "planes": random.choice(_PLANES)}
        if number in FORMATS:
            values["rounding"] = random.choice(("fused", "separate", "auto"))
        values["method"] = "direct"
        if formula.perturbable and number in FORMATS and random.random() < 0.4:
            values |= {"method": "perturbation", "rounding": "auto"}
        elif random.random() < 0.3:
            values |= {"algorithm": random.choice(("border", "auto")), "strict": random.random() < 0.5}
        try:
            job = Job(View.centred(0, 0, 1, 4, 4), 10, _radius(random, formula, number), formula, **values)
        except InvalidInputError:
            continue
        devices = random.sample(able, 2)
        point, wide = edge(random, formula, _digits(number, job.method)), random.random() < _WIDE
        return Family(job, point, (devices[0], devices[1]), wide and job.method == "direct")


def _formula(random: Random) -> Formula:
    """Return a formula that has a name, a Julia set, or operations in any order that make a formula."""
    kind = random.random()
    if kind < 0.3:
        return MANDELBROT
    if kind < 0.6:
        return FORMULAS[random.choice([*FORMULAS])]
    if kind < 0.75:
        constant = Fraction(random.uniform(-1.2, 0.5)), Fraction(random.uniform(-0.8, 0.8))
        return FORMULAS[random.choice([*FORMULAS])].julia(*constant)
    while True:
        lines = [
            " ".join(random.choice(_OPERATIONS) for _ in range(random.randrange(1, 7)))
            for _ in range(random.choice((1, 1, 1, 2, 3)))
        ]
        try:
            return Formula.parse(" / ".join(lines))
        except InvalidInputError:
            continue


def _radius(random: Random, formula: Formula, number: str) -> Fraction:
    known = by_name(number)
    least, largest = max(Fraction(4), formula.least_radius_squared()), known.largest_radius_squared
    if largest is not None:
        return random.choice((least, least, known.least_radius_squared(), largest, Fraction(81, 16)))
    return random.choice((least, least, known.least_radius_squared(), Fraction(16), Fraction(10**4), Fraction(16384)))


def _digits(number: str, method: str) -> int:
    """Return to how many digits points are told apart."""
    if method == "perturbation":
        return 40
    known = by_name(number)
    return 9 * (known.words - 1) - 3 if isinstance(known, FixedFormat) else {"float": 6, "double": 14}[number]


def _job(random: Random, family: Family) -> Job:
    job, width, height = family.job, random.choice((1, 3, 7, 16, 21)), random.choice((1, 2, 5, 9))
    digits = _digits(job.number, job.method)
    if random.random() < 0.25:
        re, im, zoom = job.formula.home
        point, scale = (Fraction(re), Fraction(im)), Fraction(zoom) * Fraction(random.uniform(0.3, 3))
    else:
        point, scale = family.point, Fraction(10) ** random.randrange(digits) * Fraction(random.uniform(0.5, 5))
    view = view_at(random, point, scale, width, height)
    if random.random() < 0.4:
        view = anchored(random, view, FARTHEST)
    max_iterations = random.choice((1, 2, 7, 8, 9, 64, 65, 200, random.randrange(1, 600)))
    return replace(job, view=view, iterations=max_iterations)
