"""Every text that mandelcl would build for a device of some kind, from the host's own lists, without the device."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.counts import NARROW, WIDE
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat
from mandelcl.core.planes import CERTIFIED, PLANES
from mandelcl.core.reference import Reference
from mandelcl.engine import narrowing, reach, selftest, source, totalling
from mandelcl.engine.job_text import loop_text
from mandelcl.engine.loop import listed
from mandelcl.engine.methods import METHODS
from mandelcl.engine.shading import Shader
from mandelcl.engine.shading_answers import COLOURINGS
from mandelcl.engine.smoothing import Smoothed
from mandelcl.engine.variant import Variant, class_variant
from mandelcl.film import on_device
from mandelcl.film.on_device import GPU_SHAPE
from mandelcl.formulas import FORMULAS, MANDELBROT, Formula, formula_named
from mandelcl.perturbation import native

USUAL = ("counts", "smooth")
_VIEW = View.centred("-0.75", "0.125", "1.5", 64, 64)
_TURNED = View.centred("-0.75", "0.125", "1.5", 64, 64, rotation=30)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, what of, and what it is to compute: its number, rounding and kind of digits, where it has a number."""

    what: str
    text: str
    number: NumberFormat | None = None
    rounding: str = ""
    double_digits: bool = False
    variant: Variant | None = None

    @property
    def arithmetic(self) -> str:
        """Its number and rounding, or kind of digits, in words."""
        if self.number is None:
            return ""
        if self.number.has_digits:
            return f"{self.number.name} {'double' if self.double_digits else 'integer'}"
        return f"{self.number.name} {self.rounding}"


def every(device: Any, numbers: Iterable[NumberFormat]) -> Iterator[Text]:
    """Yield each text once: loops of all methods and formulas, from all sources of orbits; self-tests; the rest."""
    seen: set[str] = set()
    for text in _all(device, numbers):
        if text.text not in seen:
            seen.add(text.text)
            yield text


def _all(device: Any, numbers: Iterable[NumberFormat]) -> Iterator[Text]:
    for number in numbers:
        if number.needs_fp64 and not device.fp64:
            continue
        for double_digits in (True, False) if number.has_digits and device.fp64 else (False,):
            variant = class_variant(device.device_class, number, double_digits)
            for rounding in number.roundings:
                arithmetic = number, rounding, double_digits, variant
                for what, text in _loops(number, rounding, variant):
                    yield Text(what, text, *arithmetic)
                for name in FORMULAS:
                    formula = formula_named(name)
                    text = selftest.source_text(number, rounding, variant, formula)
                    yield Text(f"self-test, {name}", text, *arithmetic)
    yield Text("gather", listed.source_text())
    yield Text("narrow", narrowing.source_text())
    for counts in (NARROW, WIDE):
        yield Text("totals", totalling.source_text(256, counts))
    yield Text("smooth", Smoothed(device, Job(_VIEW, planes=USUAL)).text())
    yield Text("film", on_device.source_text(GPU_SHAPE))
    for name in native.KERNELS if device.fp64 else ():
        yield Text("orbits in whole numbers", native.source_text(name, 5))
    for planes in (("counts",), ("counts", "smooth")):
        for colouring in COLOURINGS:
            yield Text("shade", Shader(device, Job(_VIEW, planes=planes), colouring).text())


def _loops(number: NumberFormat, rounding: str, variant: Variant) -> Iterator[tuple[str, str]]:
    """Yield what it is and the text of each loop in a number and rounding: the first formula from all sources."""
    for method, facts in METHODS.items():
        shape = variant.by_turns() if facts.by_turns else variant
        for name in FORMULAS:
            formula = formula_named(name)
            sources = source.ORBITS if formula == MANDELBROT else source.ORBITS[:1]
            for job in _jobs(number, rounding, method, formula):
                turned = "" if job.view.lattice.is_upright else ", turned"
                turned += "" if job.planes == USUAL else ", all planes"
                for orbits in sources:
                    if not (orbits == "rectangles" and CERTIFIED.name in job.planes):
                        yield f"{method}, {name}, {orbits}{turned}", loop_text(job, shape, orbits)


def _jobs(number: NumberFormat, rounding: str, method: str, formula: Formula) -> Iterator[Job]:
    """Yield jobs of a kind: with counts and smooth fractions, and with as many planes as they may have.

    There is none where what is asked for clashes.
    """
    for view in (_VIEW, _TURNED):
        with suppress(InvalidInputError):
            reference = Reference.of(view) if method == "perturbation" else None
            plain = Job(view, formula=formula, number=number.name, rounding=rounding, planes=USUAL)
            job = _with_planes(replace(plain, method="auto"), method, reference)
            if reach.beyond(number, job) is None:
                yield job
                with suppress(InvalidInputError):
                    yield replace(plain, method=method, reference=reference)


def _with_planes(job: Job, method: str, reference: Reference | None) -> Job:
    """Return a job by a method with all planes that it may have; raises InvalidInputError where it may have none."""
    for name in PLANES:
        with suppress(InvalidInputError):
            job = replace(job, planes=(*job.planes, name), method=method, reference=reference)
    return replace(job, method=method, reference=reference)
